// Owns the proof that the service is told of each subscription once, of its end after its beginning, and of nothing for a client that
// has left; and which of the protocol's own methods each era has.

import { describe, expect, test } from 'vitest';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { Changes } from '../../../src/serving/changes.ts';
import { ClientSubscriptions } from '../../../src/serving/client-subscriptions.ts';
import { LegacySession } from '../../../src/serving/legacy-session.ts';
import { protocolMethods } from '../../../src/serving/protocol-methods.ts';
import { RunningCall } from '../../../src/serving/running-call.ts';
import type { Peer } from '../../../src/serving/service.ts';
import { withDefaults } from '../../../src/serving/serving-limits.ts';
import { ServingRoom } from '../../../src/serving/serving-room.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { echoService } from './served.ts';

const principal = { id: 'me' };

const peer: Peer = {
  ...{ era: 'modern', protocolVersion: '2026-07-28', principal, client: undefined, session: undefined },
  capabilities: {},
};

/** `agreeTo` is asked before the service agrees to a subscription. */
function subscribed(agreeTo: (uri: string) => Promise<void> | void = () => undefined) {
  const told: string[] = [];
  const service = echoService({
    async onSubscribed(uri) {
      told.push(`begin ${uri}`);
      await agreeTo(uri);
    },
    onUnsubscribed: (uri) => void told.push(`end ${uri}`),
  });
  const room = new ServingRoom(withDefaults());
  const changes = new Changes();
  const subscriptions = new ClientSubscriptions({ service, room, changes });
  return { told, service, room, changes, subscriptions };
}

function listening(uris: readonly string[]) {
  const heard: JsonObject[] = [];
  const params = { notifications: { resourceSubscriptions: uris } };
  const call = new RunningCall(
    { kind: 'request', id: 1, method: 'subscriptions/listen', params },
    {
      peer,
      reply: { notify: (message) => void heard.push(message), ask: () => false, closeStream: () => undefined },
      ask: () => expect.fail('nobody asks'),
    },
  );
  return { call, heard };
}

const legacySession = () =>
  new LegacySession({
    ...{ id: 's', principal, protocolVersion: '2025-11-25', introduction: {}, clock: createFakeClock() },
    ...{ questionMs: 1, send: () => undefined },
  });

describe('a stream of subscriptions', () => {
  test('begins each once, and ends each with the server', async () => {
    const { told, room, changes, subscriptions } = subscribed();
    const { call, heard } = listening(['note://1', 'note://2', 'note://1']);
    const over = subscriptions.listen(call);
    await new Promise((resolve) => setImmediate(resolve));
    expect(room.subscriptions).toBe(1);
    changes.resourceUpdated('note://2');
    changes.resourceUpdated('note://3');
    subscriptions.close(new Error('the server stops'));
    expect(await over).toMatchObject({ _meta: { 'io.modelcontextprotocol/subscriptionId': 1 } });
    expect(heard.map(({ method }) => method)).toEqual([
      ...['notifications/subscriptions/acknowledged', 'notifications/resources/updated'],
    ]);
    expect(told).toEqual(['begin note://1', 'begin note://2', 'end note://1', 'end note://2']);
    expect(room.subscriptions).toBe(0);
  });

  test('of a client that has left begins no further one, and ends those that have begun', async () => {
    const agreed = createDeferred<void>();
    const { told, room, subscriptions } = subscribed(() => agreed.promise);
    const { call } = listening(['note://1', 'note://2']);
    const over = subscriptions.listen(call);
    await new Promise((resolve) => setImmediate(resolve));
    call.cancel(new Error('the client has left'));
    agreed.resolve();
    await expect(over).rejects.toThrow('the client has left');
    expect(told).toEqual(['begin note://1', 'end note://1']);
    expect(room.subscriptions).toBe(0);
  });
});

describe('a session', () => {
  test('has one subscription for a uri, however often it asks, and its end follows its beginning', async () => {
    const agreed = createDeferred<void>();
    const { told, subscriptions } = subscribed(() => agreed.promise);
    const session = legacySession();
    subscriptions.sessionOpened(session);
    const asked = [subscriptions.subscribe(session, 'note://1'), subscriptions.subscribe(session, 'note://1')];
    expect(subscriptions.sessionClosed(session)).toBe(true);
    expect(told).toEqual(['begin note://1']);
    agreed.resolve();
    await Promise.all(asked);
    await new Promise((resolve) => setImmediate(resolve));
    expect(told).toEqual(['begin note://1', 'end note://1']);
  });

  test('that has ended subscribes to nothing', async () => {
    const { told, subscriptions } = subscribed();
    const session = legacySession();
    subscriptions.sessionOpened(session);
    subscriptions.sessionClosed(session);
    expect(subscriptions.sessionClosed(session)).toBe(false);
    await expect(subscriptions.subscribe(session, 'note://1')).rejects.toThrow('the session has ended');
    expect(told).toEqual([]);
  });

  test('of a service that refuses may ask again', async () => {
    let refuses = true;
    const { told, subscriptions } = subscribed(() => (refuses ? Promise.reject(new Error('not now')) : undefined));
    const session = legacySession();
    subscriptions.sessionOpened(session);
    await expect(subscriptions.subscribe(session, 'note://1')).rejects.toThrow('not now');
    refuses = false;
    await subscriptions.subscribe(session, 'note://1');
    expect(told).toEqual(['begin note://1', 'begin note://1']);
  });
});

test('each era has its own methods, and a modern client none of those that were removed', async () => {
  const { service, subscriptions } = subscribed();
  const answer = (method: string, from: Peer, params: JsonObject = {}) =>
    protocolMethods[from.era].get(method)?.(
      { request: { kind: 'request', id: 1, method, params }, peer: from, begin: () => expect.fail('it stays open') },
      { service, subscriptions },
    );
  const session = legacySession();
  expect(answer('ping', session.peer)).toEqual({});
  expect(answer('logging/setLevel', session.peer, { level: 'error' })).toEqual({});
  expect(session.level).toBe('error');
  expect(() => answer('logging/setLevel', session.peer, { level: 'loud' })).toThrow('one of the log levels');
  expect(() => answer('initialize', session.peer)).toThrow('initialized already');
  await expect(answer('resources/subscribe', session.peer, { uri: 7 })).rejects.toThrow('uri must be a string');
  expect(await answer('server/discover', peer)).toMatchObject({ supportedVersions: ['2026-07-28'] });
  for (const method of ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'])
    expect(() => answer(method, peer), method).toThrow('Method not found');
});
