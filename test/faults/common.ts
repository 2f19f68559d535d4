// Owns the faults that every transport can meet, as rows: a sentence and its case. The files beside it run them, each for
// one transport, and say which promises they prove. Faults that no transport can tell apart are in `words.test.ts`.

import { expect } from 'vitest';
import { isLong } from '../effort.ts';
import { eventually } from '../servers/processes.ts';
import { endOf, type FaultCase, faultCase, type Scene } from './harness.ts';
import type { Transport } from './peer.ts';

/** A transport, and the flags that make its server speak in one of its ways. */
export interface Target {
  readonly transport: Transport;
  readonly label?: string;
  readonly flags?: readonly string[];
}

export type Row = readonly [sentence: string, run: () => Promise<void>];

const eras = ['legacy', 'modern'] as const;
/** The older SSE transport never learned the new era. */
const erasOf = (transport: Transport) => (transport === 'sse' ? (['legacy'] as const) : eras);

/** Long enough for a server that has to be started again by hand, on a machine that has much else to do. */
export const reconnect = { delaysMs: [20, 50, 100, 200, 400, 800, ...Array<number>(20).fill(1_600)], jitter: 0 };

/** What only begins once: the other lives of the server are healthy. */
export const once = (fault: string, ...flags: readonly string[]) => ['--fault', fault, '--times', '1', ...flags];

type Rest = Omit<FaultCase, 'transport'>;

/** The flags of a case come after those of its target. */
const rowsOn =
  ({ transport, label = transport, flags = [] }: Target) =>
  (sentence: string, given: Rest, act: (scene: Scene) => void | Promise<void>): Row => [
    `over ${label}, ${sentence}`,
    faultCase({ ...given, transport, flags: [...flags, ...(given.flags ?? [])] }, act),
  ];

/** The server dies during a call. */
export function deaths(on: Target): Row[] {
  const row = rowsOn(on);
  const settings = { reconnect };
  // A local server is brought back at once; of a remote one only the connection may go, or nobody would be there.
  const loss = on.transport === 'stdio' ? 'die' : 'reset';
  const trusting = { settings: { ...settings, trustHints: true } };
  const killedDuring = async (scene: Scene, call: Promise<string>) => {
    await eventually(() => scene.peer.effects().length > 0);
    await scene.kill();
    await scene.revive();
    return call;
  };
  return [
    ...erasOf(on.transport).map((era) =>
      row(
        `a write whose ${era} server is killed after the effect ends as unknown and is not made again`,
        { settings, flags: ['--era', era] },
        async (scene) => {
          expect(await killedDuring(scene, scene.write(5_000))).toBe('OUTCOME_UNKNOWN');
          expect(scene.peer.effects()).toEqual(['w1']);
        },
      ),
    ),
    row('a trusted hint does not make a plain write repeatable', trusting, async (scene) => {
      expect(await killedDuring(scene, scene.write(5_000))).toBe('OUTCOME_UNKNOWN');
      expect(scene.peer.effects()).toEqual(['w1']);
    }),
    row(
      'a call that only reads is made again when its hints are trusted',
      { ...trusting, flags: once(loss) },
      async (scene) => expect(await scene.call('sleep', { ms: 10 })).toBe('answered'),
    ),
    row(
      'a write that may be repeated is made again when its hints are trusted',
      { ...trusting, flags: once(loss) },
      async (scene) => {
        expect(await scene.call('put', { text: 'p' })).toBe('answered');
        expect(scene.peer.effects()).toEqual(['p', 'p']);
      },
    ),
    row('without trusted hints nothing is made again', { settings, flags: once(loss) }, async (scene) => {
      expect(await scene.call('put', { text: 'p' })).toBe('OUTCOME_UNKNOWN');
      expect(scene.peer.effects()).toEqual(['p']);
    }),
    row('every one of many calls in flight settles when the server is killed', { settings }, async (scene) => {
      const calls = Array.from({ length: 20 }, () => scene.write(5_000));
      await eventually(() => scene.peer.effects().length === 20);
      await scene.kill();
      await scene.revive();
      expect(new Set(await Promise.all(calls))).toEqual(new Set(['OUTCOME_UNKNOWN']));
    }),
    row('half an answer, then death, is no answer', { settings, flags: once('half') }, async (scene) => {
      expect(await scene.write()).toBe('OUTCOME_UNKNOWN');
      await scene.revive();
    }),
    row('an exit during a call leaves its outcome unknown', { settings, flags: once('exit') }, async (scene) => {
      expect(await scene.write()).toBe('OUTCOME_UNKNOWN');
      await scene.revive();
    }),
  ];
}

