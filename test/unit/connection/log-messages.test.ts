// Owns the proof that log messages of a server are reported, cut and limited in rate, from the configured level on.

import { describe, expect, test } from 'vitest';
import type { ConnectionEvent } from '../../../src/connection/events.ts';
import { logLineOf, watchLog } from '../../../src/connection/log-messages.ts';
import { openLogged } from '../../../src/connection/logged-session.ts';
import { limits } from '../../../src/model/limits.ts';
import type { ServerSettings } from '../../../src/model/server.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';
import { createFakeSession, definitionOf, type FakeSession } from '../session.ts';

const MESSAGE = 'notifications/message';

function watch(session: FakeSession, settings: Partial<ServerSettings> = {}) {
  const clock = createFakeClock();
  const events: ConnectionEvent[] = [];
  const stop = watchLog(definitionOf('s', settings), session, { clock, emit: (event) => events.push(event) });
  return { clock, events, stop };
}

describe('a log message', () => {
  verifies('RES-10', 'is told with its level, its logger and its data', () => {
    const session = createFakeSession();
    const { events, stop } = watch(session);
    session.say(MESSAGE, { level: 'error', logger: 'db', data: 'down' });
    session.say(MESSAGE, { level: 'info', data: { a: [1] } });
    session.say('notifications/other', { level: 'info', data: 'x' });
    stop();
    session.say(MESSAGE, { level: 'info', data: 'unheard' });
    const type = 'connection.log-received';
    expect(events).toEqual([
      { type, server: 's', level: 'error', logger: 'db', text: 'down' },
      { type, server: 's', level: 'info', text: '{"a":[1]}' },
    ]);
  });

  test('of any shape is told, cut to a readable length', () => {
    const session = createFakeSession();
    const { events } = watch(session);
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    for (const params of [
      {},
      { level: 7, logger: {}, data: null },
      { data: 'x'.repeat(1e6) },
      { data: cycle },
      { level: 'x'.repeat(1e6) },
    ])
      session.say(MESSAGE, params);
    expect(events).toHaveLength(5);
    for (const event of events) expect(JSON.stringify(event).length).toBeLessThan(limits.logMessages.chars + 500);
  });

  verifies('RES-10', 'in a flood is only counted, and the count is told', async () => {
    const session = createFakeSession();
    const { clock, events } = watch(session);
    for (let n = 0; n < 100_000; n++) session.say(MESSAGE, { level: 'info', data: `${n}` });
    expect(events).toHaveLength(limits.logMessages.count);
    await clock.advance(limits.logMessages.windowMs);
    session.say(MESSAGE, { level: 'info', data: 'after' });
    session.say(MESSAGE, { level: 'info', data: 'next' });
    expect(events.slice(-2)).toMatchObject([
      { text: 'after', leftOut: 100_000 - limits.logMessages.count },
      { text: 'next' },
    ]);
    expect(events.at(-1)).not.toHaveProperty('leftOut');
  });

  verifies('RES-10', 'is written into the log of its server', async () => {
    const session = createFakeSession();
    const notes: string[] = [];
    const note = (text: string) => void notes.push(text);
    const log = { note, noteOwn: note, take: () => undefined, close: async () => undefined };
    const logging = { log, clock: createFakeClock(), signal: new AbortController().signal };
    await openLogged(logging, async () => session);
    session.say(MESSAGE, { level: 'warning', logger: 'db', data: 'slow' });
    expect(notes).toEqual(['message warning db: slow']);
    expect(logLineOf({ level: 'info', text: 'x', leftOut: 3 })).toBe('(3 messages left out) message info: x');
  });
});

describe('the level', () => {
  const asked = (session: FakeSession, settings: Partial<ServerSettings>) => {
    watch(session, settings);
    return session.asked;
  };

  verifies('RES-10', 'is asked for where the entry says so and the server knows levels', () => {
    const logging = () => createFakeSession({ capabilities: { logging: {} } });
    expect(asked(logging(), { logLevel: 'warning' })).toEqual([
      { method: 'logging/setLevel', params: { level: 'warning' } },
    ]);
    expect(asked(logging(), {})).toEqual([]);
    expect(asked(createFakeSession(), { logLevel: 'warning' })).toEqual([]);
    const modern = createFakeSession({ era: 'modern', capabilities: { logging: {} } });
    expect(asked(modern, { logLevel: 'warning' }), 'it is said with each request there').toEqual([]);
  });
});
