// Owns fake sessions with resources and prompts, and a harness that connects them to the catalog and the subscriptions.

import type { CatalogEvent } from '../../../../src/catalog/events.ts';
import { createPrompts } from '../../../../src/catalog/resources/prompts.ts';
import { ResourceCatalog } from '../../../../src/catalog/resources/resource-catalog.ts';
import { createResources } from '../../../../src/catalog/resources/resources.ts';
import type { Reach } from '../../../../src/catalog/resources/retried-request.ts';
import type { RequestOutcome, Session } from '../../../../src/connection/session.ts';
import { Subscriptions } from '../../../../src/connection/subscriptions.ts';
import type { JsonObject } from '../../../../src/kernel/json.ts';
import { RuntimeError } from '../../../../src/model/errors.ts';
import type { ServerSettings } from '../../../../src/model/server.ts';
import { createFakeClock } from '../../../../src/testing/fake-clock.ts';
import { createFakeSession, definitionOf, type FakeSession } from '../../session.ts';

export type Answers = Readonly<
  Record<string, (params: JsonObject) => RequestOutcome | JsonObject | Promise<RequestOutcome | JsonObject>>
>;

export const refuse = (code: number, message: string): RequestOutcome => ({ kind: 'error', code, message });

const isAnswer = (given: RequestOutcome | JsonObject): given is RequestOutcome => typeof given['kind'] === 'string';

/** A session that declares resources, prompts and completions; a method without an answer gets "Method not found". */
export function createResourceSession(answers: Answers, change: Partial<Session> = {}): FakeSession {
  return createFakeSession({
    capabilities: {
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
      completions: {},
    },
    async request(method, params = {}, { cancellation } = {}) {
      if (cancellation?.cancelled) throw cancellation.reason;
      const answer = answers[method];
      if (answer === undefined) return refuse(-32601, 'Method not found');
      const given = Promise.resolve(answer(params));
      const settled = await (cancellation ? cancellation.race(given) : given);
      return isAnswer(settled) ? settled : { kind: 'result', result: settled };
    },
    ...change,
  });
}

export const resource = (uri: string, more: JsonObject = {}) => ({ uri, name: uri.toUpperCase(), ...more });
export const listOf =
  (...uris: readonly string[]): Answers[string] =>
  () => ({ resources: uris.map((uri) => resource(uri)) });
export const promptsOf =
  (...prompts: readonly JsonObject[]): Answers[string] =>
  () => ({ prompts });

export function createHarness() {
  const clock = createFakeClock();
  const events: CatalogEvent[] = [];
  const errors: unknown[] = [];
  const up = new Map<string, FakeSession>();
  const asleep = new Map<string, FakeSession>();
  const emit = (event: CatalogEvent) => void events.push(event);
  const resourceCatalog = new ResourceCatalog({ clock, emit });
  const subscriptions = new Subscriptions({
    clock,
    onUpdated: (server, uri) => emit({ type: 'resource.updated', server, uri }),
    onError: (error) => errors.push(error),
  });
  const settings = new Map<string, Partial<ServerSettings>>();
  const connect = async (server: string, session: FakeSession) => {
    up.set(server, session);
    const definition = definitionOf(server, settings.get(server));
    session.onNotification((method, params) => {
      resourceCatalog.onNotification(definition, session, method);
      subscriptions.onNotification(server, session, method, params);
    });
    subscriptions.onReady(server, session);
    await resourceCatalog.onReady(definition, session);
  };
  const reach: Reach = {
    open: (server) => up.get(server),
    async whenReady(server) {
      const session = asleep.get(server);
      if (session === undefined) throw new RuntimeError('SERVER_UNKNOWN', { server, nearest: [] });
      void connect(server, session);
      return session;
    },
    whenReplaced: async (server, lost) => {
      const next = asleep.get(server);
      if (next === undefined || next === lost) throw new RuntimeError('CONNECTION_LOST', { server, reason: 'gone' });
      return next;
    },
    callLimits: () => ({ totalMs: 60_000 }),
    maxMessageBytes: () => 1_000,
  };
  const deps = { resourceCatalog, reach, subscriptions, handlers: {}, clock, emit };
  return {
    clock,
    events,
    errors,
    resourceCatalog,
    subscriptions,
    reach,
    connect,
    settings,
    resources: createResources(deps),
    prompts: createPrompts(deps),
    /** Configures a server that connects only when it is needed. */
    sleep: (server: string, session: FakeSession) => void asleep.set(server, session),
    drop(server: string) {
      const session = up.get(server);
      up.delete(server);
      resourceCatalog.onDown(server);
      if (session) subscriptions.onSessionEnded(server, session);
    },
    remove(server: string) {
      up.delete(server);
      resourceCatalog.onRemoved(server);
      subscriptions.onRemoved(server);
    },
    stop() {
      resourceCatalog.close();
      subscriptions.close();
    },
  };
}

export const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'answered',
    (error: unknown) => (error as { code?: unknown }).code ?? error,
  );
