// Owns the fault matrix over stdio: real processes that die, hang, babble, flood and refuse to go.

import { describe, expect, test } from 'vitest';
import { runs } from '../effort.ts';
import { eventually, isRunning } from '../servers/processes.ts';
import { verifies } from '../verifies.ts';
import {
  closings,
  deaths,
  news,
  once,
  returns,
  silentCalls,
  silentHandshakes,
  silentLists,
  sizes,
  wrongWords,
} from './common.ts';
import { endOf, faultCase } from './harness.ts';

const transport = 'stdio';
const KILLS = runs(50);

describe('a server that dies', () => {
  for (const [sentence, run] of deaths({ transport })) verifies(['REC-12', 'EXT-06'], sentence, run);
  for (const [sentence, run] of returns({ transport })) verifies(['REC-07', 'REC-08', 'ERR-06'], sentence, run);

  verifies(
    ['REC-14', 'REC-21'],
    'a server that exits at once is started a few times, and then only by a person',
    faultCase(
      { transport, flags: ['--fault', 'exit', '--at', 'open', '--times', '1000'], next: 'after reconnect' },
      async (scene) => {
        const { error } = await scene.until('failed');
        expect(error).toMatchObject({ code: 'CONNECTION_LOST', remedy: 'retry-later' });
        expect(error?.message).toContain('exited with code 3');
        // Four attempts, and each may have thought that it was the probe that killed it.
        expect(scene.peer.journal().length).toBeLessThanOrEqual(8);
        scene.peer.heal();
      },
    ),
  );

  verifies(
    'REC-07',
    'a server that flaps a few times is there once it stays',
    faultCase(
      {
        transport,
        settings: { reconnect: { delaysMs: Array(20).fill(20), jitter: 0 } },
        flags: ['--fault', 'flap', '--ms', '30', '--times', '3'],
        next: 'once ready',
      },
      async (scene) => {
        await eventually(() => scene.peer.journal().filter((line) => line === 'tools/list').length === 4);
      },
    ),
  );

  verifies(
    ['REC-07', 'REC-12', 'EXT-06'],
    `a server that is killed ${KILLS} times in a minute costs no call but those in flight`,
    faultCase({ transport, speed: 200 }, async (scene) => {
      for (let death = 0; death < KILLS; death++) {
        const write = scene.write(600_000);
        await eventually(() => scene.peer.effects().length > death);
        await scene.kill();
        expect(await write).toBe('OUTCOME_UNKNOWN');
        // One answer in between, or three losses in a row would give the server a rest.
        expect(await scene.call('echo', { text: 'between' })).toBe('answered');
      }
      expect(new Set(scene.peer.effects()).size).toBe(KILLS);
    }),
    { timeout: 300_000 },
  );
});

describe('a server that is silent', () => {
  for (const [sentence, run] of silentHandshakes({ transport })) {
    verifies(['LIF-11', 'LIF-12', 'ERR-03'], sentence, run);
  }
  for (const [sentence, run] of silentLists({ transport })) verifies('ERR-04', sentence, run);
  for (const [sentence, run] of silentCalls({ transport })) verifies(['CAL-06', 'CAL-08'], sentence, run);
  for (const [sentence, run] of closings({ transport })) verifies(['LIF-14', 'TDN-02'], sentence, run);

  test(
    'one that closes its output is not waited for',
    faultCase({ transport, flags: ['--fault', 'end', '--times', '1'] }, async (scene) => {
      expect(await scene.write()).toBe('OUTCOME_UNKNOWN');
    }),
  );

  test(
    'an answer that trickles in for ever ends with its time',
    faultCase({ transport, flags: once('drip'), next: 'after reconnect' }, async (scene) =>
      expect(endOf(await scene.timedOut())).toBe('CALL_TIMEOUT'),
    ),
  );
});

