// Owns the shape of a call's journey: what travels, what a stage is, and how stages become one function.

import type { ClientHandlers, ViewHandlers } from '../connection/client-handlers.ts';
import type { RelayedRequest } from '../connection/requests.ts';
import type { Progress, RequestOutcome } from '../connection/session.ts';
import type { Cancellation } from '../kernel/cancellation.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { BuiltinAnswer } from '../model/builtin.ts';
import { RuntimeError } from '../model/errors.ts';
import type { QualifiedName } from '../model/names.ts';
import type { RuleText } from '../model/rule.ts';
import type { OutcomeMeta, Tool, ToolOutcome } from '../model/tool.ts';
import type { SessionProvider } from '../servers/sessions.ts';
import type { ApprovalAnswer, ApprovalRequest, Approve, QuestionOptions } from '../trust/approval.ts';
import type { CallId } from './events.ts';
import type { Taint } from './taint.ts';

/**
 * One call on its way through the stages; `turn.ts` makes it. It stays one object: copying it at every stage cost more than the
 * stages do. Only the fields that a stage owns can be written, each by the stage that its comment names.
 */
export interface ToolCall {
  readonly callId: CallId;
  readonly name: QualifiedName;
  /** The tool that the name stands for in this turn's catalog. `resolve` refuses a call without one. */
  readonly tool: Tool | undefined;
  /** As the caller gave them; behind `validate`, a checked copy. */
  arguments: JsonObject;
  /** The tools that the caller may know of. */
  readonly visibleTools: VisibleTools;
  readonly cancellation: Cancellation;
  /** The host's own fields for the request's `_meta`; behind `validate`, a checked copy. */
  meta?: JsonObject | undefined;
  /** The caller's own listener; progress reaches it through the observer. */
  readonly onProgress: (progress: Progress) => void;
  /** Set by `observe`. */
  observer?: CallObserver | undefined;
  /** Set by `deadline`, where the call has a limit or may ask a person. */
  timer?: CallTimer | undefined;
  /** How long the tool may take this time; 0 for as long as it likes. */
  readonly timeoutMs?: number | undefined;
  /** Asked about this call instead of the caller's own; that of a sub-agent's call beside it. */
  readonly approve?: Approve | undefined;
  readonly caller: Caller;
  /** Set by `authorize`: how the call was permitted, for the recheck after a wait. Absent: a rule allows the tool, whatever its definition is. */
  permit?: Permit | undefined;
  /** Present where the tool is a builtin: it is performed here instead of by a server. */
  readonly builtin?: BuiltinCall | undefined;
  /** Present where a gateway hands on the call of one of its clients. */
  readonly relay?: Relay | undefined;
}

/** A call that a gateway hands on: how its client is asked and told, and how much of the answer it gets. */
export interface Relay extends RelayedRequest {
  /** Those of the client that calls. */
  readonly handlers: ViewHandlers;
  /** Arguments and result pass as they are: the client's model reads them, and the server checks them. */
  readonly isRaw: boolean;
  /** The client has its own approval: where no rule matches, the call counts as a person's order. */
  readonly isOwnOrder: boolean;
  /** Asked in place of the caller's own, where the call itself brings none. */
  approve?(request: ApprovalRequest, options: QuestionOptions): Promise<ApprovalAnswer>;
  /** Told how the call is cancelled, before it begins: in place of a signal, which costs more than the rest of the call. */
  begin(cancellation: Cancellation): void;
  /** Called with every progress, however often it comes. */
  onProgress(progress: Progress): void;
  /** The call is about to be sent to its server. */
  onSent(): void;
}

/** Told what becomes of a call while it runs. */
export interface CallObserver {
  onProgress(progress: Progress): void;
  /** The call is about to be sent to its server: from now on it may take effect. */
  onSent(): void;
  /** A call that the server refused with 429 waits to be sent again. */
  onRateLimited(waitMs: number): void;
}

