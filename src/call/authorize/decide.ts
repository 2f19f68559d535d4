// Owns the one decision about a call before a person is asked: by the rules and approval modes in effect, the rules of the view,
// the host's own permission system, and what `plexus.lock` pins. Asking a person is `authorize.ts`.

import { canonicalName } from '../../catalog/naming.ts';
import type { Clock } from '../../kernel/clock.ts';
import { createDeferred } from '../../kernel/deferred.ts';
import { isObject } from '../../kernel/json.ts';
import { limits } from '../../model/limits.ts';
import type { QualifiedName, ToolId } from '../../model/names.ts';
import type { RuleText } from '../../model/rule.ts';
import type { ApprovalMode } from '../../model/server.ts';
import type { Tool, ToolAnnotations, ToolDefinition } from '../../model/tool.ts';
import { readsOnly, strictest } from '../../policy/approval-mode.ts';
import { type Decision, tightenDecision } from '../../policy/decision.ts';
import { answeredBy, createRuleGate, type GateAnswer, type GatedCall, type PermissionGate } from '../../policy/gate.ts';
import type { ServerRegistry } from '../../servers/registry.ts';
import { type LockedTools, type Pinned, UNPINNED } from '../../trust/locked-tools.ts';
import { type ToolCall, toolOf } from '../pipeline.ts';

export interface CallDecision extends Decision {
  /** The host's own permission system allowed a call that the rules would have asked about. */
  readonly isAnswered?: boolean;
  /** The lock pins the tool: the call is bound to its current definition. */
  readonly isPinned?: boolean;
  /** How the tool differs from its pin. */
  readonly changes?: readonly string[];
}

