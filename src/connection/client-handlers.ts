// Owns the handlers with which a host, an agent or a gateway client answers server requests, and the capabilities that
// servers are told of.

import type { Emit } from '../kernel/emitter.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { ServerName } from '../model/names.ts';
import type { ElicitationEvent } from './elicitation/events.ts';
import type { ElicitAnswer, ElicitRequest } from './elicitation/request.ts';

/** Servers are told of a capability only if it has a handler. */
export interface ClientHandlers {
  /** Puts a question of a server to a person and returns the answer. */
  readonly elicit?: (request: ElicitRequest) => Promise<ElicitAnswer>;
  /** Takes the params and returns the result of `sampling/createMessage`. The signal aborts when the request is withdrawn. */
  readonly sample?: (
    request: JsonObject & { readonly server: ServerName },
    options: { readonly signal: AbortSignal },
  ) => Promise<JsonObject>;
  /** Returns the folders that a server may work in: the result of `roots/list`. */
  readonly roots?: () => Promise<ReadonlyArray<{ readonly uri: string; readonly name?: string }>>;
}

/** The handlers of one view, and the listeners for its events and errors. */
export interface ViewHandlers extends ClientHandlers {
  readonly emit?: Emit<ElicitationEvent>;
  /** Called with the error that a handler threw, or that says what is wrong with its answer. */
  readonly onError?: (error: unknown) => void;
  /**
   * Answers every request of a server in place of the handlers above, parameters and result as they are: a gateway passes both
   * on. It refuses by throwing an error with a JSON-RPC code.
   */
  readonly relay?: (question: RelayedQuestion, options: { readonly signal: AbortSignal }) => Promise<JsonObject>;
  /** Called when a person has done what a page wanted that this view was asked to show, by the id that its server gave it. */
  readonly onPageDone?: (page: { readonly server: ServerName; readonly elicitationId: string }) => void;
  /** A server asked while calls of other views were in flight as well: the question belonged to none, and was declined. */
  readonly onUnowned?: (server: ServerName) => void;
}

export interface RelayedQuestion {
  readonly server: ServerName;
  readonly method: ServerRequestMethod;
  readonly params: JsonObject;
  /** The name that a modern server gave the question. */
  readonly key?: string;
  /** Of the call that asks, where the server says which one it is. */
  readonly relay?: object;
}

export const serverRequestMethods = ['elicitation/create', 'sampling/createMessage', 'roots/list'] as const;
export type ServerRequestMethod = (typeof serverRequestMethods)[number];

export function isServerRequestMethod(method: unknown): method is ServerRequestMethod {
  return serverRequestMethods.some((each) => each === method);
}

/** Whether elicitations of a server are shown to a person, or declined. */
export type ElicitationPolicy = 'ask' | 'decline';

/** A server whose settings decline elicitations is not told of that capability. */
export function permittedHandlers<Handlers extends ClientHandlers>(
  handlers: Handlers,
  policy: ElicitationPolicy,
): Handlers {
  if (policy === 'ask' || handlers.elicit === undefined) return handlers;
  const { elicit: _, ...rest } = handlers;
  return rest as Handlers;
}

const handlerKinds = ['elicit', 'sample', 'roots'] as const;
const narrowed = new WeakMap<ClientHandlers, Map<string, ClientHandlers>>();

/** Without the handlers of capabilities that the server was not told of. The same object for the same handlers: it names a view. */
export function offeredHandlers<Handlers extends ClientHandlers>(handlers: Handlers, told: ClientHandlers): Handlers {
  if (handlerKinds.every((kind) => handlers[kind] === undefined || told[kind] !== undefined)) return handlers;
  const withheld = handlerKinds.filter((kind) => handlers[kind] !== undefined && told[kind] === undefined);
  const known = narrowed.get(handlers) ?? new Map<string, ClientHandlers>();
  narrowed.set(handlers, known);
  const key = withheld.join(' ');
  const offered = known.get(key) ?? omit(handlers, withheld);
  known.set(key, offered);
  return offered as Handlers;
}

function omit(handlers: ClientHandlers, keys: readonly string[]): ClientHandlers {
  return Object.fromEntries(Object.entries(handlers).filter(([key]) => !keys.includes(key)));
}

/** A server acts on the capabilities it is told of, so each needs a handler. */
export function capabilitiesOf(handlers: ClientHandlers): JsonObject {
  return {
    ...(handlers.elicit && { elicitation: { form: {}, url: {} } }),
    ...(handlers.sample && { sampling: {} }),
    ...(handlers.roots && { roots: {} }),
  };
}

const capabilityNames = ['elicitation', 'roots', 'sampling'];

/** Every set of capabilities that a server can be told of, each as one word. */
export const offers: readonly string[] = Array.from({ length: 2 ** capabilityNames.length }, (_, set) =>
  capabilityNames.filter((_name, at) => (set & (1 << at)) !== 0).join('+'),
);

/** The set of capabilities that these handlers make up: one of `offers`. */
export const offerOf = (handlers: ClientHandlers): string => Object.keys(capabilitiesOf(handlers)).sort().join('+');

export function isAdvertised(method: ServerRequestMethod, handlers: ClientHandlers): boolean {
  const [kind = ''] = method.split('/');
  return capabilitiesOf(handlers)[kind] !== undefined;
}