/** The time limits of a call while it runs. */
export interface CallTimer {
  /** How much time is left until a limit ends the call. */
  leftMs(): number;
  /** The server shows that it works on the call, with or without progress. */
  onSign(): void;
  /** The server asks the client something, or that is answered: the limits do not run meanwhile. */
  onWaiting(isWaiting: boolean): void;
}

export interface VisibleTools {
  readonly tools: readonly Tool[];
  /** The caller sees all tools, so it may be told why one is missing. */
  readonly isWhole: boolean;
  /** Whether the caller was shown `mcp_search`. */
  readonly canSearch?: () => boolean;
}

export interface BuiltinCall {
  /** It touches no server. */
  readonly isLocal: boolean;
  /** The builtin needs no approval where no rule matches it, as every local one. */
  readonly isFreeByDefault: boolean;
  readonly perform: (args: JsonObject, cancellation: Cancellation) => Promise<BuiltinAnswer>;
}

export interface Permit {
  /** True: it passed without a question and must still be allowed. False: a person or the host agreed, and nothing may deny it since. */
  readonly isAllowed: boolean;
  /** The definition that was decided on: the call waits for the server's current list. It must be the same where a person or the host agreed; otherwise the call is judged again. */
  readonly toolHash?: string;
  /** The identity of the server while the question was open. */
  readonly server?: string;
}

/** The view that calls, made by `view.ts`: its grants of this session, its rules, and its handlers for server requests during its calls. */
export interface Caller {
  /** Keys of granted tools: each for one definition of one server. */
  readonly grants: Set<string>;
  readonly taint: Taint;
  /** Rules that narrow what the runtime allows; one list for each view between the runtime and this one. */
  readonly permissions?: readonly (readonly RuleText[])[];
  /** Those of the rules that the host gave to a view itself: only their allows answer a question. */
  readonly answering?: readonly RuleText[] | undefined;
  /** Asked before each call: while it says true, only tools that are known to only read may be called. */
  readonly isReadOnly?: (() => boolean) | undefined;
  /** Its model can look at images. */
  readonly hasVision?: boolean;
  /** Asked instead of the runtime's own `approve`. */
  readonly approve?: Approve;
  /** A sub-agent: nobody that it brings along can allow what its agent's `approve` refuses. */
  readonly isChild?: boolean;
  readonly handlers: ClientHandlers;
  /** The sessions of a view with private connections. */
  readonly sessions?: SessionProvider;
}

export type Perform = (call: ToolCall) => Promise<OutcomeDraft>;

/** The outcome on its way back: like the call one object, which `shape` and `observe` complete. The caller gets it as a `ToolOutcome`. */
export type OutcomeDraft = Writable<Omit<ToolOutcome, 'meta'>> & {
  readonly meta: Writable<OutcomeMeta>;
  /** The server's answer itself, for a gateway that passes it on. */
  readonly answer?: RequestOutcome;
};

type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

/** The stages of a runtime's calls, put together. */
export interface CallPath {
  readonly perform: Perform;
  /** Whether the call would be put to a person now. */
  readonly wouldAsk: (call: ToolCall) => Promise<boolean>;
  readonly counts: { readonly calls: number; readonly failedCalls: number };
}

/** The one extension point on the call path. A stage without work of its own passes the next one's promise through. */
export type Stage = (next: Perform) => Perform;

/** The first stage is the outermost. */
export function compose(stages: readonly Stage[], innermost: Perform): Perform {
  return stages.reduceRight((next, stage) => stage(next), innermost);
}

/**
 * What the next stage gives, as a promise also where it throws. A stage that acts on the way back goes on with `then`: an async
 * function takes three times the memory, and every call in flight has one for each stage.
 */
export function attempt(next: Perform, call: ToolCall): Promise<OutcomeDraft> {
  try {
    return next(call);
  } catch (error) {
    return Promise.reject(error);
  }
}

/** For the stages behind `resolve`. */
export function toolOf(call: ToolCall): Tool {
  if (call.tool === undefined) throw new RuntimeError('INTERNAL', { problem: `"${call.name}" was not resolved` });
  return call.tool;
}