export const background = { startup: { whenUncached: 'background', gateMs: 1 } } as const;

/** The server comes back. */
export function returns(on: Target): Row[] {
  const row = rowsOn(on);
  const settings = { reconnect };
  return [
    ...(['initialize', 'list'] as const).map((stage) =>
      row(
        `a server that dies at ${stage} once is brought up all the same`,
        { settings, flags: once('die', '--at', stage), next: 'once ready', options: background },
        async (scene) => {
          if (on.transport !== 'stdio') await eventually(() => scene.peer.isGone);
          await scene.revive();
        },
      ),
    ),
    row(
      'a server that missed its first handshake is tried again by itself',
      { settings: { reconnect }, flags: once('hang', '--at', 'initialize'), options: background, next: 'once ready' },
      (scene) => scene.asksAgain(),
    ),
    row('a server that is killed again and again serves every call in between', { settings }, async (scene) => {
      for (let death = 0; death < 5; death++) {
        expect(await scene.call('echo', { text: 'between' })).toBe('answered');
        await scene.kill();
        await scene.revive();
      }
    }),
  ];
}

/** The server says nothing to the handshake. */
export function silentHandshakes(on: Target): Row[] {
  const row = rowsOn(on);
  return [
    row(
      'a server that never answers the handshake is given up in time, and says so',
      {
        settings: { startupTimeoutMs: 300, reconnect: 'none' },
        flags: ['--fault', 'hang', '--at', 'initialize'],
        next: 'never',
      },
      (scene) => {
        expect(scene.status().error).toMatchObject({ code: 'STARTUP_TIMEOUT', remedy: 'retry-later' });
      },
    ),
  ];
}

/** The server says nothing when it is asked for its tools. */
export function silentLists(on: Target): Row[] {
  const row = rowsOn(on);
  return [
    row(
      'a server that never answers its list stays up, is not ready until it does, and is asked again',
      { flags: once('hang', '--at', 'list'), options: background, next: 'once ready' },
      async (scene) => {
        expect(await scene.until('connecting')).toMatchObject({ toolCount: 0, status: 'connecting' });
        await scene.asksAgain();
        expect(scene.status(), 'its first attempt was not given up').not.toHaveProperty('lastError');
      },
    ),
  ];
}

/** The server says nothing to a call. */
export function silentCalls(on: Target): Row[] {
  const row = rowsOn(on);
  return [
    ...erasOf(on.transport).map((era) =>
      row(
        `a ${era} call that is never answered ends in time, and the next is answered`,
        { flags: once('hang', '--era', era) },
        async (scene) => expect(endOf(await scene.timedOut())).toBe('CALL_TIMEOUT'),
      ),
    ),
    row('a call that hangs can be called off', { flags: once('hang') }, async (scene) => {
      const wish = new AbortController();
      const call = scene.ending('write', { text: 'w' }, wish.signal);
      await eventually(() => scene.peer.effects().length === 1);
      wish.abort();
      expect((await call).kind).toBe('aborted');
    }),
    row('a frozen server costs the call, and works when it thaws', { flags: once('freeze') }, async (scene) => {
      expect(endOf(await scene.timedOut())).toBe('CALL_TIMEOUT');
      process.kill(scene.peer.pids().at(-1) ?? 0, 'SIGCONT');
    }),
  ];
}

