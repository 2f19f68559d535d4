// Owns the methods that the protocol itself defines and that no service answers, as each era has them: pings, the log level, what the
// server offers, and subscriptions.

import { isObject, type JsonObject } from '../kernel/json.ts';
import type { ClientSubscriptions } from './client-subscriptions.ts';
import { legacySessionOf } from './legacy-session.ts';
import type { ClientRequest } from './message.ts';
import { invalidParams, invalidRequest, methodNotFound, modernVersions, type ProtocolEra } from './protocol.ts';
import { isLogLevel, type RunningCall } from './running-call.ts';
import type { Peer, Service } from './service.ts';

export interface ProtocolMethodDeps {
  readonly service: Service;
  readonly subscriptions: ClientSubscriptions;
}

export interface ProtocolRequest {
  readonly request: ClientRequest;
  readonly peer: Peer;
  /** For a request that stays open: from then on the client can cancel it. */
  readonly begin: () => RunningCall;
}

export type ProtocolMethod = (request: ProtocolRequest, deps: ProtocolMethodDeps) => JsonObject | Promise<JsonObject>;

const legacyMethods: Readonly<Record<string, ProtocolMethod>> = {
  initialize: () => {
    throw invalidRequest('Invalid request: the session is initialized already');
  },
  ping: () => ({}),
  'logging/setLevel': ({ request, peer }, { service }) => {
    const { level } = request.params;
    if (!isLogLevel(level)) throw invalidParams('level must be one of the log levels');
    legacySessionOf(peer).level = level;
    service.onLogLevel?.(level, peer);
    return {};
  },
  'resources/subscribe': async ({ request, peer }, { service, subscriptions }) => {
    const uri = uriOf(request.params);
    await assertSubscribable(service, request.method, peer);
    await subscriptions.subscribe(legacySessionOf(peer), uri);
    return {};
  },
  'resources/unsubscribe': async ({ request, peer }, { service, subscriptions }) => {
    const uri = uriOf(request.params);
    await assertSubscribable(service, request.method, peer);
    await subscriptions.unsubscribe(legacySessionOf(peer), uri);
    return {};
  },
};

function uriOf({ uri }: JsonObject): string {
  if (typeof uri !== 'string' || uri === '') throw invalidParams('uri must be a string');
  return uri;
}

async function assertSubscribable(service: Service, method: string, peer: Peer): Promise<void> {
  const { resources } = (await service.offer(peer)).capabilities;
  if (!isObject(resources) || resources['subscribe'] !== true) throw methodNotFound(method);
}

/** A service must not answer them either. */
const removed: ProtocolMethod = ({ request }) => {
  throw methodNotFound(request.method);
};

const modernMethods: Readonly<Record<string, ProtocolMethod>> = {
  'server/discover': async ({ peer }, { service }) => {
    const { capabilities, instructions } = await service.offer(peer);
    return { supportedVersions: modernVersions, capabilities, ...(instructions !== undefined && { instructions }) };
  },
  'subscriptions/listen': ({ begin }, { subscriptions }) => subscriptions.listen(begin()),
  initialize: removed,
  ping: removed,
  'logging/setLevel': removed,
  'resources/subscribe': removed,
  'resources/unsubscribe': removed,
};

export const protocolMethods: Readonly<Record<ProtocolEra, ReadonlyMap<string, ProtocolMethod>>> = {
  legacy: new Map(Object.entries(legacyMethods)),
  modern: new Map(Object.entries(modernMethods)),
};