describe('a server that is slow to start', () => {
  for (const era of ['legacy', 'modern']) {
    verifies(
      'LIF-09',
      `longer than the probe waits, is found to be ${era}, whatever it answers first`,
      faultCase({ transport, speed: 10, flags: ['--era', era, '--start-ms', '400'] }, (scene) => {
        expect(scene.status()).toMatchObject({
          state: 'connected',
          protocol: era === 'modern' ? '2026-07-28' : '2025-11-25',
        });
      }),
    );
  }

  verifies(
    'LIF-09',
    'longer than the probe waits, and dies of it, is started again without it',
    faultCase(
      { transport, speed: 10, flags: ['--start-ms', '400', '--fault', 'exit', '--at', 'server/discover'] },
      (scene) => {
        expect(scene.status()).toMatchObject({ state: 'connected', protocol: '2025-11-25' });
        expect(scene.peer.journal().filter((line) => line === 'server/discover').length).toBeLessThanOrEqual(1);
      },
    ),
  );
});

describe('a server that babbles', () => {
  const modern = { transport, label: 'stdio in the modern era', flags: ['--era', 'modern'] } as const;
  for (const [sentence, run] of [...wrongWords({ transport }), ...wrongWords(modern, { stages: ['initialize'] })]) {
    verifies(['TRN-01', 'CAL-12'], sentence, run);
  }

  verifies(
    'TRN-01',
    'a banner before the first message is told and skipped',
    faultCase({ transport, flags: ['--fault', 'banner'] }, (scene) => {
      const noise = scene.events.flatMap((event) => (event.type === 'connection.noise-received' ? [event.line] : []));
      expect(noise[0]).toContain('Welcome');
    }),
  );

  verifies(
    'TRN-02',
    '50 MB on stderr hold up no call',
    faultCase({ transport, flags: ['--fault', 'stderr', '--bytes', '50000000'] }, async (scene) => {
      expect(await Promise.all([scene.write(), scene.call('sleep', { ms: 100 })])).toEqual(['answered', 'answered']);
    }),
  );
});

describe('the news of a modern server', () => {
  const faults = {
    'is never acknowledged': ['--fault', 'hang', '--when', 'before'],
    'carries junk': ['--fault', 'junk'],
    'is ended by the server': ['--fault', 'null-result'],
  };
  for (const [sentence, run] of news({ transport }, faults)) verifies('EXT-01', sentence, run);
});

describe('a server that says too much', () => {
  for (const [sentence, run] of sizes({ transport })) verifies('TRN-01', sentence, run);
});

describe('a server that will not go', () => {
  const stubborn = ['ignore-eof', 'ignore-sigterm'].flatMap((fault) => ['--fault', fault]);

  const families: Record<string, readonly string[]> = {
    'ignores the end of its input': ['--fault', 'ignore-eof'],
    'ignores SIGTERM too': stubborn,
    'has a grandchild that ignores both': ['--fault', 'grandchild'],
    'has a grandchild in a session of its own': [...stubborn, '--fault', 'grandchild-detached'],
  };
  for (const [what, flags] of Object.entries(families)) {
    verifies(
      ['TDN-03', 'TDN-04'],
      `one that ${what} is gone after close, with its descendants`,
      faultCase({ transport, speed: 10, flags, next: 'never' }, async (scene) => {
        const count = flags.some((flag) => flag.startsWith('grandchild')) ? 2 : 1;
        await eventually(() => scene.peer.pids().length === count);
        await scene.call('echo', { text: '' });
        await scene.runtime.close();
        expect(scene.peer.pids().filter(isRunning)).toEqual([]);
      }),
    );

    verifies(
      ['TDN-04', 'REC-07'],
      `one that ${what} leaves nobody when it is killed, and comes back`,
      faultCase({ transport, speed: 10, flags }, async (scene) => {
        const count = flags.some((flag) => flag.startsWith('grandchild')) ? 2 : 1;
        const first = await eventually(() => scene.peer.pids().length === count && scene.peer.pids());
        await scene.kill();
        await eventually(() => scene.peer.pids().length === 2 * count);
        expect(first.filter(isRunning)).toEqual([]);
      }),
    );
  }
});