export interface DeciderDeps {
  readonly registry: ServerRegistry;
  /** Throws where the lock is frozen and the tool differs from it. */
  readonly lock: Pick<LockedTools, 'pinOf'>;
  /** The definition that the server lists for the tool now; the tool of a turn may be older. */
  readonly currentDefinition: (tool: Tool) => ToolDefinition;
  /** The host's own permission system. */
  readonly gate?: PermissionGate | undefined;
  /** Aborted when the runtime closes: nobody will answer any more. */
  readonly closing?: AbortSignal | undefined;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

export interface Decider {
  /** Asks the host's permission system too, where there is one; only then the answer is a promise. */
  decide(call: ToolCall): CallDecision | Promise<CallDecision>;
  /** Decides again without asking anybody, for a call that had to wait. */
  decideNow(call: ToolCall): CallDecision;
}

export function createDecider(deps: DeciderDeps): Decider {
  const { registry, lock, currentDefinition, gate: hostGate } = deps;
  const ruleGate = createRuleGate({ judge: () => registry.rules.judge, modeOf: (id) => approvalModeOf(registry, id) });
  const pinOf = (call: ToolCall, tool: Tool) =>
    call.builtin ? UNPINNED : lock.pinOf(tool.id, currentDefinition(tool));
  const names = new WeakMap<Tool, QualifiedName>();
  const nameOf = (tool: Tool): QualifiedName => {
    const known = names.get(tool);
    if (known !== undefined) return known;
    const name = canonicalName(tool.id);
    names.set(tool, name);
    return name;
  };
  const gatedCall = (call: ToolCall, tool: Tool): GatedCall => ({
    tool: tool.id,
    name: nameOf(tool),
    arguments: call.arguments,
    annotations: currentDefinition(tool).annotations ?? NO_ANNOTATIONS,
    trustsAnnotations: registry.trustsAnnotations(tool),
  });
  const byRules = (call: ToolCall, gated: GatedCall): Decision => {
    const { caller, arguments: args } = call;
    const { permissions: viewRules = NO_RULES, answering, isReadOnly } = caller;
    if (isReadOnly?.() === true && !isKnownToRead(gated, call)) return READ_ONLY;
    let decision = ruleGate.decide(gated);
    for (const texts of viewRules) {
      const inner = registry.rules.judgeOf(texts).judge(gated.tool, gated.name, args);
      decision = tightenDecision(decision, inner, texts === answering);
    }
    return distrust(registry, decision, call);
  };
  return {
    decide(call) {
      const tool = toolOf(call);
      const pinned = pinOf(call, tool);
      const gated = gatedCall(call, tool);
      const decision = byRules(call, gated);
      if (hostGate === undefined || decision.verdict === 'deny') return withPin(decision, pinned);
      return askHost(deps, hostGate, call, gated).then((answer) => {
        const answered = distrust(registry, answeredBy(decision, answer), call);
        return { ...withPin(answered, pinned), isAnswered: decision.verdict !== 'allow' };
      });
    },
    decideNow(call) {
      const tool = toolOf(call);
      const pinned = pinOf(call, tool);
      return withPin(byRules(call, gatedCall(call, tool)), pinned);
    },
  };
}

/** The hints of the runtime's own tools are its own word. */
function isKnownToRead({ annotations, trustsAnnotations }: GatedCall, { builtin }: ToolCall): boolean {
  if (builtin?.isLocal) return true;
  return (trustsAnnotations || builtin !== undefined) && readsOnly(annotations);
}

const READ_ONLY: Decision = {
  verdict: 'deny',
  because:
    'the agent may only read here, and the tool is not known to only read, which takes its hint, "trustHints" in the entry of its server, and a connected server',
  byRule: true,
};

const NO_ANNOTATIONS: ToolAnnotations = Object.freeze({});
const NO_RULES: readonly (readonly RuleText[])[] = [];

/** The stricter of the server's mode and the tool's own. */
export function approvalModeOf(registry: ServerRegistry, id: ToolId): ApprovalMode {
  return strictest(registry.settings(id.server)?.approval, registry.toolSettings(id).approval);
}

/**
 * A rule that allows a server by its name was not written for a workspace's server that nobody approved. Where rules could not
 * be read, nothing but an answer to this very call lets it pass; only the runtime's own tools that reach no server are as ever.
 */
function distrust(registry: ServerRegistry, decision: Decision, call: ToolCall): Decision {
  if (decision.verdict === 'deny') return decision;
  const unread = call.builtin?.isLocal ? undefined : registry.whyEverythingAsks();
  if (unread !== undefined) return { verdict: 'ask', because: unread, byRule: true, isEveryTime: true };
  if (decision.verdict !== 'allow' || !registry.isUnapprovedWorkspaceServer(toolOf(call).id.server)) return decision;
  return {
    verdict: 'ask',
    because: `${decision.because} is not meant for a server that nobody approved`,
    byRule: true,
  };
}

/** A tool that differs from its pin is asked about, whatever the rules allow: they were written for the pinned definition. */
function withPin(decision: Decision, { isPinned, changes }: Pinned): CallDecision {
  if (!isPinned || decision.verdict === 'deny') return decision;
  if (changes === undefined) return { ...decision, isPinned };
  const because = 'its definition is not the one in plexus.lock';
  return {
    ...decision,
    verdict: 'ask',
    because: decision.verdict === 'ask' ? `${decision.because}; ${because}` : because,
    byRule: true,
    isPinned,
    changes,
  };
}

/** Never hangs: a permission system that throws or does not answer has allowed nothing. */
async function askHost(
  { clock, onError, closing }: DeciderDeps,
  gate: PermissionGate,
  { cancellation }: ToolCall,
  gated: GatedCall,
): Promise<GateAnswer> {
  const silence = createDeferred<GateAnswer>();
  const cancelTimer = clock.after(limits.approvalMs, () => silence.resolve(UNANSWERED));
  const unsubscribe = closing && cancellation.follow(closing);
  const answered = Promise.resolve()
    .then(() => gate.decide(gated))
    .then((decision) => (isObject(decision) ? decision : UNANSWERED))
    .catch((error: unknown) => {
      onError(error);
      return UNANSWERED;
    });
  try {
    return await cancellation.race(Promise.race([answered, silence.promise]));
  } finally {
    unsubscribe?.();
    cancelTimer();
  }
}

const UNANSWERED: Decision = { verdict: 'ask', because: "the host's own permissions gave no answer", byRule: true };
