// Owns the proof that the connections follow the definitions, and that each open session is watched until it ends.

import { describe, expect, onTestFinished, test } from 'vitest';
import { reconnectPolicy } from '../../../src/config/reconnect.ts';
import { Connections } from '../../../src/connection/connections.ts';
import type { ConnectionEvent } from '../../../src/connection/events.ts';
import type { Session } from '../../../src/connection/session.ts';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import { limits } from '../../../src/model/limits.ts';
import type { ServerDefinition, ServerSettings } from '../../../src/model/server.ts';
import { changeOf } from '../../../src/servers/definition-change.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';
import { defaultSettings } from '../config/folder.ts';
import { createFakeSession, definitionOf, type FakeSession, outage } from '../session.ts';

/** Every server opens at once, with its own session, which the test finds by the server's name. */
function setUp(change: Partial<Session> = {}, isAway = () => false) {
  const clock = createFakeClock();
  const attempts: number[] = [];
  const sessions = new Map<string, FakeSession>();
  const log: string[] = [];
  const errors: unknown[] = [];
  const events: ConnectionEvent[] = [];
  const connections = new Connections({
    open: async ({ name }) => {
      attempts.push(clock.now());
      if (isAway()) throw outage;
      const session = createFakeSession(change);
      session.use({ quietSince: clock.now() });
      sessions.set(name, session);
      log.push(`open ${name}`);
      return session;
    },
    renewCredentials: async () => false,
    startLimitMs: ({ settings }) => settings.startupTimeoutMs,
    isPersonAsked: () => false,
    changeOf,
    clock,
    emit: (event) => events.push(event),
    onReady: ({ name }) => log.push(`ready ${name}`),
    onBlocked: () => undefined,
    onDown: (name) => log.push(`down ${name}`),
    onNotification: ({ name }, _, method) => log.push(`${name} says ${method}`),
    onRemoved: (name) => log.push(`removed ${name}`),
    onSessionEnded: () => undefined,
    onEdited: ({ name, settings }) => log.push(`edited ${name}: ${settings.title}`),
    onRestart: ({ name }, isUp) => log.push(`restart ${name}${isUp ? '' : ' when needed'}`),
    random: () => 0.5,
    onError: (error) => errors.push(error),
  });
  onTestFinished(() => connections.close());
  const apply = async (...definitions: ServerDefinition[]) => {
    const applied = connections.reconcile(definitions);
    await clock.advance(0);
    await applied;
    return log.splice(0);
  };
  const session = (name: string): FakeSession => sessions.get(name) ?? expect.fail(`${name} was not opened`);
  const states = () => connections.all().map(({ definition, connection }) => [definition.name, connection.state.kind]);
  return { clock, connections, log, events, errors, attempts, apply, session, states };
}

const of = (name: string, settings: Partial<ServerSettings> = {}) => definitionOf(name, settings);

verifies(
  'LIF-06',
  'the same definition again opens nothing more, also while it connects; another one does',
  async () => {
    const { connections, clock, attempts } = setUp();
    const applied = [connections.reconcile([of('one')]), connections.reconcile([of('one')])];
    connections.ensure(of('one')).wake();
    await clock.advance(0);
    await Promise.all(applied);
    await connections.reconcile([of('one')]);
    await clock.advance(0);
    expect(attempts).toHaveLength(1);
    await connections.reconcile([of('one', { perClient: true })]);
    await clock.advance(0);
    expect(attempts).toHaveLength(2);
  },
);

verifies('LIF-07', 'unchanged servers are kept, changed ones edited or restarted, removed ones closed', async () => {
  const { apply, session, states } = setUp();
  expect(await apply(of('kept'), of('edited'), of('changed'), of('gone'))).toEqual([
    ...['open kept', 'open edited', 'open changed', 'open gone'],
    ...['ready kept', 'ready edited', 'ready changed', 'ready gone'],
  ]);
  const before = [session('kept'), session('edited'), session('changed'), session('gone')];
  const news = await apply(of('kept'), of('edited', { title: 'new' }), of('changed', { perClient: true }), of('added'));
  expect(news.sort()).toEqual([
    ...['down changed', 'edited edited: new', 'open added', 'open changed', 'ready added', 'ready changed'],
    ...['removed gone', 'restart changed'],
  ]);
  expect(before.map((each) => each.closed())).toEqual([0, 0, 1, 1]);
  expect(states()).toEqual([
    ['kept', 'ready'],
    ['edited', 'ready'],
    ['changed', 'ready'],
    ['added', 'ready'],
  ]);
});