/** The runtime is closed while something hangs. */
export function closings(on: Target): Row[] {
  const row = rowsOn(on);
  return [
    row(
      'a frozen server is closed nevertheless',
      { speed: 10, flags: once('freeze'), next: 'never' },
      async (scene) => {
        const call = scene.write();
        await eventually(() => scene.peer.journal().some((line) => line.startsWith('tools/call')));
        await scene.runtime.close();
        expect(await call).toBe('OUTCOME_UNKNOWN');
      },
    ),
    row('closing settles the calls that hang', { flags: ['--fault', 'hang'], next: 'never' }, async (scene) => {
      const calls = [scene.write(), scene.call('echo', { text: '' })];
      await eventually(() => scene.peer.journal().filter((line) => line.startsWith('tools/call')).length === 2);
      await scene.runtime.close();
      expect(await Promise.all(calls)).toEqual(['OUTCOME_UNKNOWN', 'OUTCOME_UNKNOWN']);
    }),
    ...(['initialize', 'list'] as const).map((stage) =>
      row(
        `closing ends an attempt that hangs at ${stage}`,
        { flags: ['--fault', 'hang', '--at', stage], options: background, next: 'never' },
        async (scene) => {
          const method = stage === 'list' ? /^tools\/list/ : /^(initialize|server\/discover)/;
          await eventually(() => scene.peer.journal().some((line) => method.test(line)));
        },
      ),
    ),
  ];
}

/** How a call ends whose answer is wrong, when the channel goes on carrying others. */
export const wrongAnswers = {
  'unknown-ids': 'answered',
  twice: 'answered',
  noise: 'answered',
  'odd-error': 'answered',
  both: 'answered',
  neither: 'RESULT_BROKEN',
  'null-result': 'RESULT_BROKEN',
  'no-id': 'CALL_TIMEOUT',
  text: 'CALL_TIMEOUT',
  junk: 'CALL_TIMEOUT',
  batch: 'answered',
} as const;

export type WrongAnswer = keyof typeof wrongAnswers;

/** What each transport has to tell from a message itself. All the others are one matter of JSON-RPC: `words.test.ts`. */
const framing: readonly WrongAnswer[] = ['noise', 'text', 'junk', 'batch'];

export interface WrongWords {
  /** How calls end otherwise with this transport; these are its own matter too. */
  readonly instead?: Partial<Record<WrongAnswer, string>>;
  /** Where else than at a call; both unless another row has shown it already. */
  readonly stages?: readonly ('initialize' | 'list')[];
}

/** The server answers what the protocol does not allow. The long run puts every word to every transport. */
export function wrongWords(on: Target, { instead = {}, stages = ['initialize', 'list'] }: WrongWords = {}): Row[] {
  const row = rowsOn(on);
  const names = (Object.keys(wrongAnswers) as WrongAnswer[]).filter(
    (fault) => isLong || framing.includes(fault) || fault in instead,
  );
  return [
    ...names.map((fault) =>
      row(
        `the answer to a call with the fault "${fault}" harms no other call`,
        { flags: once(fault) },
        async (scene) => {
          const end = instead[fault] ?? wrongAnswers[fault];
          expect(end === 'CALL_TIMEOUT' ? endOf(await scene.timedOut()) : await scene.write()).toBe(end);
        },
      ),
    ),
    ...names.flatMap((fault) =>
      stages.map((stage) =>
        row(
          `a server whose answer to ${stage} has the fault "${fault}" once is usable all the same`,
          {
            settings: { reconnect },
            flags: once(fault, '--at', stage),
            options: background,
            next: 'once ready',
          },
          (scene) => scene.asksAgain(),
        ),
      ),
    ),
  ];
}

const PING_MS = 20_000;

