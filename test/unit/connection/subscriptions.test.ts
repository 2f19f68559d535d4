// Owns the proof that listeners get the updates of their resources, and no others, in both eras and across reconnects.

import { describe, expect, test } from 'vitest';
import type { RequestOutcome, Session } from '../../../src/connection/session.ts';
import type { ResourceUpdate } from '../../../src/connection/subscription-book.ts';
import { Subscriptions } from '../../../src/connection/subscriptions.ts';
import type { Cancellation } from '../../../src/kernel/cancellation.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { limits } from '../../../src/model/limits.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';
import { createFakeSession, type FakeSession, outage } from '../session.ts';

const UPDATED = 'notifications/resources/updated';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const done: RequestOutcome = { kind: 'result', result: {} };
const capabilities = { resources: { subscribe: true } };
const { gatherMs } = limits.updates;

function createHarness() {
  const clock = createFakeClock();
  const updates: string[] = [];
  const errors: unknown[] = [];
  const subscriptions = new Subscriptions({
    clock,
    onUpdated: (server, uri) => updates.push(`${server} ${uri}`),
    onError: (error) => errors.push(error),
  });
  const attend = <Fake extends FakeSession>(session: Fake): Fake => {
    session.onNotification((method, params) => subscriptions.onNotification('s', session, method, params));
    return session;
  };
  const heard: ResourceUpdate[] = [];
  const subscribe = (session: Session, uri: string) =>
    subscriptions.subscribe('s', session, { uri, listener: (update) => heard.push(update) });
  return { clock, updates, errors, subscriptions, attend, heard, subscribe };
}

const legacy = (
  answer: (params: JsonObject) => RequestOutcome | Promise<RequestOutcome> = () => done,
  change: Partial<Session> = {},
) => createFakeSession({ capabilities, request: async (_, params = {}) => answer(params), ...change });

const sentOf = ({ asked }: FakeSession) => asked.map(({ method, params }) => `${method} ${params['uri']}`);

/** A modern server: its streams stay open until they are cancelled, and are acknowledged as the test says. */
function modern(honor: (uris: readonly string[]) => unknown = (uris) => uris) {
  const open = new Map<number, { readonly uris: readonly string[]; readonly end: (answer: RequestOutcome) => void }>();
  let lastId = 100;
  const session: FakeSession = createFakeSession({
    era: 'modern',
    capabilities,
    request: (_, params = {}, options) => {
      const id = ++lastId;
      const { resourceSubscriptions: uris } = params['notifications'] as { resourceSubscriptions: string[] };
      const { cancellation, onId } = options as { cancellation: Cancellation; onId?: (id: number) => void };
      onId?.(id);
      return new Promise((resolve, reject) => {
        open.set(id, { uris, end: resolve });
        cancellation.listen((reason) => {
          open.delete(id);
          reject(reason);
        });
        const notifications = { resourceSubscriptions: honor(uris) };
        const meta = { 'io.modelcontextprotocol/subscriptionId': String(id) };
        queueMicrotask(() => {
          if (notifications.resourceSubscriptions !== undefined)
            session.say(ACKNOWLEDGED, { _meta: meta, notifications });
        });
      });
    },
  });
  return { session, open };
}