verifies(
  'LIF-07',
  'a changed server is opened again when its old session is closed, and applying waits for that',
  async () => {
    const closing = createDeferred<void>();
    const { apply, connections, clock, log } = setUp({ close: () => closing.promise });
    await apply(of('changed'), of('gone'));
    let isApplied = false;
    const applied = connections.reconcile([of('changed', { perClient: true })]).then(() => {
      isApplied = true;
    });
    await clock.advance(0);
    expect([log.splice(0).sort(), isApplied]).toEqual([['down changed', 'removed gone', 'restart changed'], false]);
    closing.resolve();
    await applied;
    await clock.advance(0);
    expect(log).toEqual(['open changed', 'ready changed']);
  },
);

verifies('LIF-07', 'on request everything is replaced', async () => {
  const { apply, connections, session, clock, states } = setUp();
  await apply(of('kept'));
  const before = session('kept');
  const applied = connections.reconcile([of('kept')], { replaceAll: true });
  await clock.advance(0);
  await applied;
  expect([before.closed(), session('kept') === before, states()]).toEqual([1, false, [['kept', 'ready']]]);
});

describe('a server that stays away', () => {
  /** When it is tried, in milliseconds, with the jitter in its middle. */
  async function attemptsWith(settings: Partial<ServerSettings>) {
    const { connections, clock, attempts, states } = setUp({}, () => true);
    await connections.reconcile([of('away', settings)]);
    await clock.advance(3_600_000);
    expect(states()).toEqual([['away', 'failed']]);
    return attempts;
  }

  verifies('REC-01', 'is tried again after 1, 2 and 4 s with doubling, and then given up', async () => {
    expect(await attemptsWith({ reconnect: reconnectPolicy('doubling') })).toEqual([0, 1_000, 3_000, 7_000]);
  });

  verifies('REC-02', 'is tried five times with quick, whatever the ping threshold is', async () => {
    const reconnect = reconnectPolicy('quick');
    const { health } = defaultSettings;
    for (const failures of [1, 9])
      expect(await attemptsWith({ reconnect, health: { ...health, failures } })).toEqual([
        0, 100, 300, 700, 1_500, 3_100,
      ]);
  });
});

test('a server that is not wanted at once waits for its first call', async () => {
  const { connections, clock, states, log } = setUp();
  await connections.reconcile([of('lazy'), of('eager')], {
    isWantedAtOnce: ({ name }) => name === 'eager',
  });
  await clock.advance(0);
  expect(states()).toEqual([
    ['lazy', 'idle'],
    ['eager', 'ready'],
  ]);
  await connections.get('lazy')?.connection.whenReady();
  expect(log).toContain('ready lazy');
});

verifies('LIF-01', 'every change of state is one event, with the origin of the server and the cause', async () => {
  const { apply, session, events, clock } = setUp();
  await apply(of('files'));
  session('files').end(outage);
  await clock.advance(500);
  expect(events.map((event) => event.type === 'connection.changed' && [event.from, event.to, event.cause])).toEqual([
    ['idle', 'connecting', undefined],
    ['connecting', 'ready', undefined],
    ['ready', 'waiting', outage.toJSON()],
    ['waiting', 'connecting', undefined],
    ['connecting', 'ready', undefined],
  ]);
  expect(events[0]).toMatchObject({ server: 'files', label: 'mcp:files via host' });
});

test('a server that is lost is told as down, and not one that is closed', async () => {
  const { apply, session, clock, log } = setUp();
  await apply(of('files'));
  session('files').end(outage);
  await clock.advance(0);
  expect(log.splice(0)).toEqual(['down files']);
  await clock.advance(500);
  expect(log.splice(0)).toEqual(['open files', 'ready files']);
  expect(await apply()).toEqual(['removed files']);
});

