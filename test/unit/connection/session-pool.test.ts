// Owns the proof that equal keys share one session, that no lease can take it from another, and that the last one closes it.

import { expect, test } from 'vitest';
import type { LeaseHandlers } from '../../../src/connection/lease-handlers.ts';
import type { ClientHandlers } from '../../../src/connection/requests.ts';
import type { RequestOutcome, Session } from '../../../src/connection/session.ts';
import { type LeaseRequest, SessionPool } from '../../../src/connection/session-pool.ts';
import { Cancellation } from '../../../src/kernel/cancellation.ts';
import { createDeferred, type Deferred } from '../../../src/kernel/deferred.ts';
import { verifies } from '../../verifies.ts';
import { createFakeSession, outage } from '../session.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

function setUp() {
  const shared = new SessionPool();
  const openings: { signal: AbortSignal; leases: LeaseHandlers; result: Deferred<Session> }[] = [];
  const open: LeaseRequest['open'] = (signal, leases) => {
    const result = createDeferred<Session>();
    openings.push({ signal, leases, result });
    return result.promise;
  };
  const ask = (key = 'k', { signal = new AbortController().signal, handlers = {} as ClientHandlers } = {}) =>
    shared.lease({ key, open, handlers, signal });
  const succeed = async (at: number, session = createFakeSession()) => {
    openings[at]?.result.resolve(session);
    await settle();
    return session;
  };
  return { shared, open, openings, ask, succeed };
}

verifies('EXT-13', 'requests with the same key get the same session; with another key, another', async () => {
  const { openings, ask, succeed } = setUp();
  const early = [ask('a'), ask('a'), ask('b')];
  await settle();
  expect(openings).toHaveLength(2);
  await succeed(0, createFakeSession({ pid: 1 }));
  await succeed(1, createFakeSession({ pid: 2 }));
  const late = ask('a');
  expect((await Promise.all([...early, late])).map(({ pid }) => pid)).toEqual([1, 1, 2, 1]);
  expect(openings).toHaveLength(2);
});

verifies('EXT-13', 'only the last lease to close ends the session, and waits until it is gone', async () => {
  const { openings, ask, succeed } = setUp();
  const leases = [ask(), ask()];
  const gone = createDeferred<void>();
  await succeed(0, { ...createFakeSession(), close: () => gone.promise });
  const [first, second] = await Promise.all(leases);
  await first?.close();
  await first?.close();
  expect(openings[0]?.signal.aborted).toBe(false);
  let isGone = false;
  const closing = second?.close().then(() => {
    isGone = true;
  });
  await settle();
  expect(isGone).toBe(false);
  gone.resolve();
  await closing;
  expect(isGone).toBe(true);
});

verifies('EXT-13', 'a request that is aborted does not take the session from those that still wait', async () => {
  const { openings, ask, succeed } = setUp();
  const stop = new AbortController();
  const impatient = ask('k', { signal: stop.signal });
  const patient = ask();
  stop.abort('enough');
  await expect(impatient).rejects.toBe('enough');
  expect(openings[0]?.signal.aborted).toBe(false);
  const session = await succeed(0);
  await (await patient).close();
  expect(session.closed()).toBe(1);
});

test('an opening that no request waits for is aborted, and closed if it succeeds all the same', async () => {
  const { openings, ask, succeed } = setUp();
  const stop = new AbortController();
  const asked = [ask('k', { signal: stop.signal }), ask('k', { signal: stop.signal })];
  const ended = Promise.allSettled(asked);
  stop.abort('enough');
  await settle();
  expect(openings[0]?.signal.aborted).toBe(true);
  const late = await succeed(0);
  expect([late.closed(), (await ended).map(({ status }) => status)]).toEqual([1, ['rejected', 'rejected']]);
});

test('a request that is already aborted opens nothing', async () => {
  const { openings, ask } = setUp();
  await expect(ask('k', { signal: AbortSignal.abort('enough') })).rejects.toBe('enough');
  expect(openings).toEqual([]);
});

test('an opening that fails fails for all requests that wait, and the next one opens anew', async () => {
  const { openings, ask, succeed } = setUp();
  const asked = [ask(), ask()];
  openings[0]?.result.reject(outage);
  expect(await Promise.all(asked.map((each) => each.catch((error: unknown) => error)))).toEqual([outage, outage]);
  const next = ask();
  await settle();
  await succeed(1);
  await next;
  expect(openings).toHaveLength(2);
});

