// Owns the proof that what is kept lies in private files that nobody can guess, and that no disk breaks or delays a call.

import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { limits } from '../../../src/model/limits.ts';
import { type Artifacts, createArtifacts } from '../../../src/store/artifacts.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { temporaryFile } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';
import { inOneSlice } from '../slices.ts';

const redact = inOneSlice((text) => text.replaceAll('hunter22', '[PASSWORD]'));

function setUp(folder = join(temporaryFile('cache'), 'results'), clock = systemClock) {
  return { folder, artifacts: createArtifacts({ folder, clock, redact }) };
}

const text = { name: 'files-read', extension: 'txt', data: 'the whole, with hunter22 in it' };

async function fileOf(artifacts: Artifacts, artifact: Parameters<Artifacts['keep']>[0] = text): Promise<string> {
  const kept = await artifacts.keep(artifact);
  if ('problem' in kept) throw new Error(kept.problem);
  return kept.file;
}

verifies(
  'OUT-06',
  'a text is kept whole but for its secrets, for its owner alone, under a name nobody can guess',
  async () => {
    const { folder, artifacts } = setUp();
    const file = await fileOf(artifacts);
    expect(readFileSync(file, 'utf8')).toBe('the whole, with [PASSWORD] in it');
    expect([statSync(file).mode & 0o777, statSync(folder).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(dirname(file)).toBe(folder);
    expect(basename(file)).toMatch(/^files-read-[0-9a-f]{32}\.txt$/);
    expect(await fileOf(artifacts)).not.toBe(file);
  },
);

verifies('OUT-02', 'bytes are kept to the last one', async () => {
  const bytes = Buffer.from('hunter22\0\xff', 'latin1');
  const file = await fileOf(setUp().artifacts, { name: '../../etc/x y', extension: 'png', data: bytes });
  expect(basename(file)).toMatch(/^_etc_x_y-[0-9a-f]{32}\.png$/);
  expect(readFileSync(file)).toEqual(bytes);
});

test('a folder that was there before is made private, and one that is cleared away comes back', async () => {
  const { folder, artifacts } = setUp();
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  await fileOf(artifacts);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  rmSync(folder, { recursive: true });
  const file = await fileOf(artifacts);
  expect([readFileSync(file, 'utf8').length, statSync(folder).mode & 0o777]).toEqual([32, 0o700]);
});

verifies('OUT-06', 'where nothing can be written, the reason is the answer', async () => {
  const notAFolder = temporaryFile('a-file');
  mkdirSync(dirname(notAFolder), { recursive: true });
  writeFileSync(notAFolder, '');
  const { artifacts } = setUp(join(notAFolder, 'results'));
  expect(await artifacts.keep(text)).toEqual({ problem: 'a part of its path is not a folder' });
  await artifacts.settled();
});

test('a disk that takes too long is not waited for, and what it wrote in the end is cleared away', async () => {
  const clock = createFakeClock();
  const { folder, artifacts } = setUp(undefined, clock);
  const kept = artifacts.keep(text);
  await clock.advance(limits.artifacts.writeMs);
  expect(await kept).toEqual({ problem: 'it was not written in time' });
  await artifacts.settled();
  expect(readdirSync(folder)).toEqual([]);
});

/** The name of a result file. */
const named = (name: string) => name.replace('.', `-${'0'.repeat(32)}.`);

test('what somebody else put there stays, however old it is', async () => {
  const { folder, artifacts } = setUp();
  mkdirSync(folder, { recursive: true });
  for (const name of ['mine.txt', named('old.txt')]) {
    writeFileSync(join(folder, name), '');
    utimesSync(join(folder, name), 1, 1);
  }
  const file = await fileOf(artifacts);
  await artifacts.settled();
  expect(readdirSync(folder).sort()).toEqual([basename(file), 'mine.txt'].sort());
});

test('a folder that is a link is of somebody else: nothing is written there, closed or cleared away', async () => {
  const { folder, artifacts } = setUp();
  const theirs = `${folder}-theirs`;
  mkdirSync(theirs, { recursive: true });
  writeFileSync(join(theirs, named('old.txt')), '');
  utimesSync(join(theirs, named('old.txt')), 1, 1);
  symlinkSync(theirs, folder);
  expect(await artifacts.keep(text)).toEqual({ problem: 'its folder is a link or a file' });
  await artifacts.settled();
  expect(readdirSync(theirs)).toEqual([named('old.txt')]);
});

test('what is a week old goes, then the oldest of what is too much', async () => {
  const { folder, artifacts } = setUp();
  mkdirSync(folder, { recursive: true });
  const aged = (name: string, bytes: number, days: number) => {
    writeFileSync(join(folder, name), '');
    const at = Date.now() / 1_000 - days * 24 * 3_600;
    // A sparse file: large, but without blocks on the disk.
    truncateSync(join(folder, name), bytes);
    utimesSync(join(folder, name), at, at);
  };
  aged(named('old.txt'), 1, 7.1);
  aged(named('oldest-large.bin'), 100 * 1024 * 1024, 3);
  aged(named('large.bin'), 100 * 1024 * 1024, 2);
  aged(named('newest-large.bin'), 100 * 1024 * 1024, 1);
  aged(named('small.txt'), 1, 6);
  const file = await fileOf(artifacts);
  await artifacts.settled();
  expect(readdirSync(folder).sort()).toEqual([basename(file), named('large.bin'), named('newest-large.bin')].sort());
});

test('a process looks through the folder again once it has written much', async () => {
  const { folder, artifacts } = setUp();
  await fileOf(artifacts);
  await artifacts.settled();
  const old = join(folder, named('old.txt'));
  writeFileSync(old, '');
  utimesSync(old, 1, 1);
  await fileOf(artifacts);
  await artifacts.settled();
  expect(readdirSync(folder)).toContain(named('old.txt'));
  await fileOf(artifacts, { ...text, data: Buffer.alloc(limits.artifacts.sweepBytes) });
  await artifacts.settled();
  expect(readdirSync(folder)).not.toContain(named('old.txt'));
});

test('of a flood a part is kept; who comes later is served again', async () => {
  const clock = createFakeClock(1_000_000);
  const { folder, artifacts } = setUp(undefined, clock);
  const keepMany = async (count: number) => {
    const kept = await Promise.all(Array.from({ length: count }, () => artifacts.keep(text)));
    return kept.filter((each) => 'file' in each).length;
  };
  const { burst, perSecond } = limits.artifacts;
  expect([await keepMany(burst + 50), await keepMany(1)]).toEqual([burst, 0]);
  expect(await artifacts.keep(text)).toEqual({ problem: 'there are too many at once' });
  await clock.advance(1_000);
  expect(await keepMany(perSecond + 5)).toBe(perSecond);
  await clock.advance(3_600_000);
  expect(await keepMany(burst + 50)).toBe(burst);
  await artifacts.settled();
  expect(readdirSync(folder).length).toBe(2 * burst + perSecond);
});

test('of a flood of large ones as much is kept as of small ones; one alone may be larger than that', async () => {
  const clock = createFakeClock(1_000_000);
  const { artifacts } = setUp(undefined, clock);
  const { burstBytes, bytesPerSecond } = limits.artifacts;
  const keep = async (bytes: number) => 'file' in (await artifacts.keep({ ...text, data: Buffer.alloc(bytes) }));
  expect([await keep(burstBytes / 2), await keep(burstBytes), await keep(1)]).toEqual([true, true, false]);
  await clock.advance((1_000 * burstBytes) / 2 / bytesPerSecond);
  expect(await keep(1)).toBe(false);
  await clock.advance(1_000);
  expect([await keep(bytesPerSecond), await keep(1)]).toEqual([true, false]);
  await artifacts.settled();
});
