// Owns the fault matrix over Streamable HTTP: statuses, resets, broken bodies and streams, sessions that expire.

import { describe, expect, test } from 'vitest';
import { halfOf, isLong } from '../effort.ts';
import { eventually } from '../servers/processes.ts';
import { verifies } from '../verifies.ts';
import {
  background,
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

const transport = 'http';

/** Nothing else can come on the stream of a request: its end is the end of the call. */
const instead = {
  'no-id': 'OUTCOME_UNKNOWN',
  text: 'OUTCOME_UNKNOWN',
  junk: 'OUTCOME_UNKNOWN',
};

for (const reply of ['json', 'stream'] as const) {
  const on = { transport, label: `http, answering with ${reply}`, flags: ['--reply', reply] } as const;
  const asStream = reply === 'stream';

  describe(`a server that answers with ${reply}`, () => {
    for (const [sentence, run] of halfOf(deaths(on))) verifies(['REC-12', 'EXT-06'], sentence, run);
    for (const [sentence, run] of halfOf(silentCalls(on))) verifies(['CAL-06', 'CAL-08'], sentence, run);
    for (const [sentence, run] of halfOf(wrongWords(on, { instead, stages: asStream ? [] : ['initialize', 'list'] }))) {
      verifies('CAL-12', sentence, run);
    }
    if (isLong || !asStream) {
      for (const [sentence, run] of halfOf(returns(on))) verifies(['REC-07', 'REC-08', 'ERR-06'], sentence, run);
      for (const [sentence, run] of halfOf(silentHandshakes(on)))
        verifies(['LIF-11', 'LIF-12', 'ERR-03'], sentence, run);
      for (const [sentence, run] of halfOf(silentLists(on))) verifies('ERR-04', sentence, run);
      for (const [sentence, run] of halfOf(closings(on))) verifies(['LIF-14', 'TDN-02'], sentence, run);
      for (const [sentence, run] of halfOf(sizes(on))) test(sentence, run);
    }

    test(
      'an answer that trickles in for ever ends with its time',
      faultCase({ ...on, flags: [...on.flags, ...once('drip')] }, async (scene) =>
        expect(endOf(await scene.timedOut())).toBe('CALL_TIMEOUT'),
      ),
    );
    test(
      'a stream that ends without an answer ends the call at once',
      faultCase({ ...on, flags: [...on.flags, ...once('end')] }, async (scene) =>
        expect(await scene.write()).toBe('OUTCOME_UNKNOWN'),
      ),
    );
    if (asStream) {
      test(
        'a stream of comments without an answer ends with its time',
        faultCase({ ...on, flags: [...on.flags, ...once('comments')] }, async (scene) =>
          expect(endOf(await scene.timedOut())).toBe('CALL_TIMEOUT'),
        ),
      );
    }
  });
}

describe('a modern server', () => {
  const on = { transport, label: 'http in the modern era', flags: ['--era', 'modern', '--reply', 'stream'] } as const;
  for (const [sentence, run] of halfOf(wrongWords(on, { instead, stages: ['initialize'] })))
    verifies(['EXT-01', 'CAL-12'], sentence, run);
});

describe('the news of a modern server', () => {
  const faults = {
    'is never acknowledged': ['--fault', 'hang', '--when', 'before'],
    'ends at once': ['--fault', 'end'],
    'is refused with 404': ['--fault', 'status', '--status', '404'],
    'fails with 500': ['--fault', 'status', '--status', '500'],
    'is reset': ['--fault', 'reset'],
    'is no stream': ['--fault', 'html', '--when', 'before'],
    'trickles its headers': ['--fault', 'drip-headers', '--when', 'before'],
    'carries only comments': ['--fault', 'comments', '--when', 'before'],
    'carries junk': ['--fault', 'junk'],
    'is ended by the server': ['--fault', 'null-result'],
  };
  for (const [sentence, run] of halfOf(news({ transport }, faults))) verifies('EXT-01', sentence, run);

  verifies(
    'EXT-01',
    'are listened to again when their stream drops',
    faultCase(
      { transport, speed: 10, flags: ['--era', 'modern', '--listen', ...once('reset'), '--at', 'listen'] },
      async (scene) => {
        await eventually(() => scene.peer.journal().filter((line) => line === 'subscriptions/listen').length === 2);
      },
    ),
  );
});

describe('a quiet server', () => {
  for (const [sentence, run] of halfOf(pings({ transport }))) verifies('REC-16', sentence, run);

  for (const [fault, ...flags] of [['status', '--status', '500'], ['hang'], ['reset']] as const) {
    test(
      `that chokes on the end of the handshake (${fault}) is usable all the same`,
      faultCase(
        { transport, speed: 5, flags: [...once(fault, ...flags), '--at', 'initialized'], next: 'once ready' },
        () => undefined,
      ),
    );
  }
});

describe('a status instead of an answer', () => {
  const passing = ['429', '500', '502', '503'];

  test(
    '404 at the list, once, is a session that begins anew',
    faultCase(
      { transport, flags: [...once('status', '--status', '404'), '--at', 'list'], next: 'once ready' },
      () => undefined,
    ),
  );

  for (const status of passing) {
    for (const stage of ['initialize', 'list']) {
      verifies(
        ['EXT-18', 'REC-08'],
        `${status} at ${stage}, twice, keeps no server away`,
        faultCase(
          {
            transport,
            speed: 5,
            flags: ['--fault', 'status', '--status', status, '--at', stage, '--times', '2'],
            next: 'once ready',
          },
          () => undefined,
        ),
      );
    }
  }

  // A 429 is tried again once; after anything else only a trusted hint may make it do so. `http-writes.test.ts` has every status.
  for (const [status, when, end, ...flags] of [
    ['429', 'before', 'answered'],
    ['429', 'before', 'answered', '--retry-after', '1'],
    ['503', 'before', 'OUTCOME_UNKNOWN', '--retry-after', '1'],
    ['503', 'after', 'OUTCOME_UNKNOWN', '--retry-after', '1'],
    ['500', 'before', 'OUTCOME_UNKNOWN'],
    ['502', 'before', 'OUTCOME_UNKNOWN'],
    ['504', 'before', 'OUTCOME_UNKNOWN'],
    ['500', 'after', 'OUTCOME_UNKNOWN'],
    ['502', 'after', 'OUTCOME_UNKNOWN'],
    ['503', 'after', 'OUTCOME_UNKNOWN'],
    ['504', 'after', 'OUTCOME_UNKNOWN'],
  ] as const) {
    verifies(
      ['REC-12', 'EXT-06'],
      `${[status, ...flags].join(' ')} ${when} a call was made: ${end}, and nothing is made twice`,
      faultCase(
        {
          transport,
          speed: 5,
          flags: [...once('status'), '--status', status, '--when', when, ...flags],
        },
        async (scene) => expect(await scene.write()).toBe(end),
      ),
    );
  }

  for (const status of ['500', '502', '503', '504']) {
    verifies(
      'REC-12',
      `${status} twice at a call that may be repeated keeps nothing away`,
      faultCase(
        {
          transport,
          speed: 5,
          settings: { trustHints: true },
          flags: ['--fault', 'status', '--status', status, '--times', '2'],
        },
        async (scene) => expect(await scene.call('echo', { text: 'twice refused' })).toBe('answered'),
      ),
    );
  }

  for (const when of ['before', 'after']) {
    verifies(
      ['REC-12', 'EXT-06'],
      `a reset ${when} a call was made: nothing is made twice`,
      faultCase({ transport, flags: ['--fault', 'reset', '--times', '1', '--when', when] }, async (scene) => {
        expect(await scene.write()).toBe('OUTCOME_UNKNOWN');
      }),
    );
  }
  for (const stage of ['initialize', 'list']) {
    verifies(
      ['EXT-18', 'REC-08'],
      `a reset at ${stage}, twice, keeps no server away`,
      faultCase(
        {
          transport,
          speed: 5,
          flags: ['--fault', 'reset', '--at', stage, '--times', '2'],
          next: 'once ready',
        },
        () => undefined,
      ),
    );
  }

  verifies(
    'EXT-18',
    'a server that asks for patience is not tried before its time',
    faultCase(
      {
        transport,
        speed: 5,
        flags: ['--fault', 'status', '--at', 'initialize', '--times', '1', '--retry-after', '3'],
        next: 'once ready',
      },
      async (scene) => {
        await scene.until('connected');
        expect(scene.now()).toBeGreaterThan(2_900);
      },
    ),
  );

  verifies(
    ['REC-08', 'LIF-03'],
    'a login is asked for, and not waited for',
    faultCase(
      { transport, flags: ['--fault', 'status', '--status', '401', '--at', 'initialize'], next: 'never' },
      async (scene) => {
        expect(scene.status()).toMatchObject({
          state: 'needs-auth',
          error: { code: 'AUTH_REQUIRED', remedy: 'log-in' },
        });
        const asked = scene.peer.journal().length;
        await scene.elapse(60_000);
        expect(scene.peer.journal().length, 'it is left alone').toBe(asked);
      },
    ),
  );

  for (const [status, code] of [
    ['401', 'AUTH_REQUIRED'],
    ['403', 'AUTH_FAILED'],
  ] as const) {
    verifies(
      ['REC-08', 'LIF-03'],
      `${status} at a call says that a login is missing, and never that the server is down`,
      faultCase(
        { transport, flags: ['--fault', 'status', '--status', status, '--times', '1'], next: 'after reconnect' },
        async (scene) => {
          expect(await scene.write()).toBe(code);
          expect(scene.peer.effects()).toEqual([]);
        },
      ),
    );
    test(
      `${status} at the list is told, with its remedy`,
      faultCase(
        { transport, flags: ['--fault', 'status', '--status', status, '--at', 'list'], next: 'never' },
        async (scene) => {
          await eventually(() => scene.status().error !== undefined);
          expect(scene.status().error).toMatchObject({ code, remedy: 'log-in' });
        },
      ),
    );
  }

  for (const status of ['403', '404']) {
    test(
      `${status} for the whole address is told, with a remedy`,
      faultCase(
        { transport, flags: ['--fault', 'status', '--status', status, '--at', 'any'], next: 'never' },
        (scene) => {
          expect(scene.status().state).not.toBe('connected');
          expect(scene.status().error?.message).toContain(status);
        },
      ),
    );
  }
});

describe('a session', () => {
  verifies(
    'TRN-04',
    'that has expired is begun anew, within the call',
    faultCase({ transport, flags: ['--fault', 'session-expires', '--after', '2', '--times', '1'] }, async (scene) => {
      expect(await Promise.all([scene.write(), scene.write()])).toEqual(['answered', 'answered']);
      expect(await scene.write()).toBe('answered');
      // The first two travel on connections of their own, so either may arrive first.
      expect(scene.peer.effects().toSorted()).toEqual(['w1', 'w2', 'w3']);
      expect(scene.peer.journal().filter((line) => line === 'initialize')).toHaveLength(2);
    }),
  );

  verifies(
    'TRN-04',
    'that expires under many calls at once is begun anew once',
    faultCase({ transport, flags: ['--fault', 'session-expires', '--times', '1'] }, async (scene) => {
      const ends = await Promise.all(Array.from({ length: 20 }, () => scene.write()));
      expect(new Set(ends)).toEqual(new Set(['answered']));
      expect(scene.peer.journal().filter((line) => line === 'initialize').length).toBeLessThanOrEqual(3);
    }),
  );

  verifies(
    'TRN-04',
    'that is refused again and again ends in an error, and not in a circle',
    faultCase({ transport, flags: ['--fault', 'session-expires'], next: 'never' }, async (scene) => {
      expect(await scene.write()).not.toBe('answered');
      expect(scene.peer.journal().filter((line) => line === 'initialize').length).toBeLessThan(5);
    }),
  );

  verifies(
    'TDN-03',
    'is ended at the server when it is closed',
    faultCase({ transport, next: 'never' }, async (scene) => {
      await scene.runtime.close();
      await eventually(() => scene.peer.journal().includes('DELETE'));
    }),
  );
});

describe('a background stream', () => {
  for (const [what, flags] of Object.entries({
    'is refused': ['--fault', 'status', '--status', '405'],
    'fails with 500': ['--fault', 'status', '--status', '500'],
    'is accepted and closed at once': ['--fault', 'end'],
    'is reset': ['--fault', 'reset'],
    'is never answered': ['--fault', 'hang'],
    'is no stream': ['--fault', 'html'],
    'trickles its headers': ['--fault', 'drip-headers'],
    'carries only comments': ['--fault', 'comments'],
  })) {
    verifies(
      'TRN-13',
      `that ${what} harms nothing, and is not asked for in a circle`,
      faultCase({ transport, speed: 0.05, flags: [...flags, '--at', 'open'] }, async (scene) => {
        expect(await scene.write()).toBe('answered');
        await scene.answers(30);
        expect(scene.peer.journal().filter((line) => line === 'open').length).toBeLessThan(5);
      }),
    );
  }
});

describe('an answer that is no answer', () => {
  for (const [fault, ends] of Object.entries({
    html: ['OUTCOME_UNKNOWN', 'PROTOCOL_BROKEN'],
    empty: ['OUTCOME_UNKNOWN', 'PROTOCOL_BROKEN'],
    'not-http': ['OUTCOME_UNKNOWN', 'PROTOCOL_BROKEN'],
    'big-headers': ['OUTCOME_UNKNOWN', 'PROTOCOL_BROKEN'],
    'drip-headers': ['CALL_TIMEOUT'],
  })) {
    test(
      `"${fault}" costs its call and nothing else`,
      faultCase({ transport, flags: once(fault) }, async (scene) => {
        expect(ends).toContain(fault === 'drip-headers' ? endOf(await scene.timedOut()) : await scene.write());
        expect(await scene.write()).toBe('answered');
      }),
    );
    for (const stage of ['initialize', 'list']) {
      test(
        `"${fault}" at ${stage}, once, keeps no server away`,
        faultCase(
          {
            transport,
            settings: { reconnect },
            flags: once(fault, '--at', stage),
            options: background,
            next: 'once ready',
          },
          (scene) => scene.asksAgain(),
        ),
      );
    }
  }
});

describe('an address where', () => {
  test(
    'nobody listens is tried again, and serves when somebody does',
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

  verifies(
    'VAL-03',
    'Streamable HTTP is spoken is found to do so',
    faultCase({ transport, settings: { transport: 'auto' } }, (scene) => {
      expect(scene.status().state).toBe('connected');
    }),
  );
});
