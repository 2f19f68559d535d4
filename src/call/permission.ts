// Owns what is decided about a call before anybody is asked: by the rules and modes in effect, those of the view, a host's own
// permission system, and the pins of the tool's definition.

import { canonicalName } from '../catalog/naming.ts';
import type { Clock } from '../kernel/clock.ts';
import { createDeferred } from '../kernel/deferred.ts';
import { isObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { RuleText } from '../model/rule.ts';
import type { Tool, ToolDefinition } from '../model/tool.ts';
import { type Decision, narrow } from '../policy/decision.ts';
import { answeredBy, type GateAnswer, type GatedCall, type PermissionGate } from '../policy/gate.ts';
import type { Judge } from '../policy/judge.ts';
import { type ToolCall, toolOf } from './pipeline.ts';

export interface Pinned {
  readonly isPinned: boolean;
  /** What is different now. */
  readonly changes?: readonly string[] | undefined;
}

const UNPINNED: Pinned = { isPinned: false };

export interface CallDecision extends Decision {
  /** A host's own system has allowed what would have asked. */
  readonly isAnswered?: boolean;
  /** The tool was reviewed: its form counts. */
  readonly isPinned?: boolean;
  /** The tool is not what was pinned: what is different now. */
  readonly changes?: readonly string[];
}

export interface PermissionDeps {
  /** By the rules and modes in effect. */
  readonly decide: (call: GatedCall) => Decision;
  /** By a view's own rules. */
  readonly judgeOf: (rules: readonly RuleText[]) => Judge;
  /** What its server says of the tool now; a turn may be older. */
  readonly present: (tool: Tool) => ToolDefinition;
  /** Whether what the tool says of itself counts. */
  readonly trustsAnnotations: (tool: Tool) => boolean;
  /** Whether nobody knows the server but the repository that names it: what is allowed to its name was not meant for it. */
  readonly isUnapprovedWorkspaceServer: (server: ServerName) => boolean;
  /** How the tool differs from what was pinned, and whether it is at all. Throws where no difference is borne. */
  readonly pinOf: (tool: Tool) => Pinned;
  /** The host's own permission system. */
  readonly gate?: PermissionGate | undefined;
  /** Aborted when nobody will answer any more. */
  readonly closing?: AbortSignal | undefined;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

export function permit(deps: PermissionDeps): (call: ToolCall) => CallDecision | Promise<CallDecision> {
  return (call) => {
    const tool = toolOf(call);
    const pinned = call.builtin ? UNPINNED : deps.pinOf(tool);
    const gated = gatedCall(deps, call, tool);
    const decision = decided(deps, call, gated);
    if (deps.gate === undefined || decision.verdict === 'deny') return drifted(decision, pinned);
    return asked(deps, deps.gate, call, gated).then((host) => {
      const answered = distrust(deps, answeredBy(decision, host), tool.id.server);
      return { ...drifted(answered, pinned), isAnswered: decision.verdict !== 'allow' };
    });
  };
}

/** The same without asking anybody, a host's own system included: for a call that had to wait. */
export function decideNow(deps: PermissionDeps, call: ToolCall): CallDecision {
  const tool = toolOf(call);
  const pinned = call.builtin ? UNPINNED : deps.pinOf(tool);
  return drifted(decided(deps, call, gatedCall(deps, call, tool)), pinned);
}

function gatedCall({ trustsAnnotations, present }: PermissionDeps, call: ToolCall, tool: Tool): GatedCall {
  const { id } = tool;
  return {
    tool: id,
    name: canonicalName(id),
    arguments: call.arguments,
    annotations: present(tool).annotations ?? {},
    trustsAnnotations: trustsAnnotations(tool),
  };
}

function decided(deps: PermissionDeps, { caller, arguments: args }: ToolCall, gated: GatedCall): Decision {
  const { tool: id, name } = gated;
  const { permissions = [] } = caller;
  const narrowed = permissions.reduce(
    (outer, rules) => narrow(outer, deps.judgeOf(rules).judge(id, name, args)),
    deps.decide(gated),
  );
  return distrust(deps, narrowed, id.server);
}

/** Whoever allowed it, by its name, cannot have meant a server that nobody knows. */
function distrust({ isUnapprovedWorkspaceServer }: PermissionDeps, decision: Decision, server: ServerName): Decision {
  if (decision.verdict !== 'allow' || !isUnapprovedWorkspaceServer(server)) return decision;
  return {
    verdict: 'ask',
    because: `${decision.because} is not meant for a server that nobody approved`,
    byRule: true,
  };
}

/** What somebody reviewed is not what is there now: their word does not count for it. */
function drifted(decision: Decision, { isPinned, changes }: Pinned): CallDecision {
  if (!isPinned || decision.verdict === 'deny') return decision;
  if (changes === undefined) return { ...decision, isPinned };
  const because = 'its definition is not the one in plexus.lock';
  return {
    ...decision,
    verdict: 'ask',
    because: decision.verdict === 'ask' ? `${decision.because}; ${because}` : because,
    byRule: true,
    ...{ isPinned, changes },
  };
}

/** Never hangs: a system that fails or says nothing has allowed nothing. */
async function asked(
  { clock, onError, closing }: PermissionDeps,
  gate: PermissionGate,
  { cancellation }: ToolCall,
  gated: GatedCall,
): Promise<GateAnswer> {
  const silence = createDeferred<GateAnswer>();
  const cancelTimer = clock.after(limits.approvalMs, () => silence.resolve(unanswered));
  const unsubscribe = closing && cancellation.follow(closing);
  const answered = Promise.resolve()
    .then(() => gate.decide(gated))
    .then((decision) => (isObject(decision) ? decision : unanswered))
    .catch((error: unknown) => {
      onError(error);
      return unanswered;
    });
  try {
    return await cancellation.race(Promise.race([answered, silence.promise]));
  } finally {
    unsubscribe?.();
    cancelTimer();
  }
}

const unanswered: Decision = { verdict: 'ask', because: "the host's own permissions gave no answer", byRule: true };
