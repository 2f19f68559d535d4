// Owns whether a call may be made: what was decided counts, and where that is "ask", a person does.

import { canonicalName } from '../catalog/naming.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Emit } from '../kernel/emitter.ts';
import type { JsonObject } from '../kernel/json.ts';
import { preview } from '../kernel/preview.ts';
import { type ApprovalAdvice, RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { type ServerName, toolKey } from '../model/names.ts';
import type { Tool, ToolDefinition, ToolOutcome } from '../model/tool.ts';

import type { GrantState } from '../trust/tool-grants.ts';
import { type ApprovalAnswer, type ApprovalRequest, type Approve, askFor } from './approval.ts';
import type { CallEvent } from './events.ts';
import type { CallDecision } from './permission.ts';
import { type Perform, type Permit, type Stage, type ToolCall, toolOf } from './pipeline.ts';
import { changed, replaced } from './resolve.ts';

export interface AuthorizeDeps {
  /** Why a server may not be used, by the lists as they are now; a turn may be older than they are. */
  readonly refusal: (server: ServerName) => string | undefined;
  /** What rules, modes and pins say of the call; it may be a host's own system that answers. */
  readonly decide: (call: ToolCall) => CallDecision | Promise<CallDecision>;
  /** The same, once somebody has answered, without asking anybody else again. */
  readonly decideNow: (call: ToolCall) => CallDecision;
  /** Why it asks even where it is allowed: what the agent has read. */
  readonly caution: (call: ToolCall) => string | undefined;
  /** Tells a server from another one that has taken its name: what was granted to one is not granted to the other. */
  readonly identity: (server: ServerName) => string;
  /** What its server says of the tool now; a turn may be older. */
  readonly present: (tool: Tool) => ToolDefinition;
  /** Tells a tool from what it was: what was granted to one form of it is not granted to another. */
  readonly formOf: (tool: Tool) => string;
  /** What a person said for good. */
  readonly grants: LastingGrants;
  /** Aborted when nobody will answer any more. */
  readonly closing?: AbortSignal;
  readonly approve: Approve;
  /** Takes secrets out of what a person is shown. */
  readonly redact: <Value>(value: Value) => Value;
  readonly clock: Clock;
  readonly emit: Emit<CallEvent>;
  readonly onError: (error: unknown) => void;
}

export interface LastingGrants {
  judge(tool: Tool): Promise<GrantState>;
  /** Whether it is kept; some servers cannot be told from others the next time. */
  grant(tool: Tool): Promise<boolean>;
}

/** Runs before any connection is touched: a denied call never wakes a server. */
export function authorize(deps: AuthorizeDeps): Stage {
  return (next) => (call) => {
    const { server } = toolOf(call).id;
    const because = deps.refusal(server);
    if (because !== undefined) throw new RuntimeError('SERVER_DENIED', { server, because });
    const decision = deps.decide(call);
    if (!(decision instanceof Promise)) return passed(deps, call, decision, next);
    return decision.then((decided) => passed(deps, call, decided, next));
  };
}

function passed(deps: AuthorizeDeps, call: ToolCall, decision: CallDecision, next: Perform): Promise<ToolOutcome> {
  const tool = toolOf(call);
  if (decision.verdict === 'deny') throw new RuntimeError('CALL_DENIED', { ...tool.id, because: decision.because });
  const caution = deps.caution(call);
  const isFree = decision.verdict === 'allow' || (call.builtin?.isLocal && !decision.byRule);
  const isAllowed = isFree && caution === undefined;
  // What an unconditional rule allows is allowed in whatever form.
  if (isAllowed && decision.rule && !decision.isPinned && !decision.isAnswered) return next(call);
  const form = deps.formOf(tool);
  if (isAllowed) return next(withPermit(call, { isAllowed: !decision.isAnswered, form }));
  const bound = withPermit(call, { isAllowed: false, form });
  const key = toolKey(tool.id) + deps.identity(tool.id.server) + form;
  const keys = { ...(!isFree && { grant: key }), ...(caution !== undefined && { caution: `caution ${key}` }) };
  const isGranted = !decision.isEveryTime && Object.values(keys).every((key) => call.caller.grants.has(key));
  return isGranted ? next(bound) : ask(deps, { call: bound, decision, caution, keys }, next);
}

const withPermit = (call: ToolCall, permit: Permit): ToolCall => ({ ...call, permit });

/** What would have to be granted for this call to pass without a question. */
interface Keys {
  /** The tool, where nothing allows it. */
  readonly grant?: string;
  /** The tool, although the agent has read what it has. */
  readonly caution?: string;
}

interface Asking {
  readonly call: ToolCall;
  readonly decision: CallDecision;
  readonly caution: string | undefined;
  readonly keys: Keys;
}

async function ask(deps: AuthorizeDeps, asking: Asking, next: Perform): Promise<ToolOutcome> {
  const { call, decision, caution, keys } = asking;
  const { grants, taint } = call.caller;
  const { suspicion } = taint;
  const tool = toolOf(call);
  const identity = deps.identity(tool.id.server);
  const known = keys.grant === undefined || decision.isEveryTime ? UNKNOWN : await lasting(deps, call, tool);
  const isCalm = keys.caution === undefined || grants.has(keys.caution);
  // Not remembered for the session: what is taken back must count in it.
  if (known.kind === 'granted' && isCalm) return next(call);
  const request = requestFor(deps, asking, known);
  const answer = await answered(deps, call, request);
  if (answer === 'no') throw refused(asking, request, known);
  requireStill(deps, call, identity);
  if (answer === 'once' || decision.isEveryTime) return next(call);
  // Only what the question named: another output may have come meanwhile.
  if (caution !== undefined) taint.calm(suspicion);
  // That the agent has read something is of this session alone, and so is what was said about it.
  if (keys.caution !== undefined) grants.add(keys.caution);
  const isKept = answer === 'always' && keys.grant !== undefined && (await keptForGood(deps, tool));
  if (keys.grant !== undefined && !isKept) grants.add(keys.grant);
  return next(call);
}

/** Says what would help, which depends on why it asked: often another rule is of no use. */
function refused({ call, decision, caution }: Asking, request: ToolRequest, known: GrantState): RuntimeError {
  const { name, because, changes } = request;
  const { id } = toolOf(call);
  const advice = adviceFor(decision, caution, known);
  return new RuntimeError('APPROVAL_REFUSED', { ...id, name, because, advice, ...(changes && { changes }) });
}

function adviceFor(decision: CallDecision, caution: string | undefined, known: GrantState): ApprovalAdvice {
  if (decision.verdict === 'ask' && decision.changes) return 'review-lock';
  if (caution !== undefined) return 'answer';
  if (known.kind === 'changed') return 'approve-again';
  if (decision.rule) return 'change-rule';
  return decision.byRule ? 'change-cause' : 'add-rule';
}

/** What cannot be written down counts for the session at least. */
async function keptForGood({ grants, onError }: AuthorizeDeps, tool: Tool): Promise<boolean> {
  try {
    return await grants.grant(tool);
  } catch (error) {
    onError(error);
    return false;
  }
}

const UNKNOWN: GrantState = { kind: 'unknown' };

/** A disk that cannot be read has granted nothing. */
function lasting({ grants, onError }: AuthorizeDeps, { cancellation }: ToolCall, tool: Tool): Promise<GrantState> {
  const known = grants.judge(tool).catch((error: unknown) => {
    onError(error);
    return UNKNOWN;
  });
  return cancellation.race(known);
}

type ToolRequest = Extract<ApprovalRequest, { kind: 'tool' }>;

function requestFor(deps: AuthorizeDeps, { call, decision, caution }: Asking, known: GrantState): ToolRequest {
  const tool = toolOf(call);
  const { id, label } = tool;
  const changes = known.kind === 'changed' ? known.changes : decision.changes;
  const reasons = [
    ...(decision.verdict === 'ask' ? [decision.because] : []),
    ...(known.kind === 'changed' ? ['it has changed since it was approved'] : []),
    ...(caution ? [caution] : []),
  ];
  return {
    kind: 'tool',
    tool: id,
    // Whatever style a model reads: in an answer or a rule the name must say whose tool it is.
    name: canonicalName(id),
    source: label,
    arguments: deps.redact(preview(call.arguments, limits.approvalPreview)) as JsonObject,
    annotations: deps.present(tool).annotations ?? {},
    because: reasons.join('; '),
    byRule: decision.byRule || caution !== undefined || changes !== undefined,
    ...(decision.isEveryTime && { isEveryTime: true }),
    ...(changes && { changes }),
  };
}

async function answered(deps: AuthorizeDeps, call: ToolCall, request: ToolRequest): Promise<ApprovalAnswer> {
  const { callId, cancellation, caller } = call;
  const { tool, because, changes } = request;
  deps.emit({ type: 'approval.requested', callId, tool, because, ...(changes && { changes }) });
  let answer: ApprovalAnswer = 'no';
  const unsubscribe = deps.closing && cancellation.follow(deps.closing);
  try {
    const { clock, onError } = deps;
    answer = await askFor(request, { approve: caller.approve ?? deps.approve, clock, cancellation, onError });
  } finally {
    unsubscribe?.();
    deps.emit({ type: 'approval.settled', callId, tool, answer });
  }
  return answer;
}

/** The rules may have changed while somebody thought about it, and so may the server and the tool. */
function requireStill(deps: AuthorizeDeps, call: ToolCall, identity: string): void {
  const tool = toolOf(call);
  const now = deps.decideNow(call);
  if (now.verdict === 'deny') throw new RuntimeError('CALL_DENIED', { ...tool.id, because: now.because });
  const isSource = call.builtin !== undefined || tool.source === identity;
  if (!isSource || deps.identity(tool.id.server) !== identity) throw replaced(tool);
  if (deps.formOf(tool) !== call.permit?.form) throw changed(tool);
}
