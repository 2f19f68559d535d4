// Owns the proof that a write is sent over HTTP no more often than its server permits: for every status, in both eras, the effects
// and the POSTs are counted at the server.

import { describe, expect } from 'vitest';
import { isLong } from '../effort.ts';
import { verifies } from '../verifies.ts';
import { once } from './common.ts';
import { endOf, faultCase, type Scene } from './harness.ts';

const transport = 'http';
const eras = ['legacy', 'modern'] as const;
type Era = (typeof eras)[number];

interface Refusal {
  readonly sentence: string;
  readonly flags: readonly string[];
  readonly end: string;
  /** How often the write reaches the server. */
  readonly posts: number;
  /** Only in this era. */
  readonly era?: Era;
  /** Whether it is refused before it was made, or after, which is the harder case; a long run has both. */
  readonly when?: 'before' | 'after';
  readonly next?: 'after reconnect';
}

const refusal = (status: number, end: string, { posts = 1, flags = [], ...rest }: Partial<Refusal> = {}): Refusal => ({
  sentence: [status, ...flags].join(' ').replaceAll('--', ''),
  flags: ['--status', String(status), ...flags],
  end,
  posts,
  ...rest,
});

/** After these codes the caller is told that nothing was done, so the server must not have done anything. */
const undone = { when: 'before' } as const;
const again = { flags: ['--location', '/mcp'], posts: 2, ...undone };

const refusals: readonly Refusal[] = [
  refusal(307, 'answered', again),
  refusal(308, 'answered', again),
  refusal(400, 'REQUEST_REFUSED', undone),
  refusal(400, 'answered', { flags: ['--body', 'ours'] }),
  refusal(400, 'answered', { flags: ['--body', 'loose'] }),
  refusal(401, 'AUTH_REQUIRED', { ...undone, next: 'after reconnect' }),
  refusal(403, 'AUTH_FAILED', undone),
  refusal(403, 'answered', { flags: ['--body', 'ours'] }),
  refusal(404, 'answered', { ...undone, flags: ['--body', 'none'], posts: 2, era: 'legacy' }),
  refusal(404, 'answered', { ...undone, flags: ['--body', 'loose'], posts: 2, era: 'legacy' }),
  refusal(404, 'REQUEST_REFUSED', { ...undone, flags: ['--body', 'none'], era: 'modern' }),
  refusal(404, 'answered', { flags: ['--body', 'ours'] }),
  refusal(404, 'answered', { flags: ['--body', 'stream'] }),
  refusal(404, 'OUTCOME_UNKNOWN', { flags: ['--body', 'page'] }),
  refusal(408, 'OUTCOME_UNKNOWN'),
  refusal(409, 'OUTCOME_UNKNOWN'),
  refusal(425, 'CONNECTION_LOST', undone),
  refusal(429, 'answered', { ...undone, posts: 2 }),
  refusal(429, 'answered', { ...undone, posts: 2, flags: ['--body', 'loose'] }),
  refusal(429, 'answered', { ...undone, posts: 2, flags: ['--retry-after', '2'] }),
  refusal(429, 'RATE_LIMITED', { ...undone, flags: ['--retry-after', '6'] }),
  refusal(429, 'answered', { flags: ['--body', 'ours', '--retry-after', '2'] }),
  refusal(500, 'OUTCOME_UNKNOWN'),
  refusal(500, 'answered', { flags: ['--body', 'ours'] }),
  refusal(502, 'OUTCOME_UNKNOWN'),
  refusal(503, 'OUTCOME_UNKNOWN'),
  refusal(503, 'OUTCOME_UNKNOWN', { flags: ['--retry-after', '1'] }),
  refusal(503, 'OUTCOME_UNKNOWN', { flags: ['--body', 'loose', '--retry-after', '1'] }),
  refusal(503, 'answered', { flags: ['--body', 'ours', '--retry-after', '1'] }),
  refusal(504, 'OUTCOME_UNKNOWN'),
];

const writes = (scene: Scene) => scene.peer.journal().filter((line) => line === 'tools/call write w');

/** The outcome counts its POSTs, and they are those that arrived. */
async function expectWrite(scene: Scene, { end, posts, effects }: { end: string; posts: number; effects: string[] }) {
  const ending = await scene.ending('write', { text: 'w' });
  expect(endOf(ending)).toBe(end);
  expect(writes(scene)).toHaveLength(posts);
  if (ending.kind === 'answered') expect(ending.outcome.meta.attempts, 'attempts').toBe(posts);
  expect(scene.peer.effects()).toEqual(effects);
}

const whens = ({ when }: Refusal) => (when ? [when] : isLong ? (['before', 'after'] as const) : (['after'] as const));

describe('a write that is refused once', () => {
  const rows = refusals.flatMap((each) =>
    eras
      .filter((era) => each.era === undefined || each.era === era)
      .flatMap((era) => whens(each).map((when) => ({ each, era, when }))),
  );
  for (const { each, era, when } of rows) {
    const { sentence, flags, end, posts, next } = each;
    verifies(
      ['REC-12', 'EXT-06', 'EXT-18', 'EXT-30'],
      `with ${sentence} ${when} it was made, ${era}: ${end}, after ${posts} POSTs`,
      faultCase(
        {
          transport,
          speed: 5,
          flags: [...once('status'), '--era', era, '--when', when, ...flags],
          ...(next && { next }),
        },
        (scene) => expectWrite(scene, { end, posts, effects: when === 'after' || posts === 2 ? ['w'] : [] }),
      ),
    );
  }
});

describe('a write that is refused again', () => {
  for (const era of eras) {
    verifies(
      ['REC-12', 'EXT-30'],
      `with a second 429, ${era}, is told to be rate limited`,
      faultCase(
        { transport, speed: 5, flags: ['--fault', 'status', '--status', '429', '--times', '2', '--era', era] },
        (scene) => expectWrite(scene, { end: 'RATE_LIMITED', posts: 2, effects: [] }),
      ),
    );
    for (const status of ['307', '308']) {
      verifies(
        ['REC-12', 'EXT-18'],
        `with a second ${status}, ${era}, is not sent a third time`,
        faultCase(
          {
            transport,
            flags: ['--fault', 'status', '--status', status, '--location', '/mcp', '--times', '2', '--era', era],
          },
          (scene) => expectWrite(scene, { end: 'PROTOCOL_BROKEN', posts: 2, effects: [] }),
        ),
      );
    }
  }
});

describe('a 400 that names no request', () => {
  const loose = ['--fault', 'status', '--status', '400', '--body', 'loose'];

  verifies(
    ['REC-12', 'TRN-04'],
    'is an expired session where a ping is refused in the same way: the write goes to a new one',
    faultCase({ transport, flags: [...loose, '--at', 'call', '--at', 'ping', '--times', '2'] }, async (scene) => {
      await expectWrite(scene, { end: 'answered', posts: 2, effects: ['w'] });
      expect(scene.peer.journal().filter((line) => line === 'initialize')).toHaveLength(2);
    }),
  );

  verifies(
    ['REC-12', 'TRN-04'],
    'is the answer where a ping is answered, and the session goes on',
    faultCase({ transport, flags: [...loose, '--times', '1', '--when', 'after'] }, async (scene) => {
      await expectWrite(scene, { end: 'answered', posts: 1, effects: ['w'] });
      expect(scene.peer.journal().filter((line) => line === 'ping')).toHaveLength(1);
      expect(scene.peer.journal().filter((line) => line === 'initialize')).toHaveLength(1);
    }),
  );
});