verifies('EXT-13', 'a session that has ended is not shared again, and its leases learn why', async () => {
  const { openings, ask, succeed } = setUp();
  const [first, second] = [ask(), ask()];
  const session = await succeed(0);
  const held = await Promise.all([first, second]);
  session.end(outage);
  expect(await Promise.all(held.map(({ ended }) => ended))).toEqual([outage, outage]);
  const next = ask();
  await settle();
  expect(openings).toHaveLength(2);
  await succeed(1);
  await next;
  await held[0]?.close();
  expect(session.closed()).toBe(0);
  await held[1]?.close();
  expect(session.closed()).toBe(1);
});

verifies('EXT-13', 'a lease that marks the session as lost ends it for all', async () => {
  const { ask, succeed } = setUp();
  const asked = [ask(), ask()];
  await succeed(0);
  const [one, other] = await Promise.all(asked);
  one?.markLost('it did not answer');
  expect(await other?.ended).toMatchObject({ code: 'CONNECTION_LOST', data: { reason: 'it did not answer' } });
});

verifies('EXT-13', 'the next of the same key starts only when the former is gone', async () => {
  const { openings, ask, succeed } = setUp();
  const first = ask();
  const gone = createDeferred<void>();
  await succeed(0, { ...createFakeSession(), close: () => gone.promise });
  const closing = (await first).close();
  const [next, another] = [ask(), ask('other')];
  await settle();
  expect(openings, 'only the other one').toHaveLength(2);
  gone.resolve();
  await closing;
  await settle();
  expect(openings).toHaveLength(3);
  await succeed(1);
  await succeed(2);
  await Promise.all([next, another]);
});

test('a former one that does not end well does not keep the next from starting', async () => {
  const { openings, ask, succeed } = setUp();
  const first = ask();
  const gone = createDeferred<void>();
  await succeed(0, { ...createFakeSession(), close: () => gone.promise });
  const failure = new Error('it does not end');
  const closing = expect((await first).close()).rejects.toBe(failure);
  const next = ask();
  gone.reject(failure);
  await closing;
  await settle();
  expect(openings).toHaveLength(2);
  await succeed(1);
  await next;
});

verifies(
  'EXT-13',
  'after a reconnect by hand the next request gets a fresh session, and existing leases keep the old one',
  async () => {
    const { shared, openings, ask, succeed } = setUp();
    const held = ask();
    const old = await succeed(0);
    await held;
    shared.forget('k');
    shared.forget('unknown');
    const next = ask();
    await settle();
    expect(openings).toHaveLength(2);
    const fresh = await succeed(1);
    await next;
    await (await held).close();
    expect([old.closed(), fresh.closed()]).toEqual([1, 0]);
    await ask();
    expect(openings, 'the fresh one is shared').toHaveLength(2);
  },
);

test('each lease gets notifications until it is closed', async () => {
  const { ask, succeed } = setUp();
  const asked = [ask(), ask()];
  const session = await succeed(0);
  const heard: string[] = [];
  const [one, other] = await Promise.all(asked);
  const stop = one?.onNotification((method) => heard.push(`one ${method}`));
  other?.onNotification((method) => heard.push(`other ${method}`));
  session.say('a');
  stop?.();
  session.say('b');
  await other?.close();
  session.say('c');
  expect(heard).toEqual(['one a', 'other a', 'other b']);
});

verifies(
  'LIF-10',
  'a request for a session answers its server from the moment it is made until it is given up or closed',
  async () => {
    const { openings, ask, succeed } = setUp();
    const roots = (name: string) => ({
      roots: async () => [{ uri: `file:///${name}` }],
      sample: async () => ({ name }),
    });
    const [ada, bob] = [roots('ada'), roots('bob')];
    const stop = new AbortController();
    const kept = ask('k', { handlers: ada });
    const asked = (method: 'roots/list' | 'sampling/createMessage') => openings[0]?.leases.targetOf(method).handlers;
    expect([asked('roots/list'), asked('sampling/createMessage')], 'while it opens').toEqual([ada, ada]);
    const givenUp = ask('k', { handlers: bob, signal: stop.signal });
    expect([asked('roots/list'), asked('sampling/createMessage')], 'of two none but for roots').toEqual([ada, {}]);
    stop.abort('enough');
    await expect(givenUp).rejects.toBe('enough');
    expect(asked('sampling/createMessage')).toBe(ada);
    await succeed(0);
    const late = await ask('k', { handlers: bob });
    await (await kept).close();
    expect(asked('sampling/createMessage')).toBe(bob);
    await late.close();
    expect(asked('roots/list')).toEqual({});
  },
);

