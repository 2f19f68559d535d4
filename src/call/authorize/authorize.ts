// Owns the stage at which a call is allowed, asked about or refused: takes the decision of `decide.ts`, and where that is "ask",
// asks the person. Runs before any connection is touched: a denied call never wakes a server.

import { canonicalName } from '../../catalog/naming.ts';
import type { Emit } from '../../kernel/emitter.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { preview } from '../../kernel/preview.ts';
import { type ApprovalAdvice, RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { toolKey } from '../../model/names.ts';
import type { Tool } from '../../model/tool.ts';
import { type ApprovalAnswer, type ApprovalRequest, type Approve, approveBoth, askFor } from '../../trust/approval.ts';
import type { GrantState, ToolGrants } from '../../trust/tool-grants.ts';
import { toolHash } from '../../trust/tool-pin.ts';
import type { CallEvent } from '../events.ts';
import { type OutcomeDraft, type Perform, type Permit, type Stage, type ToolCall, toolOf } from '../pipeline.ts';
import { taintReason } from '../track-taint.ts';
import type { CallDecision, Decider, DeciderDeps } from './decide.ts';
import type { Recheck } from './recheck.ts';

export interface AuthorizeDeps
  extends Pick<DeciderDeps, 'registry' | 'currentDefinition' | 'closing' | 'clock' | 'onError'> {
  readonly decider: Decider;
  readonly recheck: Pick<Recheck, 'recheckPermission'>;
  /** Which tools a person approved for good. */
  readonly grants: Pick<ToolGrants, 'judge' | 'grant'>;
  readonly approve: Approve;
  /** Takes secrets out of the arguments that a person is shown. */
  readonly redact: <Value>(value: Value) => Value;
  readonly emit: Emit<CallEvent>;
}

export function authorize(deps: AuthorizeDeps): Stage {
  return (next) => (call) => {
    const { server } = toolOf(call).id;
    const because = deps.registry.whyNotCalled(server);
    if (because !== undefined) throw new RuntimeError('SERVER_DENIED', { server, because });
    const decision = deps.decider.decide(call);
    if (!(decision instanceof Promise)) return carryOut(deps, call, decision, next);
    return decision.then((decided) => carryOut(deps, call, decided, next));
  };
}

function carryOut(deps: AuthorizeDeps, call: ToolCall, decision: CallDecision, next: Perform): Promise<OutcomeDraft> {
  const tool = toolOf(call);
  if (decision.verdict === 'deny') throw new RuntimeError('CALL_DENIED', { ...tool.id, because: decision.because });
  const { question, permit } = judged(deps, call, decision);
  call.permit = permit;
  return question ? ask(deps, question, next) : next(call);
}

/** Whether a call would be put to a person now; no for one that is denied. Asks the host's own permission system, and no person. */
export async function wouldAsk(deps: Omit<AuthorizeDeps, 'emit'>, call: ToolCall): Promise<boolean> {
  const tool = toolOf(call);
  if (deps.registry.whyNotCalled(tool.id.server) !== undefined) return false;
  const decision = await decided(deps, call);
  if (decision === undefined || decision.verdict === 'deny') return false;
  const { question } = judged(deps, call, decision);
  if (question === undefined) return false;
  return !(await passesByGrant(deps, question)).isPassed;
}

/** `undefined` where the call is refused before anything is decided, such as by a lock that is frozen. */
async function decided({ decider }: Pick<AuthorizeDeps, 'decider'>, call: ToolCall): Promise<CallDecision | undefined> {
  try {
    return await decider.decide(call);
  } catch (error) {
    if (error instanceof RuntimeError) return undefined;
    throw error;
  }
}

interface JudgedCall {
  /** Binds the call to what was decided about. */
  readonly permit?: Permit;
  /** Absent where the call passes without one. */
  readonly question?: Question;
}

/** A rule allows the tool whatever its definition is: nothing to bind the call to, and nothing to ask. */
const UNBOUND: JudgedCall = {};

function judged(deps: Omit<AuthorizeDeps, 'emit'>, call: ToolCall, decision: CallDecision): JudgedCall {
  const tool = toolOf(call);
  const tainted = taintReason(call, deps);
  const isFree = decision.verdict === 'allow' || (call.builtin?.isFreeByDefault && !decision.byRule);
  const isAllowed = isFree && tainted === undefined;
  if (isAllowed && decision.rule && !decision.isPinned && !decision.isAnswered) return UNBOUND;
  const hash = toolHash(deps.currentDefinition(tool));
  if (isAllowed) return { permit: { isAllowed: !decision.isAnswered, toolHash: hash } };
  const server = deps.registry.identity(tool.id.server);
  const permit = { isAllowed: false, toolHash: hash, server };
  const key = toolKey(tool.id) + server + hash;
  const keys = { ...(!isFree && { grant: key }), ...(tainted !== undefined && { taint: `taint ${key}` }) };
  const isGranted = !decision.isEveryTime && Object.values(keys).every((each) => call.caller.grants.has(each));
  const order = isOwnOrder(deps, call, decision) && tainted === undefined ? `order ${key}` : undefined;
  if (isGranted || (order !== undefined && call.caller.grants.has(order))) return { permit };
  return { permit, question: { call, decision, tainted, keys, order } };
}

/** A gateway's client that asks its own user: where no rule matches, only a tool that states itself destructive is asked about. */
function isOwnOrder(
  { currentDefinition }: Omit<AuthorizeDeps, 'emit'>,
  call: ToolCall,
  decision: CallDecision,
): boolean {
  if (!call.relay?.isOwnOrder || decision.byRule || decision.changes || decision.isEveryTime) return false;
  return currentDefinition(toolOf(call)).annotations?.destructiveHint !== true;
}

/** What must be granted in this session for the call to pass without a question. */
interface GrantKeys {
  /** The tool, where nothing allows it. */
  readonly grant?: string;
  /** The tool, although the agent has read untrusted output. */
  readonly taint?: string;
}

interface Question {
  readonly call: ToolCall;
  readonly decision: CallDecision;
  /** Why the call is asked about although a rule may allow it: what the agent has read. */
  readonly tainted: string | undefined;
  readonly keys: GrantKeys;
  /** The client's own approval counts, unless a stored one was given for another definition; noted under this key. */
  readonly order: string | undefined;
}

async function ask(deps: AuthorizeDeps, question: Question, next: Perform): Promise<OutcomeDraft> {
  const { call } = question;
  const { grants } = call.caller;
  const { isPassed, granted } = await passesByGrant(deps, question);
  if (question.order !== undefined && granted.kind !== 'changed') grants.add(question.order);
  else if (!isPassed) return askAbout(deps, question, granted, next);
  return next(call);
}

async function askAbout(
  deps: AuthorizeDeps,
  question: Question,
  granted: GrantState,
  next: Perform,
): Promise<OutcomeDraft> {
  const { call, decision, tainted, keys } = question;
  const { grants, taint } = call.caller;
  const { flaggedOutput } = taint;
  const tool = toolOf(call);
  const request = requestFor(deps, question, granted);
  const answer = await askPerson(deps, call, request);
  if (answer === 'no') throw refused(question, request, granted);
  deps.recheck.recheckPermission(call);
  if (answer === 'once' || decision.isEveryTime) return next(call);
  // Acknowledge only the output that the question named: another may have come meanwhile.
  if (tainted !== undefined) taint.acknowledge(flaggedOutput);
  // What the agent has read concerns this session alone, and so does the answer about it.
  if (keys.taint !== undefined) grants.add(keys.taint);
  const isStored = answer === 'always' && keys.grant !== undefined && (await storeGrant(deps, tool));
  if (keys.grant !== undefined && !isStored) grants.add(keys.grant);
  return next(call);
}

/** A stored grant is not copied into the session, so that revoking it counts at once. */
async function passesByGrant(
  deps: Omit<AuthorizeDeps, 'emit'>,
  { call, decision, keys }: Question,
): Promise<{ readonly isPassed: boolean; readonly granted: GrantState }> {
  const isStoredAtAll = keys.grant !== undefined && !decision.isEveryTime;
  const granted = isStoredAtAll ? await storedGrant(deps, call, toolOf(call)) : UNKNOWN;
  const isAcknowledged = keys.taint === undefined || call.caller.grants.has(keys.taint);
  return { isPassed: granted.kind === 'granted' && isAcknowledged, granted };
}

/** The advice depends on why the call was asked about: often another rule would not help. */
function refused({ call, decision, tainted }: Question, request: ToolRequest, granted: GrantState): RuntimeError {
  const { name, because, changes } = request;
  const { id } = toolOf(call);
  const advice = adviceFor(decision, tainted, granted);
  const isUnstored = decision.isEveryTime === true || tainted !== undefined;
  const facts = { ...(isUnstored && { isUnstored }), ...(changes && { changes }) };
  return new RuntimeError('APPROVAL_REFUSED', { ...id, name, because, advice, ...facts });
}

function adviceFor(decision: CallDecision, tainted: string | undefined, granted: GrantState): ApprovalAdvice {
  if (decision.verdict === 'ask' && decision.changes) return 'review-lock';
  if (tainted !== undefined) return 'answer';
  if (granted.kind === 'changed') return 'approve-again';
  if (decision.rule) return 'change-rule';
  return decision.byRule ? 'change-cause' : 'add-rule';
}

/** A grant that cannot be stored counts for the session at least. In-process servers are known by name only, which another host may use too: nothing is stored for them. */
async function storeGrant(
  { registry, grants, currentDefinition, onError }: AuthorizeDeps,
  tool: Tool,
): Promise<boolean> {
  const server = registry.definition(tool.id.server);
  if (server === undefined || server.launch.kind === 'in-process') return false;
  try {
    await grants.grant(server, currentDefinition(tool));
    return true;
  } catch (error) {
    onError(error);
    return false;
  }
}

const UNKNOWN: GrantState = { kind: 'unknown' };

/** A store that cannot be read has granted nothing. */
function storedGrant(
  { registry, grants, currentDefinition, onError }: Omit<AuthorizeDeps, 'emit'>,
  { cancellation }: ToolCall,
  tool: Tool,
): Promise<GrantState> {
  const server = registry.definition(tool.id.server);
  if (server === undefined) return Promise.resolve(UNKNOWN);
  const granted = grants.judge(server, currentDefinition(tool)).catch((error: unknown) => {
    onError(error);
    return UNKNOWN;
  });
  return cancellation.race(granted);
}

type ToolRequest = Extract<ApprovalRequest, { kind: 'tool' }>;

function requestFor(deps: AuthorizeDeps, { call, decision, tainted }: Question, granted: GrantState): ToolRequest {
  const tool = toolOf(call);
  const { id, label } = tool;
  const changes = granted.kind === 'changed' ? granted.changes : decision.changes;
  const reasons = [
    ...(decision.verdict === 'ask' ? [decision.because] : []),
    ...(granted.kind === 'changed' ? ['it has changed since it was approved'] : []),
    ...(tainted ? [tainted] : []),
  ];
  return {
    kind: 'tool',
    callId: call.callId,
    tool: id,
    // The canonical name, whatever style the model reads: an answer or a rule must say whose tool it is.
    name: canonicalName(id),
    source: label,
    arguments: deps.redact(preview(call.arguments, limits.approvalPreview)) as JsonObject,
    annotations: deps.currentDefinition(tool).annotations ?? {},
    because: reasons.join('; '),
    byRule: decision.byRule || tainted !== undefined || changes !== undefined,
    ...(decision.isEveryTime && { isEveryTime: true }),
    ...(changes && { changes }),
  };
}

function approveFor({ approve, caller, relay }: ToolCall, standing: Approve): Approve {
  if (approve === undefined)
    return relay?.approve ? async (request, options) => relay.approve?.(request, options) ?? 'no' : standing;
  return caller.isChild ? approveBoth(standing, approve) : approve;
}

async function askPerson(deps: AuthorizeDeps, call: ToolCall, request: ToolRequest): Promise<ApprovalAnswer> {
  const { callId, cancellation, caller } = call;
  const { tool, because, changes } = request;
  deps.emit({ type: 'approval.requested', callId, tool, because, ...(changes && { changes }) });
  let answer: ApprovalAnswer = 'no';
  const unsubscribe = deps.closing && cancellation.follow(deps.closing);
  try {
    const { clock, onError } = deps;
    answer = await askFor(request, {
      approve: approveFor(call, caller.approve ?? deps.approve),
      clock,
      cancellation,
      onError,
    });
  } finally {
    unsubscribe?.();
    deps.emit({ type: 'approval.settled', callId, tool, answer });
  }
  return answer;
}