/** The server answers calls, but no ping. */
export function pings(on: Target): Row[] {
  const row = rowsOn(on);
  const initializations = (scene: Scene) => scene.peer.journal().filter((line) => line === 'initialize').length;
  return [
    row(
      'a server that answers no ping for minutes is connected anew',
      { settings: { reconnect, startupTimeoutMs: 4_000_000 }, flags: ['--fault', 'hang', '--at', 'ping'] },
      async (scene) => {
        await scene.whileTimeFlies(eventually(() => initializations(scene) >= 2));
        await scene.until('connected');
      },
    ),
    row(
      'a server that misses one ping keeps its session',
      {
        settings: { reconnect, health: { mode: 'all', intervalMs: 100, timeoutMs: PING_MS, failures: 2 } },
        flags: once('hang', '--at', 'ping'),
      },
      async (scene) => {
        const pinged = (times: number) => () => scene.peer.journal().filter((line) => line === 'ping').length >= times;
        await scene.struck();
        // Until the first is given up: the server must have the whole time for the next, on any machine.
        await scene.elapse(PING_MS);
        await eventually(pinged(5));
        expect(initializations(scene)).toBe(1);
      },
    ),
  ];
}

/** The stream of news of a modern server breaks in one of these ways. */
export function news(on: Target, faults: Readonly<Record<string, readonly string[]>>): Row[] {
  const row = rowsOn({ ...on, flags: ['--era', 'modern', '--listen', ...(on.flags ?? [])] });
  const asked = (scene: Scene) => scene.peer.journal().filter((line) => line === 'subscriptions/listen').length;
  return Object.entries(faults).flatMap(([what, flags]) => [
    row(
      `a stream of news that ${what} harms nothing, and is not asked for in a circle`,
      // Slow, so that no pause between two attempts ends while the calls are answered.
      { speed: 0.05, flags: [...flags, '--at', 'listen'] },
      async (scene) => {
        await eventually(() => asked(scene) > 0);
        expect(await scene.write()).toBe('answered');
        await scene.answers(30);
        expect(asked(scene)).toBeLessThan(4);
      },
    ),
  ]);
}

/** The server says too much. */
export function sizes(on: Target): Row[] {
  const row = rowsOn(on);
  return [
    row('a message of 20 MB is read', {}, async (scene) => {
      const ending = await scene.ending('big', { bytes: 20 * 1024 * 1024 });
      expect(ending).toMatchObject({ kind: 'answered', outcome: { isError: false } });
    }),
    row(
      'a message over the limit is dropped, and its call says so',
      { settings: { maxMessageBytes: 1_000_000, reconnect } },
      async (scene) => expect(await scene.call('big', { bytes: 3 * 1024 * 1024 })).toBe('MESSAGE_TOO_LARGE'),
    ),
    // A WebSocket ends with a frame that is too large: the library reads no further.
    ...(on.transport === 'ws'
      ? []
      : [
          row(
            'a message over the limit costs no other call',
            { settings: { maxMessageBytes: 1_000_000 } },
            async (scene) => {
              const calls = [scene.call('big', { bytes: 3 * 1024 * 1024 }), scene.write(300)];
              expect(await Promise.all(calls)).toEqual(['MESSAGE_TOO_LARGE', 'answered']);
            },
          ),
        ]),
    row(
      'a list over the limit is a list that failed, and is asked for again',
      {
        speed: 10,
        settings: { maxMessageBytes: 1_000_000 },
        flags: once('huge', '--at', 'list', '--bytes', '3000000'),
        next: 'once ready',
      },
      () => undefined,
    ),
    row('a list of endless pages is cut off', { flags: ['--fault', 'pages-forever'], next: 'never' }, (scene) => {
      expect(scene.status()).toMatchObject({ state: 'connected', toolCount: 400 });
      expect(scene.peer.journal().filter((line) => line === 'tools/list').length).toBeLessThan(1_000);
    }),
  ];
}