describe('an open session', () => {
  test('is listened to until it is gone', async () => {
    const { apply, session, log } = setUp();
    await apply(of('files'));
    const former = session('files');
    former.say('notifications/tools/list_changed');
    expect(log.splice(0)).toEqual(['files says notifications/tools/list_changed']);
    await apply();
    former.say('notifications/tools/list_changed');
    expect(log.splice(0)).toEqual([]);
  });

  verifies('TRN-10', 'without calls is stopped in time, and the next call starts it again', async () => {
    const { apply, session, states, connections, clock, log } = setUp();
    await apply(of('files', { idleStopMs: 1_000 }));
    await clock.advance(1_000);
    expect([states(), session('files').closed(), log.splice(0)]).toEqual([[['files', 'idle']], 1, ['down files']]);
    await clock.advance(3_600_000);
    expect([states(), clock.pending()], 'nothing brings it back by itself').toEqual([[['files', 'idle']], 0]);
    await connections.get('files')?.connection.whenReady();
    expect(log).toEqual(['open files', 'ready files']);
    await clock.advance(999);
    expect(states()).toEqual([['files', 'ready']]);
    await clock.advance(1);
    expect(states()).toEqual([['files', 'idle']]);
  });

  verifies('REC-16', 'that stopped answering is lost and replaced', async () => {
    const { apply, session, clock, log } = setUp({ transport: 'http' });
    await apply(of('files'));
    const silent = session('files');
    await clock.advance(5 * 30_000 + 500);
    expect([silent.closed(), log]).toEqual([1, ['down files', 'open files', 'ready files']]);
  });

  verifies('REC-15', 'leaves no timer, whatever looked after it', async () => {
    const { apply, clock } = setUp({ transport: 'http' });
    await apply(of('files', { idleStopMs: 10_000 }));
    expect(clock.pending()).toBe(2);
    await apply();
    expect(clock.pending()).toBe(0);
  });
});

describe('a server that is disconnected', () => {
  test('stays listed, stopped, and comes back with a reconnect', async () => {
    const { apply, connections, states, clock } = setUp();
    await apply(of('files'));
    await connections.disconnect('files');
    expect(states()).toEqual([['files', 'closed']]);
    connections.reconnect('files');
    connections.reconnect('nobody');
    await clock.advance(0);
    expect(states()).toEqual([['files', 'ready']]);
  });

  test('starts again only when nothing of it is left, however often it was ended', async () => {
    const gone = createDeferred<void>();
    const { apply, connections, clock, log } = setUp({ close: () => gone.promise });
    await apply(of('files'));
    void connections.disconnect('files');
    connections.reconnect('files');
    void connections.disconnect('files');
    connections.reconnect('files');
    await clock.advance(1_000);
    expect(log.filter((each) => each === 'open files')).toEqual([]);
    gone.resolve();
    await clock.advance(0);
    expect(log.filter((each) => each === 'open files')).toEqual(['open files']);
  });
});

describe('a close', () => {
  test('waits for all, those included that left before, and says so when it had to give up', async () => {
    const gone = createDeferred<void>();
    const { apply, connections, clock, errors } = setUp({ close: () => gone.promise });
    await apply(of('a'), of('b'));
    void connections.disconnect('a');
    const closing = connections.close();
    expect(connections.close()).toBe(closing);
    await clock.advance(limits.closeMs);
    await closing;
    expect(errors).toMatchObject([{ code: 'INTERNAL' }]);
    gone.resolve();
  });

  test('is the end: nothing is opened after it', async () => {
    const { apply, connections, clock, log } = setUp();
    await apply(of('a'));
    await connections.close();
    log.length = 0;
    await apply(of('a'), of('b'));
    connections.reconnect('a');
    expect(() => connections.ensure(of('a'))).toThrow('it was closed');
    expect(() => connections.ensure(of('c'))).toThrow('it was closed');
    await clock.advance(600_000);
    expect([log, clock.pending()]).toEqual([[], 0]);
  });
});

test('a server that is needed outside a reconcile is added once, and again after it was ended', async () => {
  const { connections, clock, states } = setUp();
  const added = connections.ensure(of('own'));
  expect([connections.ensure(of('own')), states()]).toEqual([added, [['own', 'idle']]]);
  await added.whenReady();
  await connections.disconnect('own');
  const next = connections.ensure(of('own'));
  expect(next).not.toBe(added);
  await next.whenReady();
  await clock.advance(0);
  expect(states()).toEqual([['own', 'ready']]);
});