describe('a subscription to a server of the older era', () => {
  verifies('RES-04', 'is asked for once, however many subscribe, and called off with the last one', async () => {
    const { attend, subscribe, clock } = createHarness();
    const session = attend(legacy());
    const leave = await Promise.all([subscribe(session, 'x:1'), subscribe(session, 'x:1'), subscribe(session, 'x:2')]);
    expect(sentOf(session)).toEqual(['resources/subscribe x:1', 'resources/subscribe x:2']);
    await leave[0]();
    expect(session.asked).toHaveLength(2);
    await leave[1]();
    await leave[1]();
    expect(sentOf(session).slice(2)).toEqual(['resources/unsubscribe x:1']);
    expect(clock.pending()).toBe(0);
  });

  verifies(
    'RES-04',
    'is reported half a second after the first update, once for all updates of that time',
    async () => {
      const { attend, subscribe, clock, heard, updates } = createHarness();
      const session = attend(legacy());
      await subscribe(session, 'x:1');
      for (let n = 0; n < 10; n++) session.say(UPDATED, { uri: 'x:1' });
      await clock.advance(gatherMs - 1);
      expect(heard).toEqual([]);
      await clock.advance(1);
      expect(heard).toEqual([{ server: 's', uri: 'x:1', subscribed: 'x:1' }]);
      for (let ms = 0; ms < 2_000; ms += 50) {
        session.say(UPDATED, { uri: 'x:1' });
        await clock.advance(50);
      }
      expect(updates.length, 'a flood neither starves nor floods').toBe(5);
    },
  );

  verifies('RES-04', 'gets updates of parts of its resource, and of no other resource', async () => {
    const { attend, subscribe, clock, heard } = createHarness();
    const session = attend(legacy());
    await subscribe(session, 'file:///a');
    for (const uri of ['file:///a/b', 'file:///a#c', 'file:///ab', 'file:///', 'other:', 7, null, 'x'.repeat(9_000)])
      session.say(UPDATED, { uri });
    session.say('notifications/other', { uri: 'file:///a' });
    await clock.advance(gatherMs);
    expect(heard.map(({ uri, subscribed }) => `${uri} ${subscribed}`)).toEqual([
      ...['file:///a/b file:///a', 'file:///a#c file:///a'],
    ]);
  });

  test('is told of the whole where there are too many parts', async () => {
    const { attend, subscribe, clock, updates } = createHarness();
    const session = attend(legacy());
    await subscribe(session, 'x:/');
    for (let n = 0; n < 100_000; n++) session.say(UPDATED, { uri: `x:/${n}` });
    expect(clock.pending()).toBe(limits.updates.waiting + 1);
    await clock.advance(gatherMs);
    expect(updates).toHaveLength(limits.updates.waiting + 1);
    expect(updates.at(-1)).toBe('s x:/');
  });

  verifies(
    'RES-04',
    'is asked for again on the next session, and updates that may have been missed are reported',
    async () => {
      const { attend, subscribe, subscriptions, clock, updates } = createHarness();
      const [first, second] = [attend(legacy()), attend(legacy())];
      await subscribe(first, 'x:1');
      first.say(UPDATED, { uri: 'x:1' });
      subscriptions.onSessionEnded('s', first);
      await clock.advance(gatherMs);
      updates.length = 0;
      first.say(UPDATED, { uri: 'x:1' });
      await clock.advance(gatherMs);
      expect(updates, 'a former session has no news').toEqual([]);
      subscriptions.onReady('s', second);
      await clock.advance(gatherMs);
      expect([sentOf(second), updates]).toEqual([['resources/subscribe x:1'], ['s x:1']]);
      first.say(UPDATED, { uri: 'x:1' });
      second.say(UPDATED, { uri: 'x:1' });
      await clock.advance(gatherMs);
      expect(updates).toEqual(['s x:1', 's x:1']);
    },
  );

  test('that the next session refuses is told to the host, and tried again on the one after it', async () => {
    const { attend, subscribe, subscriptions, clock, errors } = createHarness();
    await subscribe(attend(legacy()), 'x:1');
    subscriptions.onRemoved('s');
    subscriptions.onReady('s', attend(legacy(() => ({ kind: 'error', code: -32002, message: 'gone' }))));
    await clock.advance(0);
    expect(errors).toMatchObject([{ code: 'RESOURCE_UNKNOWN' }]);
    const third = attend(legacy());
    subscriptions.onReady('s', third);
    await clock.advance(0);
    expect(sentOf(third)).toEqual(['resources/subscribe x:1']);
  });

  verifies('RES-04', 'fails clearly where the server cannot, refuses, is silent or goes away', async () => {
    const { attend, subscribe, clock } = createHarness();
    const codeOf = (work: Promise<unknown>) =>
      work.then(
        () => 'done',
        (error: { code: string }) => error.code,
      );
    const cannot = attend(createFakeSession({ capabilities: { resources: {} } }));
    expect(await codeOf(subscribe(cannot, 'x:1'))).toBe('NOT_OFFERED');
    expect(cannot.asked).toEqual([]);
    const refusing = (code: number) => attend(legacy(() => ({ kind: 'error', code, message: 'no' })));
    expect(await codeOf(subscribe(refusing(-32002), 'x:1'))).toBe('RESOURCE_UNKNOWN');
    expect(await codeOf(subscribe(refusing(-32603), 'x:1'))).toBe('REQUEST_REFUSED');
    expect(await codeOf(subscribe(attend(legacy(() => ({ kind: 'lost', sent: true }))), 'x:1'))).toBe(
      'CONNECTION_LOST',
    );
    const silent = createFakeSession({
      capabilities,
      request: (_, __, options) =>
        options?.cancellation?.race(new Promise<RequestOutcome>(() => undefined)) ?? Promise.resolve(done),
    });
    const late = codeOf(subscribe(attend(silent), 'x:1'));
    await clock.advance(limits.subscribeMs);
    expect(await late).toBe('REQUEST_TIMEOUT');
    expect(clock.pending()).toBe(0);
  });

  test('is not called off on a session that others use too', async () => {
    const { attend, subscribe } = createHarness();
    const session = attend(legacy(undefined, { isShared: () => true }));
    await (await subscribe(session, 'x:1'))();
    expect(sentOf(session)).toEqual(['resources/subscribe x:1']);
  });

  test('of a listener that throws does not cost other listeners the update', async () => {
    const { attend, subscribe, subscriptions, clock, heard, errors } = createHarness();
    const session = attend(legacy());
    const broken = new Error('broken');
    const listeners = [
      () => {
        throw broken;
      },
      () => Promise.reject(broken),
    ];
    for (const listener of listeners) await subscriptions.subscribe('s', session, { uri: 'x:1', listener });
    await subscribe(session, 'x:1');
    session.say(UPDATED, { uri: 'x:1' });
    await clock.advance(gatherMs);
    expect([heard.length, errors]).toEqual([1, [broken, broken]]);
  });

  test('that ended before its update was reported gets nothing', async () => {
    const { attend, subscribe, subscriptions, clock, heard, updates } = createHarness();
    const session = attend(legacy());
    const leave = await subscribe(session, 'x:1');
    session.say(UPDATED, { uri: 'x:1' });
    await leave();
    await clock.advance(gatherMs);
    await subscribe(session, 'x:1');
    session.say(UPDATED, { uri: 'x:1' });
    subscriptions.close();
    expect([heard, updates, clock.pending()]).toEqual([[], [], 0]);
  });

  test('keeps its server up as long as it has listeners, and no longer', async () => {
    const { attend, subscribe, subscriptions, clock } = createHarness();
    const [first, second] = [attend(legacy()), attend(legacy())];
    subscriptions.follow('s', first, 'x:0');
    await clock.advance(0);
    expect(first.usage().isKept, 'what was only read keeps nobody up').toBe(false);
    const leave = await Promise.all([subscribe(first, 'x:1'), subscribe(first, 'x:2')]);
    expect(first.usage().isKept).toBe(true);
    subscriptions.onSessionEnded('s', first);
    subscriptions.onReady('s', second);
    await clock.advance(0);
    expect([first.usage().isKept, second.usage().isKept]).toEqual([false, true]);
    for (const stop of leave) await stop();
    expect(second.usage().isKept).toBe(false);
  });

  verifies('RES-04', 'follows resources that were read, without a listener, and of too many the newest', async () => {
    const { attend, subscriptions, clock, updates } = createHarness();
    const session = attend(legacy());
    for (let n = 0; n <= limits.updates.followed; n++) subscriptions.follow('s', session, `x:${n}`);
    subscriptions.follow('s', attend(createFakeSession()), 'x:1');
    await clock.advance(0);
    expect(session.asked).toHaveLength(limits.updates.followed);
    session.say(UPDATED, { uri: 'x:0' });
    session.say(UPDATED, { uri: 'x:1' });
    await clock.advance(gatherMs);
    expect(updates).toEqual(['s x:1']);
  });
});

