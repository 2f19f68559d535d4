// Owns the contract between the serving side and the program behind it: a `Service` answers requests, a `ServedCall` is one of
// them, a `Peer` is the client that sent it. Agent, gateway and a host's own tools are services.

import type { JsonObject } from '../kernel/json.ts';
import type { LogLevel, MessageId } from '../model/server.ts';
import type { ProtocolEra } from './protocol.ts';

/** The name of a program, as the protocol has it: `name` and `version`, and what else it wants to show. */
export interface Implementation {
  readonly name: string;
  readonly version: string;
  readonly [key: string]: unknown;
}

/** The person or program that a request comes from, as its token says. */
export interface Principal {
  /** Sessions and suspended calls belong to it: an equal id is the same principal. */
  readonly id: string;
  /** Kept for the service; the serving side does not read it. */
  readonly details?: unknown;
}

/** A client: for a session's life in the legacy era, for one request in the modern era. */
export interface Peer {
  readonly era: ProtocolEra;
  readonly protocolVersion: string;
  readonly principal: Principal;
  /** As the client introduced itself. */
  readonly client: JsonObject | undefined;
  /** The capabilities that the client declared. */
  readonly capabilities: JsonObject;
  /** Only in the legacy era. */
  readonly session: ServedSession | undefined;
}

/** A legacy client's session: over HTTP from `initialize` to DELETE, over stdio as long as the pipe. */
export interface ServedSession {
  readonly id: string;
  /** The least severe log message that the client wants; without one it gets none outside of its calls. */
  readonly level: LogLevel | undefined;
  /** Sends a notification that belongs to no call. */
  notify(method: string, params: JsonObject): void;
  /** Asks the client outside of a call; see `ServedCall.ask`. */
  ask(method: QuestionMethod, params: JsonObject, options?: { readonly signal?: AbortSignal }): Promise<JsonObject>;
}

export type QuestionMethod = 'elicitation/create' | 'sampling/createMessage' | 'roots/list';

export interface ProgressReport {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** One request of a client. */
export interface ServedCall {
  readonly id: MessageId;
  readonly method: string;
  readonly params: JsonObject;
  /** `params._meta`, empty if there is none. */
  readonly meta: JsonObject;
  readonly peer: Peer;
  /** Aborts when the client cancels, closes the stream of a modern call, ends its session, or leaves a question unanswered. */
  readonly signal: AbortSignal;
  /** Calls back once, when the signal would abort: for a hot path, since a signal costs a microsecond. One listener at a time. */
  onCancel(listener: (reason: unknown) => void): void;
  /** Tells the client how far the call is; without a progress token in the request nothing is sent. */
  progress(report: ProgressReport): void;
  /** Sends a log message if the client asked for messages of this level. */
  log(level: LogLevel, data: unknown, logger?: string): void;
  /** Sends any other notification on the stream of this call. */
  notify(method: string, params: JsonObject): void;
  /**
   * Asks the client, in the same way in both eras: resolves with its answer, checked. `key` names the question in a modern
   * `input_required` result; questions asked at the same time are sent together. Throws a `ProtocolError` when the client has
   * not declared the capability or its answer is an error, and the signal's reason when the call is cancelled meanwhile.
   */
  ask(method: QuestionMethod, params: JsonObject, options?: { readonly key?: string }): Promise<JsonObject>;
  /** Ends the HTTP stream of a legacy call before its answer: the client fetches the rest when it comes back. */
  closeStream(): void;
}

export type ServedMethod = (call: ServedCall) => JsonObject | Promise<JsonObject>;

/** The offer of a server to one client. */
export interface Offer {
  readonly capabilities: JsonObject;
  readonly instructions?: string;
}

export interface Service {
  readonly info: Implementation;
  /** Replaces `info` for one client, where different programs serve different clients. */
  infoOf?(peer: Peer): Implementation;
  /** Asked at `initialize`, `server/discover` and every request about subscriptions. */
  offer(peer: Peer): Offer | Promise<Offer>;
  /**
   * By the name of the request, such as `tools/call`. The serving side itself answers `initialize`, `ping`, `server/discover`,
   * `logging/setLevel`, `resources/subscribe`, `resources/unsubscribe` and `subscriptions/listen`.
   */
  readonly methods: { readonly [method: string]: ServedMethod };
  /** The input schema of a tool, to compare the headers of a modern call with its arguments. */
  inputSchema?(tool: string, peer: Peer): JsonObject | undefined | Promise<JsonObject | undefined>;
  /**
   * True if the service makes and reads `requestState` itself: then its `input_required` results and the client's
   * `inputResponses` and `requestState` pass untouched. A function says so of one state; any other is left to the serving side.
   */
  readonly keepsRequestState?: boolean | ((requestState: unknown) => boolean);
  /** A notification of a client that the serving side does not handle, such as `notifications/roots/list_changed`. */
  onNotification?(method: string, params: JsonObject, peer: Peer): void;
  /** A client wants, or no longer wants, the updates of a resource. Every subscription is told once, and its end too. */
  onSubscribed?(uri: string, peer: Peer): void | Promise<void>;
  onUnsubscribed?(uri: string, peer: Peer): void;
  /** A legacy client said which log messages it wants. */
  onLogLevel?(level: LogLevel, peer: Peer): void;
  onSessionOpened?(peer: Peer): void;
  onSessionClosed?(peer: Peer): void;
  /** The last of the pipes on which a principal came has ended. */
  onGone?(principal: Principal): void;
}
