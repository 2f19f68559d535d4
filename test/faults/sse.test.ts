// Owns the fault matrix over the older HTTP+SSE: everything is answered on one stream, and that stream can go.

import { describe, expect, test } from 'vitest';
import { halfOf } from '../effort.ts';
import { verifies } from '../verifies.ts';
import {
  closings,
  deaths,
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

const transport = 'sse';
const on = { transport } as const;

describe('a server', () => {
  for (const [sentence, run] of halfOf(deaths(on))) verifies(['REC-12', 'EXT-06'], sentence, run);
  for (const [sentence, run] of halfOf(returns(on))) verifies(['REC-07', 'REC-08', 'ERR-06'], sentence, run);
  for (const [sentence, run] of halfOf(silentHandshakes(on))) verifies(['LIF-11', 'LIF-12', 'ERR-03'], sentence, run);
  for (const [sentence, run] of halfOf(silentLists(on))) verifies('ERR-04', sentence, run);
  for (const [sentence, run] of halfOf(silentCalls(on))) verifies(['CAL-06', 'CAL-08'], sentence, run);
  for (const [sentence, run] of halfOf(closings(on))) verifies(['LIF-14', 'TDN-02'], sentence, run);
  for (const [sentence, run] of halfOf(wrongWords(on))) verifies('CAL-12', sentence, run);
  for (const [sentence, run] of halfOf(pings(on))) verifies('REC-16', sentence, run);
  for (const [sentence, run] of halfOf(sizes(on))) test(sentence, run);
});

describe('the stream', () => {
  verifies(
    ['TRN-03', 'REC-07'],
    'that ends during a call leaves its outcome unknown, and is opened again',
    faultCase({ transport, settings: { reconnect }, flags: once('end') }, async (scene) => {
      expect(await scene.write()).toBe('OUTCOME_UNKNOWN');
    }),
  );

  verifies(
    ['TRN-03', 'REC-07'],
    'that trickles an answer for ever costs the call its time',
    faultCase({ transport, settings: { reconnect }, flags: once('drip'), next: 'after reconnect' }, async (scene) => {
      expect(endOf(await scene.timedOut())).toBe('CALL_TIMEOUT');
    }),
  );

  for (const [what, flags] of Object.entries({
    'fails with 500': ['--fault', 'status', '--status', '500'],
    'fails with 503': ['--fault', 'status', '--status', '503'],
    'fails with 429': ['--fault', 'status', '--status', '429'],
    'is reset': ['--fault', 'reset'],
    'is closed at once': ['--fault', 'end'],
    'is no stream': ['--fault', 'html'],
    'is not HTTP': ['--fault', 'not-http'],
  })) {
    verifies(
      ['TRN-03', 'REC-08'],
      `that ${what} twice is opened the third time`,
      faultCase(
        { transport, settings: { reconnect }, flags: [...flags, '--at', 'open', '--times', '2'], next: 'once ready' },
        () => undefined,
      ),
    );
  }

  for (const fault of ['hang', 'drip-headers', 'comments']) {
    verifies(
      ['TRN-03', 'LIF-11'],
      `that never comes up (${fault}) is given up in time`,
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

  verifies(
    ['REC-08', 'LIF-03'],
    'behind a login is not waited for',
    faultCase(
      { transport, flags: ['--fault', 'status', '--status', '401', '--at', 'open'], next: 'never' },
      (scene) => {
        expect(scene.status()).toMatchObject({
          state: 'needs-auth',
          error: { code: 'AUTH_REQUIRED', remedy: 'log-in' },
        });
      },
    ),
  );
});

describe('the endpoint', () => {
  verifies(
    'TRN-03',
    'at another origin is not followed',
    faultCase(
      { transport, settings: { reconnect: 'none' }, flags: ['--fault', 'endpoint-elsewhere'], next: 'never' },
      (scene) => {
        expect(scene.status().state).not.toBe('connected');
        expect(scene.status().error?.code).toBe('PROTOCOL_BROKEN');
      },
    ),
  );

  verifies(
    ['TRN-03', 'LIF-11'],
    'that is never named is waited for as long as a start may take',
    faultCase(
      {
        transport,
        settings: { startupTimeoutMs: 300, reconnect: 'none' },
        flags: ['--fault', 'endpoint-missing'],
        next: 'never',
      },
      (scene) => {
        expect(scene.status().error?.code).toBe('STARTUP_TIMEOUT');
      },
    ),
  );

  for (const status of ['429', '500', '503']) {
    for (const stage of ['initialize', 'list']) {
      verifies(
        ['EXT-18', 'REC-08'],
        `that answers ${status} at ${stage}, once, keeps no server away`,
        faultCase(
          {
            transport,
            speed: 5,
            settings: { reconnect },
            flags: ['--fault', 'status', '--status', status, '--at', stage, '--times', '1'],
            next: 'once ready',
          },
          () => undefined,
        ),
      );
    }
  }

  for (const [status, when, end, ...flags] of [
    ['429', 'before', 'answered'],
    ['503', 'before', 'OUTCOME_UNKNOWN', '--retry-after', '1'],
    ['500', 'before', 'OUTCOME_UNKNOWN'],
    ['500', 'after', 'OUTCOME_UNKNOWN'],
    ['503', 'after', 'OUTCOME_UNKNOWN'],
  ] as const) {
    verifies(
      ['REC-12', 'EXT-06'],
      `that answers ${[status, ...flags].join(' ')} ${when} a call was made: ${end}, and nothing is made twice`,
      faultCase(
        {
          transport,
          speed: 5,
          settings: { reconnect },
          flags: [...once('status'), '--status', status, '--when', when, ...flags],
        },
        async (scene) => expect(await scene.write()).toBe(end),
      ),
    );
  }

  for (const [status, code] of [
    ['401', 'AUTH_REQUIRED'],
    ['403', 'AUTH_FAILED'],
  ] as const) {
    verifies(
      'LIF-03',
      `that answers ${status} says that a login is missing`,
      faultCase(
        {
          transport,
          settings: { reconnect },
          flags: ['--fault', 'status', '--status', status, '--times', '1'],
          next: 'after reconnect',
        },
        async (scene) => {
          expect(await scene.write()).toBe(code);
        },
      ),
    );
  }

  for (const when of ['before', 'after']) {
    verifies(
      ['REC-12', 'EXT-06'],
      `that is reset ${when} a call was made: nothing is made twice`,
      faultCase(
        { transport, settings: { reconnect }, flags: ['--fault', 'reset', '--times', '1', '--when', when] },
        async (scene) => {
          expect(await scene.write()).toBe('OUTCOME_UNKNOWN');
        },
      ),
    );
  }

  verifies(
    'TRN-03',
    'that forgot the session (404) makes it begin anew, within the call',
    faultCase(
      { transport, settings: { reconnect }, flags: ['--fault', 'session-expires', '--times', '1'] },
      async (scene) => {
        expect(await scene.write()).toBe('answered');
        expect(scene.peer.effects()).toEqual(['w1']);
      },
    ),
  );
});

verifies(
  'VAL-03',
  'an address where only the older transport is spoken is found to do so',
  faultCase({ transport, settings: { transport: 'auto' } }, (scene) => {
    expect(scene.status().state).toBe('connected');
  }),
);
