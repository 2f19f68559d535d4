// Owns the proof of the `reconnect` and `health` keys of an entry: the presets to the millisecond, and every shape in which
// people write their own.

import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { createBackoff } from '../../../src/kernel/backoff.ts';
import type { ServerSettings } from '../../../src/model/server.ts';
import { verifies } from '../../verifies.ts';
import { createFolder, environment, loadFolder, messagesOf, USER } from './folder.ts';

const JSON_FILE = USER.replace('.toml', '.json');
const loadEntry = (entry: object) =>
  loadFolder({ [JSON_FILE]: JSON.stringify({ mcpServers: { it: { command: 'x', ...entry } } }, null, 1) });

async function settingsOf(entry: object): Promise<ServerSettings> {
  const { definitions, diagnostics } = await loadEntry(entry);
  expect(diagnostics).toEqual([]);
  return (definitions[0] ?? expect.fail('no definition')).settings;
}

const reconnectOf = async (reconnect: unknown) => (await settingsOf({ reconnect })).reconnect;
const healthOf = async (health: unknown) => (await settingsOf({ health })).health;

/** In the middle of the jitter, until there is none left. */
function delaysOf({ schedule }: ServerSettings['reconnect']): readonly number[] {
  const delayFor = createBackoff(schedule, () => 0.5);
  const delays: number[] = [];
  for (let delay = delayFor(1); delay !== undefined; delay = delayFor(delays.length + 1)) delays.push(delay);
  return delays;
}

describe('a preset', () => {
  verifies('REC-01', 'doubling waits 1, 2 and 4 s, and never over 30 s', async () => {
    const doubling = await reconnectOf('doubling');
    expect(delaysOf(doubling)).toEqual([1_000, 2_000, 4_000]);
    expect(doubling).toEqual({
      schedule: { initialMs: 1_000, multiplier: 2, maxMs: 30_000, maxAttempts: 3, jitter: 0.2 },
    });
  });

  verifies(
    'REC-02',
    'quick doubles from 100 ms up to 10 s for five attempts, whatever the ping threshold',
    async () => {
      const { reconnect, health } = await settingsOf({ reconnect: 'quick', health: { failures: 2 } });
      expect([delaysOf(reconnect), health.failures]).toEqual([[100, 200, 400, 800, 1_600], 2]);
      expect(reconnect.schedule).toMatchObject({ maxMs: 10_000 });
      expect(reconnect).not.toHaveProperty('background');
    },
  );

  verifies('REC-03', 'steady, the default, waits 500, 1000, 2000 and 4000 ms, with a background', async () => {
    const steady = await reconnectOf('steady');
    expect(delaysOf(steady)).toEqual([500, 1_000, 2_000, 4_000]);
    expect(steady.background).toEqual({ baseMs: 15_000, maxMs: 300_000 });
    expect((await settingsOf({})).reconnect).toEqual(steady);
  });

  verifies('REC-04', 'patient waits 2, 5 and 15 s', async () => {
    const patient = await reconnectOf('patient');
    expect([delaysOf(patient), patient.background]).toEqual([[2_000, 5_000, 15_000], undefined]);
  });

  verifies('REC-05', 'none has no attempt', async () => {
    expect([delaysOf(await reconnectOf('none')), await reconnectOf('none')]).toEqual([
      [],
      { schedule: { delaysMs: [], jitter: 0.2 } },
    ]);
  });

  verifies('REC-06', 'that nobody knows is told with all five', async () => {
    expect(messagesOf(await loadEntry({ reconnect: 'fast' }))).toEqual([
      'error: "reconnect" must be "doubling", "quick", "steady", "patient", "none" or a map of settings, but is the string "fast"',
    ]);
  });

  test('is shared by all that name it, and cannot be changed', async () => {
    const servers = { a: { command: 'x' }, b: { command: 'y', reconnect: 'steady', health: 'remote' } } as const;
    // Not `loadFolder`, which copies the servers.
    const { definitions } = await loadConfig({ ...environment(await createFolder()), servers });
    const [a, b] = definitions.map(({ settings }) => settings);
    expect([a?.reconnect === b?.reconnect, a?.health === b?.health]).toEqual([true, true]);
    const parts = [a?.reconnect, a?.reconnect.schedule, Object(a?.reconnect.schedule).delaysMs, a?.health];
    expect([...parts, a?.reconnect.background].map(Object.isFrozen)).toEqual([true, true, true, true, true]);
  });
});

