// Owns the fault matrix over WebSocket: upgrades that fail, frames that lie, and closes of every code.

import { describe, expect, test } from 'vitest';
import { halfOf } from '../effort.ts';
import { verifies } from '../verifies.ts';
import {
  closings,
  deaths,
  news,
  once,
  pings,
  reconnect,
  returns,
  silentCalls,
  silentHandshakes,
  silentLists,
  sizes,
  wrongWords,
} from './common.ts';
import { endOf, faultCase } from './harness.ts';

const transport = 'ws';
const on = { transport } as const;

describe('a server', () => {
  for (const [sentence, run] of halfOf(deaths(on))) verifies(['REC-12', 'EXT-06'], sentence, run);
  for (const [sentence, run] of halfOf(returns(on))) verifies(['REC-07', 'REC-08', 'ERR-06'], sentence, run);
  for (const [sentence, run] of halfOf(silentHandshakes(on))) verifies(['LIF-11', 'LIF-12', 'ERR-03'], sentence, run);
  for (const [sentence, run] of halfOf(silentLists(on))) verifies('ERR-04', sentence, run);
  for (const [sentence, run] of halfOf(silentCalls(on))) verifies(['CAL-06', 'CAL-08'], sentence, run);
  for (const [sentence, run] of halfOf(closings(on))) verifies(['LIF-14', 'TDN-02'], sentence, run);
  for (const [sentence, run] of halfOf(wrongWords(on))) verifies(['TRN-05', 'CAL-12'], sentence, run);
  for (const [sentence, run] of halfOf(pings(on))) verifies('REC-16', sentence, run);
  for (const [sentence, run] of halfOf(sizes(on))) verifies('TRN-05', sentence, run);
});

describe('the news of a modern server', () => {
  const faults = {
    'is never acknowledged': ['--fault', 'hang', '--when', 'before'],
    'carries junk': ['--fault', 'junk'],
    'is ended by the server': ['--fault', 'null-result'],
  };
  for (const [sentence, run] of halfOf(news(on, faults))) verifies('EXT-01', sentence, run);
});

describe('the socket', () => {
  for (const code of ['1000', '1001', '1011', '1012', '4000']) {
    verifies(
      ['TRN-05', 'REC-07'],
      `that is closed with ${code} during a call leaves its outcome unknown, and is opened again`,
      faultCase({ transport, settings: { reconnect }, flags: once('end', '--close-code', code) }, async (scene) => {
        expect(await scene.write()).toBe('OUTCOME_UNKNOWN');
      }),
    );
  }

  for (const fault of ['reset', 'not-http']) {
    verifies(
      ['TRN-05', 'REC-07'],
      `that breaks (${fault}) during a call leaves its outcome unknown, and is opened again`,
      faultCase({ transport, settings: { reconnect }, flags: once(fault) }, async (scene) => {
        expect(await scene.write()).toBe('OUTCOME_UNKNOWN');
      }),
    );
  }

  verifies(
    'TRN-05',
    'that carries a message without an end costs the call its time',
    faultCase({ transport, settings: { reconnect }, flags: once('drip'), next: 'after reconnect' }, async (scene) => {
      expect(endOf(await scene.timedOut())).toBe('CALL_TIMEOUT');
    }),
  );

  for (const [what, flags] of Object.entries({
    'is refused with 500': ['--fault', 'status', '--status', '500'],
    'is refused with 503': ['--fault', 'status', '--status', '503'],
    'is refused with 429': ['--fault', 'status', '--status', '429'],
    'is reset': ['--fault', 'reset'],
    'is closed at once': ['--fault', 'end'],
    'is not HTTP': ['--fault', 'not-http'],
  })) {
    verifies(
      ['TRN-05', 'REC-08'],
      `whose upgrade ${what} twice is opened the third time`,
      faultCase(
        { transport, settings: { reconnect }, flags: [...flags, '--at', 'open', '--times', '2'], next: 'once ready' },
        () => undefined,
      ),
    );
  }

  for (const fault of ['hang', 'drip-headers']) {
    verifies(
      ['TRN-05', 'LIF-11'],
      `whose upgrade never comes (${fault}) is given up in time`,
      faultCase(
        {
          transport,
          settings: { startupTimeoutMs: 300, reconnect: 'none' },
          flags: ['--fault', fault, '--at', 'open'],
          next: 'never',
        },
        (scene) => {
          expect(scene.status().error).toMatchObject({ code: 'STARTUP_TIMEOUT', remedy: 'retry-later' });
        },
      ),
    );
  }

  for (const [status, code] of [
    ['401', 'AUTH_REQUIRED'],
    ['403', 'AUTH_FAILED'],
  ] as const) {
    verifies(
      ['REC-08', 'LIF-03'],
      `whose upgrade is refused with ${status} waits for a login, and not for better times`,
      faultCase(
        { transport, flags: ['--fault', 'status', '--status', status, '--at', 'open'], next: 'never' },
        (scene) => {
          expect(scene.status()).toMatchObject({ state: 'needs-auth', error: { code, remedy: 'log-in' } });
        },
      ),
    );
  }

  test(
    'to an address where nobody listens is tried again, and serves when somebody does',
    faultCase(
      {
        transport,
        settings: { reconnect },
        next: 'once ready',
        down: true,
      },
      async (scene) => {
        expect(scene.status().error).toMatchObject({ code: 'CONNECTION_LOST', remedy: 'retry-later' });
        await scene.revive();
      },
    ),
  );
});
