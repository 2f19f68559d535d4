// Owns what a host, an agent or a gateway client can answer to a server, and what of it the server is told.

import type { Emit } from '../kernel/emitter.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { ServerName } from '../model/names.ts';
import type { ElicitationEvent } from './elicitation/events.ts';
import type { ElicitAnswer, ElicitRequest } from './elicitation/request.ts';

/** Only what has a handler is advertised to servers. */
export interface ClientHandlers {
  readonly elicit?: (request: ElicitRequest) => Promise<ElicitAnswer>;
  /** Takes and gives what the protocol defines for `sampling/createMessage`; the signal says that nobody waits any more. */
  readonly sample?: (
    request: JsonObject & { readonly server: ServerName },
    options: { readonly signal: AbortSignal },
  ) => Promise<JsonObject>;
  readonly roots?: () => Promise<ReadonlyArray<{ readonly uri: string; readonly name?: string }>>;
}

/** Who answers for one view, and who hears of it. */
export interface ViewHandlers extends ClientHandlers {
  readonly emit?: Emit<ElicitationEvent>;
  /** Told what a handler threw, or answered instead of an answer. */
  readonly onError?: (error: unknown) => void;
}

export const serverRequestMethods = ['elicitation/create', 'sampling/createMessage', 'roots/list'] as const;
export type ServerRequestMethod = (typeof serverRequestMethods)[number];

export function isServerRequestMethod(method: unknown): method is ServerRequestMethod {
  return serverRequestMethods.some((known) => known === method);
}

/** What becomes of a server's questions to a person. */
export type ElicitationPolicy = 'ask' | 'decline';

/** Where the person has said no beforehand, the server is not told that it may ask. */
export function permittedHandlers<Given extends ClientHandlers>(handlers: Given, policy: ElicitationPolicy): Given {
  if (policy === 'ask' || handlers.elicit === undefined) return handlers;
  const { elicit: _, ...rest } = handlers;
  return rest as Given;
}

/** A capability without a handler behind it would be a lie the server acts on. */
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
