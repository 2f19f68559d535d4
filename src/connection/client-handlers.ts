// Owns the handlers with which a host, an agent or a gateway client answers server requests, and the capabilities that
// servers are told of.

import type { Emit } from '../kernel/emitter.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { ServerName } from '../model/names.ts';
import type { ElicitationEvent } from './elicitation/events.ts';
import type { ElicitAnswer, ElicitRequest } from './elicitation/request.ts';

/** Servers are told of a capability only if it has a handler. */
export interface ClientHandlers {
  readonly elicit?: (request: ElicitRequest) => Promise<ElicitAnswer>;
  /** Takes the params and returns the result of `sampling/createMessage`. The signal aborts when the request is withdrawn. */
  readonly sample?: (
    request: JsonObject & { readonly server: ServerName },
    options: { readonly signal: AbortSignal },
  ) => Promise<JsonObject>;
  readonly roots?: () => Promise<ReadonlyArray<{ readonly uri: string; readonly name?: string }>>;
}

/** The handlers of one view, and the listeners for its events and errors. */
export interface ViewHandlers extends ClientHandlers {
  readonly emit?: Emit<ElicitationEvent>;
  /** Called with the error that a handler threw, or that says what is wrong with its answer. */
  readonly onError?: (error: unknown) => void;
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

/** A server acts on the capabilities it is told of, so each needs a handler. */
export function capabilitiesOf(handlers: ClientHandlers): JsonObject {
  return {
    ...(handlers.elicit && { elicitation: { form: {}, url: {} } }),
    ...(handlers.sample && { sampling: {} }),
    ...(handlers.roots && { roots: {} }),
  };
}

export function isAdvertised(method: ServerRequestMethod, handlers: ClientHandlers): boolean {
  const [kind = ''] = method.split('/');
  return capabilitiesOf(handlers)[kind] !== undefined;
}
