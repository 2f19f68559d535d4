// Owns whether a call may be made: the rules decide, and where they say "ask", a person does.

import { canonicalName } from '../catalog/naming.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Emit } from '../kernel/emitter.ts';
import { RuntimeError } from '../model/errors.ts';
import { type ServerName, type ToolId, toolKey } from '../model/names.ts';
import type { Tool, ToolOutcome } from '../model/tool.ts';
import { type Decision, decide } from '../policy/decide.ts';
import type { Rule } from '../policy/rule.ts';
import { type ApprovalAnswer, type Approve, askFor } from './approval.ts';
import type { CallEvent } from './events.ts';
import { type Perform, type Stage, type ToolCall, toolOf } from './pipeline.ts';
import { replaced } from './resolve.ts';

export interface AuthorizeParts {
  /** Why a server may not be used, by the lists as they are now; a turn may be older than they are. */
  readonly refusal: (server: ServerName) => string | undefined;
  /** Whether nobody knows the server but the repository that names it: what is allowed to its name was not meant for it. */
  readonly isStranger: (server: ServerName) => boolean;
  /** Tells a server from another one that has taken its name: what was granted to one is not granted to the other. */
  readonly identity: (server: ServerName) => string;
  /** Aborted when nobody will answer any more. */
  readonly closing?: AbortSignal;
  readonly rules: () => readonly Rule[];
  readonly approve: Approve;
  readonly clock: Clock;
  readonly emit: Emit<CallEvent>;
  readonly onError: (error: unknown) => void;
}

/** Runs before any connection is touched: a denied call never wakes a server. */
export function authorize(parts: AuthorizeParts): Stage {
  const decisionFor = rememberDecisions(parts.rules);
  return (next) => (call) => {
    const tool = toolOf(call);
    const because = parts.refusal(tool.id.server);
    if (because !== undefined) throw new RuntimeError('SERVER_DENIED', { server: tool.id.server, because });
    const decision = distrust(decisionFor(tool), parts.isStranger(tool.id.server));
    if (decision.verdict === 'allow' || (call.builtin?.isLocal && !decision.byRule)) return next(call);
    if (decision.verdict === 'deny') throw new RuntimeError('CALL_DENIED', { ...tool.id, because: decision.because });
    return call.caller.grants.has(grantOf(parts, tool.id)) ? next(call) : ask(parts, call, decision, next);
  };
}

const grantOf = ({ identity }: AuthorizeParts, id: ToolId) => toolKey(id) + identity(id.server);

function distrust(decision: Decision, isStranger: boolean): Decision {
  if (!isStranger || decision.verdict !== 'allow') return decision;
  return {
    verdict: 'ask',
    because: `${decision.because} is not meant for a server that nobody approved`,
    byRule: true,
  };
}

async function ask(
  parts: AuthorizeParts,
  call: ToolCall,
  { because, byRule }: Decision,
  next: Perform,
): Promise<ToolOutcome> {
  const { id, definition } = toolOf(call);
  // Whatever style a model reads: in an answer or a rule the name must say whose tool it is.
  const name = canonicalName(id);
  const { callId } = call;
  parts.emit({ type: 'approval.requested', callId, tool: id, because });
  let answer: ApprovalAnswer = 'no';
  const letGo = parts.closing && call.cancellation.follow(parts.closing);
  try {
    answer = await askFor(
      {
        kind: 'tool',
        tool: id,
        name,
        arguments: call.arguments,
        annotations: definition.annotations ?? {},
        because,
        byRule,
      },
      { approve: parts.approve, clock: parts.clock, cancellation: call.cancellation, onError: parts.onError },
    );
  } finally {
    letGo?.();
    parts.emit({ type: 'approval.settled', callId, tool: id, answer });
  }
  if (answer === 'no') throw new RuntimeError('APPROVAL_REFUSED', { ...id, name, because });
  const now = decide(parts.rules(), id, name);
  // The rules may have changed while somebody thought about it, and so may the server.
  if (now.verdict === 'deny') throw new RuntimeError('CALL_DENIED', { ...id, because: now.because });
  const tool = toolOf(call);
  if (!call.builtin && parts.identity(id.server) !== tool.source) throw replaced(tool);
  if (answer !== 'once') call.caller.grants.add(grantOf(parts, id));
  return next(call);
}

/** Tools and rules are frozen values: the same pair always gives the same decision. */
function rememberDecisions(rules: () => readonly Rule[]): (tool: Tool) => Decision {
  let known = new WeakMap<Tool, Decision>();
  let from: readonly Rule[] | undefined;
  return (tool) => {
    const current = rules();
    if (current !== from) {
      from = current;
      known = new WeakMap();
    }
    const remembered = known.get(tool);
    if (remembered) return remembered;
    const decision = decide(current, tool.id, canonicalName(tool.id));
    known.set(tool, decision);
    return decision;
  };
}