describe('a schedule of one’s own', () => {
  const cases: Record<string, [written: object, policy: object]> = {
    'is a list': [{ delaysMs: [5, 0] }, { schedule: { delaysMs: [5, 0], jitter: 0.2 } }],
    'is a list in seconds, in snake_case': [
      { delays_sec: [1, 0.25, 0], jitter: 0 },
      { schedule: { delaysMs: [1_000, 250, 0], jitter: 0 } },
    ],
    'is a rule': [
      { initialMs: 10, multiplier: 3, maxMs: 50, maxAttempts: 4, jitter: 1 },
      { schedule: { initialMs: 10, multiplier: 3, maxMs: 50, maxAttempts: 4, jitter: 1 } },
    ],
    'is a rule in seconds, in snake_case': [
      { initial_sec: 0.5, max_sec: 9, max_attempts: 0 },
      { schedule: { initialMs: 500, multiplier: 2, maxMs: 9_000, maxAttempts: 0, jitter: 0.2 } },
    ],
    'is that of doubling where a rule says no more': [
      { maxAttempts: 9 },
      { schedule: { initialMs: 1_000, multiplier: 2, maxMs: 30_000, maxAttempts: 9, jitter: 0.2 } },
    ],
    'is that of steady where it says nothing of it, without a background': [
      { jitter: 0.5 },
      { schedule: { delaysMs: [500, 1_000, 2_000, 4_000], jitter: 0.5 } },
    ],
    'has a background when it says so': [
      { delaysMs: [], background: {} },
      { schedule: { delaysMs: [], jitter: 0.2 }, background: { baseMs: 15_000, maxMs: 300_000 } },
    ],
    'has the background that it says, in any spelling': [
      { delaysMs: [], background: { base_sec: 2, maxMs: 7 } },
      { schedule: { delaysMs: [], jitter: 0.2 }, background: { baseMs: 2_000, maxMs: 7 } },
    ],
    'has none when it says so': [
      { background: false },
      { schedule: { delaysMs: [500, 1_000, 2_000, 4_000], jitter: 0.2 } },
    ],
  };
  for (const [sentence, [written, policy]] of Object.entries(cases))
    verifies('REC-06', sentence, async () => expect(await reconnectOf(written)).toEqual(policy));

  const wrong: Record<string, [written: unknown, message: string, line: number]> = {
    'a switch': [
      false,
      '"reconnect" must be "doubling", "quick", "steady", "patient", "none" or a map of settings, but is false',
      5,
    ],
    'a wait that is none': [
      { delays_ms: [1, 'x'] },
      '"reconnect.delays_ms[1]" must be a number, 0 or more, but is the string "x"',
      8,
    ],
    'a negative wait': [
      { delaysMs: [-1] },
      '"reconnect.delaysMs[0]" must be a number, 0 or more, but is the number -1',
      7,
    ],
    'no wait at first': [{ initialMs: 0 }, '"reconnect.initialMs" must be a number above 0, but is the number 0', 6],
    'a shrinking wait': [
      { multiplier: 0.5 },
      '"reconnect.multiplier" must be a number, 1 or more, but is the number 0.5',
      6,
    ],
    'half an attempt': [
      { max_attempts: 1.5 },
      '"reconnect.max_attempts" must be a whole number, 0 or more, but is the number 1.5',
      6,
    ],
    'too much chance': [{ jitter: 2 }, '"reconnect.jitter" must be a number from 0 to 1, but is the number 2', 6],
    'a background without a shape': [
      { background: true },
      '"reconnect.background" must be false or a map of settings, but is true',
      6,
    ],
    'a background without rest': [
      { background: { base_ms: 0 } },
      '"reconnect.background.base_ms" must be a number above 0, but is the number 0',
      7,
    ],
    'a list and a rule': [
      { delays_ms: [1], max_attempts: 2 },
      '"delaysMs" and "maxAttempts" are both set, so it is unclear how long to wait before each attempt',
      9,
    ],
  };
  for (const [what, [reconnect, message, line]] of Object.entries(wrong)) {
    verifies('REC-06', `with ${what} is told with its place`, async () => {
      const { definitions, diagnostics } = await loadEntry({ reconnect });
      expect(definitions).toEqual([]);
      expect(diagnostics.map((each) => [each.severity, each.message, each.line])).toEqual([['error', message, line]]);
    });
  }

  test('with a key that nobody knows is told, with what may have been meant', async () => {
    const { definitions, diagnostics } = await loadEntry({ reconnect: { delay_ms: [1], background: { bas_ms: 1 } } });
    expect(definitions).toHaveLength(1);
    expect(diagnostics.map(({ message, remedy, line }) => [message, remedy, line])).toEqual([
      ['"bas_ms" is not a setting of "reconnect.background" and without effect', 'Did you mean "base_ms"?', 10],
      ['"delay_ms" is not a setting of "reconnect" and without effect', 'Did you mean "delays_ms"?', 6],
    ]);
  });
});

describe('health', () => {
  const usual = { mode: 'remote', intervalMs: 30_000, timeoutMs: 5_000, failures: 5 };
  const cases: Record<string, [written: unknown, policy: object]> = {
    'is a word': ['all', { ...usual, mode: 'all' }],
    'is off with that word': ['off', { ...usual, mode: 'off' }],
    'is off with false': [false, { ...usual, mode: 'off' }],
    'is a map, of which the rest is as usual': [{ failures: 1 }, { ...usual, failures: 1 }],
    'is a map in any spelling': [
      { mode: 'all', interval_sec: 1, timeoutMs: 2, failures: 3 },
      { mode: 'all', intervalMs: 1_000, timeoutMs: 2, failures: 3 },
    ],
  };
  for (const [sentence, [written, policy]] of Object.entries(cases))
    verifies('REC-16', sentence, async () => expect(await healthOf(written)).toEqual(policy));

  verifies('REC-16', 'is, unsaid, for remote servers', async () => {
    expect((await settingsOf({})).health).toEqual(usual);
  });

  const wrong: Record<string, [written: unknown, message: string]> = {
    'another word': ['on', '"health" must be "remote", "all", "off" or a map of settings, but is the string "on"'],
    true: [true, '"health" must be "remote", "all", "off" or a map of settings, but is true'],
    'another mode': [{ mode: 'on' }, '"health.mode" must be "remote", "all" or "off", but is the string "on"'],
    'no interval': [{ interval_ms: 0 }, '"health.interval_ms" must be a number above 0, but is the number 0'],
    'no failure': [{ failures: 0 }, '"health.failures" must be a whole number above 0, but is the number 0'],
  };
  for (const [what, [health, message]] of Object.entries(wrong)) {
    test(`with ${what} is told`, async () => {
      expect(messagesOf(await loadEntry({ health }))).toEqual([`error: ${message}`]);
    });
  }
});