verifies(['EXT-13', 'LIF-07'], 'each lease counts its own calls, and tells why it was closed', async () => {
  const { ask, succeed } = setUp();
  const answers = [createDeferred<RequestOutcome>(), createDeferred<RequestOutcome>()];
  const asked = [ask(), ask()];
  const left = [...answers];
  const answer = () => left.shift()?.promise ?? expect.fail('no further call was expected');
  await succeed(0, createFakeSession({ callTool: answer, requestWithInput: answer }));
  const [one, other] = await Promise.all(asked);
  if (one === undefined || other === undefined) return expect.fail('it was not opened');
  const options = { cancellation: new Cancellation(), onProgress: () => undefined, handlers: {} };
  const calls = [one.callTool('t', {}, options), other.requestWithInput('prompts/get', {}, options)];
  const quiet = [one, other].map((each, at) => each.whenQuiet().then(() => at));
  expect([one.callsInFlight(), other.callsInFlight()]).toEqual([1, 1]);
  answers[1]?.resolve({ kind: 'result', result: {} });
  expect(await Promise.race(quiet)).toBe(1);
  expect([one.callsInFlight(), other.callsInFlight()]).toEqual([1, 0]);
  await one.close('it was edited');
  expect([one.report().reason, other.report().reason]).toEqual(['it was edited', 'it said nothing']);
  answers[0]?.reject(new Error('cut'));
  await expect(calls[0]).rejects.toThrow('cut');
  expect(one.callsInFlight()).toBe(0);
});

/** Two folders that share a session with a remote server: equal keys, other roots. */
function shareByFolders() {
  const world = setUp();
  const rootsOf = { one: async () => [], two: async () => [] };
  const ask = (folder: keyof typeof rootsOf) =>
    world.shared.lease({
      ...{ key: 'k', keyInFolder: `k in ${folder}`, signal: new AbortController().signal },
      ...{ handlers: { roots: rootsOf[folder] }, open: world.open },
    });
  return { ...world, askFrom: ask };
}

verifies('EXT-32', 'folders share a session until its server asks for roots', async () => {
  const { openings, succeed, askFrom } = shareByFolders();
  const leases = [askFrom('one'), askFrom('two')];
  await succeed(0);
  const [one, two] = await Promise.all(leases);
  const parted: string[] = [];
  one?.onParted(() => parted.push('one'));
  const stop = two?.onParted(() => parted.push('two'));
  expect([openings.length, one?.isShared()]).toEqual([1, true]);
  const { leases: handlers } = openings[0] ?? {};
  expect(handlers?.admitRoots(one), 'the folder whose call it is').toBe(true);
  expect(parted).toEqual(['two']);
  expect(handlers?.admitRoots(one)).toBe(true);
  expect(handlers?.admitRoots(two), 'the folder that does not keep the session').toBe(false);
  expect(handlers?.admitRoots(undefined), 'nobody knows whose folder is meant').toBe(false);
  expect(parted, 'told once').toEqual(['two']);
  let isTold = false;
  two?.onParted(() => {
    isTold = true;
  });
  await settle();
  expect(isTold, 'a listener that comes late is told').toBe(true);
  stop?.();
  const own = askFrom('two');
  await succeed(1, createFakeSession({ pid: 2 }));
  expect([openings.length, (await own).pid, (await own).isShared()]).toEqual([2, 2, false]);
});

verifies(
  'EXT-32',
  'a server that asks for roots while two folders wait for it is opened for each of them',
  async () => {
    const { openings, succeed, askFrom } = shareByFolders();
    const leases = [askFrom('one'), askFrom('two')];
    expect(openings[0]?.leases.admitRoots(undefined)).toBe(false);
    const first = await succeed(0);
    expect([openings.length, first.closed()]).toEqual([3, 1]);
    await succeed(1, createFakeSession({ pid: 1 }));
    await succeed(2, createFakeSession({ pid: 2 }));
    expect((await Promise.all(leases)).map(({ pid }) => pid)).toEqual([1, 2]);
  },
);

verifies('EXT-32', 'a server that asked its only folder for roots is opened anew for the next one', async () => {
  const { openings, succeed, askFrom } = shareByFolders();
  const one = askFrom('one');
  await succeed(0);
  const kept = await one;
  expect(openings[0]?.leases.admitRoots(undefined)).toBe(true);
  void askFrom('two').catch(String);
  await settle();
  expect([openings.length, kept.isShared()]).toEqual([2, false]);
});

verifies(
  'EXT-13',
  'where leases share a session in one folder only, any of them may answer for its roots',
  async () => {
    const { openings, ask, succeed } = setUp();
    const leases = [
      ask('k', { handlers: { roots: async () => [] } }),
      ask('k', { handlers: { roots: async () => [] } }),
    ];
    await succeed(0);
    await Promise.all(leases);
    expect(openings[0]?.leases.admitRoots(undefined)).toBe(true);
  },
);