describe('a subscription to a modern server', () => {
  verifies('RES-04', 'is a stream that names all of them; a new one takes over before the former ends', async () => {
    const { attend, subscribe, clock, heard } = createHarness();
    const { session, open } = modern();
    attend(session);
    const leave = await subscribe(session, 'x:1');
    await Promise.all([subscribe(session, 'x:2'), subscribe(session, 'x:3')]);
    expect(session.asked.map(({ params }) => params['notifications'])).toEqual([
      { resourceSubscriptions: ['x:1'] },
      { resourceSubscriptions: ['x:1', 'x:2', 'x:3'] },
    ]);
    expect([...open.values()].map(({ uris }) => uris)).toEqual([['x:1', 'x:2', 'x:3']]);
    session.say(UPDATED, { uri: 'x:1' });
    await clock.advance(gatherMs);
    expect(heard).toHaveLength(1);
    await leave();
    expect([...open.values()].map(({ uris }) => uris)).toEqual([['x:2', 'x:3']]);
    expect(session.asked.every(({ method }) => method === 'subscriptions/listen')).toBe(true);
  });

  verifies(
    'RES-04',
    'is opened again when its stream drops, and updates that may have been missed are reported',
    async () => {
      const { attend, subscribe, clock, updates } = createHarness();
      const { session, open } = modern();
      await subscribe(attend(session), 'x:1');
      for (const { end } of open.values()) end({ kind: 'lost', sent: true });
      await clock.advance(limits.listenAgainMs + gatherMs);
      expect([session.asked.length, updates]).toEqual([2, ['s x:1']]);
    },
  );

  verifies('RES-04', 'is asked for again on the next session', async () => {
    const { attend, subscribe, subscriptions, clock, updates } = createHarness();
    const [first, second] = [modern(), modern()];
    await subscribe(attend(first.session), 'x:1');
    subscriptions.onSessionEnded('s', first.session);
    expect(first.open.size).toBe(0);
    subscriptions.onReady('s', attend(second.session));
    await clock.advance(gatherMs);
    expect([second.open.size, updates]).toEqual([1, ['s x:1']]);
    subscriptions.close();
    await clock.advance(0);
    expect([second.open.size, clock.pending()]).toEqual([0, 0]);
  });

  verifies('RES-04', 'that the server does not promise is a clear failure, and costs the others nothing', async () => {
    const { attend, subscribe, clock } = createHarness();
    const { session, open } = modern((uris) => uris.filter((uri) => uri !== 'x:2'));
    await subscribe(attend(session), 'x:1');
    await expect(subscribe(session, 'x:2')).rejects.toMatchObject({ code: 'NOT_OFFERED' });
    expect([...open.values()].length).toBe(1);
    await clock.advance(0);
    const refusing = createFakeSession({
      era: 'modern',
      capabilities,
      request: async () => ({ kind: 'error', code: -32601, message: 'Method not found' }),
    });
    await expect(subscribe(attend(refusing), 'x:1')).rejects.toMatchObject({ code: 'REQUEST_REFUSED' });
  });

  verifies(
    'RES-04',
    'whose stream the server answers instead of opening it fails at once, with the server’s message',
    async () => {
      const { attend, subscribe, clock } = createHarness();
      const answering = (answer: RequestOutcome) =>
        attend(createFakeSession({ ...{ era: 'modern', capabilities }, request: async () => answer }));
      const failing: RequestOutcome = { kind: 'error', code: -32603, message: 'out of order' };
      await expect(subscribe(answering(failing), 'x:1')).rejects.toMatchObject({
        code: 'REQUEST_REFUSED',
        data: { reason: 'out of order' },
      });
      await expect(subscribe(answering(done), 'x:1')).rejects.toMatchObject({ code: 'NOT_OFFERED' });
      expect(clock.pending()).toBe(0);
    },
  );

  test('whose stream was lost on its way is asked for again', async () => {
    const { attend, subscribe, clock } = createHarness();
    const { session, open } = modern(() => undefined);
    const subscribed = subscribe(attend(session), 'x:1').catch((error: { code: string }) => error);
    await clock.advance(0);
    for (const { end } of open.values()) end({ kind: 'lost', sent: true });
    await clock.advance(limits.listenAgainMs);
    expect(session.asked).toHaveLength(2);
    await clock.advance(limits.subscribeMs);
    expect(await subscribed).toMatchObject({
      code: 'REQUEST_TIMEOUT',
      message: expect.stringContaining('Ask again later.'),
    });
  });

  test('keeps the former stream where the new one is not acknowledged', async () => {
    const { attend, subscribe, clock, updates } = createHarness();
    let isSilent = false;
    const { session, open } = modern((uris) => (isSilent ? undefined : uris));
    await subscribe(attend(session), 'x:1');
    isSilent = true;
    const second = subscribe(session, 'x:2').catch((error: { code: string }) => error.code);
    await clock.advance(limits.subscribeMs);
    expect(await second).toBe('REQUEST_TIMEOUT');
    expect([...open.values()].map(({ uris }) => uris)).toEqual([['x:1']]);
    session.say(UPDATED, { uri: 'x:1' });
    await clock.advance(gatherMs);
    expect(updates).toEqual(['s x:1']);
  });

  test('does not hang on a session that ends before it is acknowledged', async () => {
    const { attend, subscribe } = createHarness();
    const { session } = modern(() => undefined);
    const subscribed = subscribe(attend(session), 'x:1');
    session.end(outage);
    await expect(subscribed).rejects.toBe(outage);
  });
});
