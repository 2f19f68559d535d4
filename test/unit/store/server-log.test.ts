// Owns the proof that a server's log is there when it is wanted, stays small and private, and never gets in anybody's way.

import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../src/kernel/clock.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import { LogReader } from '../../../src/store/log-reader.ts';
import { createServerLogs, logFileOf, olderLogOf } from '../../../src/store/server-log.ts';
import { createFakeClock, type FakeClock } from '../../../src/testing/fake-clock.ts';
import { openStdio } from '../../../src/transport/stdio.ts';
import { eventually, temporaryFile } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';
import { program } from '../transport/channels.ts';

const START = Date.parse('2026-11-16T08:00:00.000Z');
const clean = (text: string) => text;
const chunk = (text: string) => Buffer.from(text);

interface World<Time extends Clock> {
  readonly clock?: Time;
  readonly secrets?: Record<string, string>;
}

function setUp<Time extends Clock = FakeClock>({
  clock = createFakeClock(START) as unknown as Time,
  secrets = {},
}: World<Time> = {}) {
  const state = temporaryFile('state');
  const errors: unknown[] = [];
  const logs = createServerLogs(state, clock, (error) => errors.push(error));
  const file = logFileOf(state, 'files');
  const redact = (text: string) =>
    Object.entries(secrets).reduce((rest, [name, value]) => rest.replaceAll(value, `[${name}]`), text);
  return {
    ...{ state, errors, logs, file, clock },
    folder: dirname(file),
    open: () => logs.open('files', { redact, clean }),
    text: () => readFileSync(file, 'utf8'),
    has: () => statSync(file, { throwIfNoEntry: false }) !== undefined,
  };
}

describe('the log of a server', () => {
  verifies('TRN-02', 'has each start, what it wrote on stderr and why it ended, for its owner only', async () => {
    const { open, text, file, folder, clock, errors } = setUp({ secrets: { TOKEN: 'abcdefgh' } });
    const first = open();
    first.noteOwn('started, pid 123');
    for (const part of ['listening\ntoken abc', 'defgh\nlast wor', 'ds']) first.take(chunk(part));
    await clock.advance(1_500);
    first.note('ended: it exited with code 3');
    await first.close();
    const second = open();
    second.noteOwn('started, pid 124');
    await second.close();
    expect(text()).toBe(
      [
        '--- 2026-11-16T08:00:00.000Z started, pid 123 ---',
        'listening',
        'token [TOKEN]',
        'last words',
        '--- 2026-11-16T08:00:01.500Z ended: it exited with code 3 ---',
        '--- 2026-11-16T08:00:01.500Z started, pid 124 ---',
        '',
      ].join('\n'),
    );
    expect([statSync(folder).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);
    expect(errors).toEqual([]);
  });

  test('is written in batches, and what is not yet written when it is closed comes with that', async () => {
    const { open, text, has, clock } = setUp();
    const log = open();
    log.take(chunk('one\n'));
    await clock.advance(limits.logBatch.firstMs - 1);
    log.take(chunk('two\nthr'));
    expect(has()).toBe(false);
    await clock.advance(1);
    await eventually(() => has() && text() === 'one\ntwo\n');
    log.take(chunk('ee\n'));
    await log.close();
    expect(text()).toBe('one\ntwo\nthree\n');
    log.take(chunk('too late\n'));
    log.note('too late');
    await log.close();
    await clock.advance(10 * limits.logBatch.ms);
    expect(text()).toBe('one\ntwo\nthree\n');
  });

  verifies('EXT-44', 'is begun without searching the words of the runtime itself for secrets', async () => {
    const { logs, text } = setUp();
    const searched: string[] = [];
    const redact = (line: string) => {
      searched.push(line);
      return line;
    };
    const log = logs.open('files', { redact, clean });
    log.noteOwn('started, pid 123');
    log.note('ended: it said no');
    await log.close();
    expect(searched).toEqual(['ended: it said no']);
    expect(text()).toContain('started, pid 123');
  });

  test('is not begun by a server that nothing is known of', async () => {
    const { open, has } = setUp();
    await open().close();
    expect(has()).toBe(false);
  });

  test('lies in a file of its own for each name, whatever the name', () => {
    const names = [
      'files',
      'Files',
      'a/b',
      'a_b',
      '../up',
      '..',
      '.',
      '',
      'con',
      'nul.x',
      'é',
      'e',
      'x'.repeat(500),
      'a.1',
    ];
    const files = names.map((name) => logFileOf('/state', name));
    expect(new Set(files.map((file) => file.toLowerCase())).size).toBe(names.length);
    for (const file of files) {
      expect(dirname(file)).toBe('/state/logs');
      expect(basename(file)).toMatch(/^[\w-][\w.-]{0,80}\.log$/);
      expect(basename(file)).not.toMatch(/^(con|nul)\./);
    }
    expect(files[0]).toBe('/state/logs/files.log');
  });
});

describe('its size', () => {
  verifies('TRN-02', 'is bounded: one older part is kept, and no line is lost on the way', async () => {
    const { open, file, folder } = setUp();
    const line = `${'x'.repeat(99)}\n`;
    const lines = Math.floor((limits.log.bytes * 2.5) / line.length);
    for (let written = 0; written < lines; ) {
      const log = open();
      const some = Math.min(2_000, lines - written);
      log.take(chunk(line.repeat(some)));
      await log.close();
      written += some;
    }
    const sizes = [file, olderLogOf(file)].map((each) => statSync(each).size);
    expect(sizes.every((size) => size > 0 && size <= limits.log.bytes && size % line.length === 0)).toBe(true);
    expect(await readdir(folder)).toEqual(['files.log', 'files.log.1']);
  });

  verifies(
    'TRN-02',
    'is bounded in memory too: of a flood the newest is kept, in whole lines, and the gap is told',
    async () => {
      const { open, text } = setUp();
      const log = open();
      log.take(chunk('first\n'));
      for (let number = 0; number < 1_000; number++) log.take(chunk(`${`line ${number} `.padEnd(64 * 1024, '.')}\n`));
      log.take(chunk('last\n'));
      await log.close();
      const [gap, ...rest] = text().trimEnd().split('\n');
      expect(gap).toMatch(/^--- 6\d{7} bytes left out ---$/);
      expect(rest.map((line) => line.replace(/\.+ …$/, ''))).toEqual(
        ['line 997 ', 'line 998 ', 'line 999 ', 'last'].slice(-rest.length),
      );
      expect(rest.length).toBeGreaterThan(1);
    },
  );
});

verifies(
  'TRN-02',
  'several may write at once: every line of each is there, whole, and the older part is not lost',
  async () => {
    const { logs, file, folder, errors } = setUp({ clock: systemClock });
    // Like separate processes, these writers share nothing but the file.
    const write = async (name: string) => {
      for (let batch = 0; batch < 40; batch++) {
        const log = logs.open('files', { redact: clean, clean });
        for (let line = batch * 100; line < (batch + 1) * 100; line++)
          log.take(chunk(`${name}${String(line).padStart(6, '0')}${'x'.repeat(193)}\n`));
        await log.close();
      }
    };
    await Promise.all(['a', 'b', 'c'].map(write));
    const lines = [olderLogOf(file), file].flatMap((each) => readFileSync(each, 'utf8').split('\n').slice(0, -1));
    expect(lines.every((line) => /^[abc]\d{6}x{193}$/.test(line))).toBe(true);
    for (const name of ['a', 'b', 'c']) {
      // The oldest lines are gone; of each writer the last lines are there, without a gap.
      const own = lines.filter((line) => line.startsWith(name)).map((line) => Number(line.slice(1, 7)));
      expect(own.sort((a, b) => a - b)).toEqual(own.map((_, index) => 4_000 - own.length + index));
    }
    expect(statSync(olderLogOf(file)).size).toBeGreaterThan(limits.log.bytes * 0.9);
    expect([await readdir(folder), errors]).toEqual([['files.log', 'files.log.1'], []]);
  },
);

describe('a disk that does not take it', () => {
  verifies('TRN-02', 'is told once for all servers, and is written to again when it does', async () => {
    const { logs, open, state, folder, errors, text } = setUp();
    mkdirSync(state);
    writeFileSync(folder, 'in the way');
    for (const server of ['files', 'files', 'others']) {
      const log = logs.open(server, { redact: clean, clean });
      log.note('started, pid 1');
      await log.close();
    }
    expect(errors).toEqual([new RuntimeError('STORE_UNWRITABLE', { folder, reason: 'it is not a folder' })]);
    await rm(folder);
    const log = open();
    log.take(chunk('here\n'));
    await log.close();
    expect(text()).toBe('here\n');
  });

  test.skipIf(process.platform !== 'linux')('may be full', async () => {
    const { open, folder, file, errors } = setUp();
    mkdirSync(folder, { recursive: true });
    symlinkSync('/dev/full', file);
    const log = open();
    log.take(chunk('lost\n'));
    await log.close();
    expect(errors).toEqual([
      new RuntimeError('STORE_UNWRITABLE', { folder, reason: 'the disk is full', isFull: true }),
    ]);
  });

  test.skipIf(process.platform === 'win32')(
    'may not answer at all: closing does not wait for it for ever',
    async () => {
      const { open, folder, file, clock } = setUp();
      mkdirSync(folder, { recursive: true });
      await new Promise((resolve) => spawn('sh', ['-c', 'mkfifo "$0"', file]).once('exit', resolve));
      const log = open();
      log.take(chunk('x\n'));
      const closing = log.close();
      let isClosed = false;
      void closing.then(() => {
        isClosed = true;
      });
      await clock.advance(limits.logBatch.closeMs - 1);
      expect(isClosed).toBe(false);
      await clock.advance(1);
      await closing;
      // Reading the pipe frees the write that waits.
      const reading = spawn('cat', [file]);
      expect(String(Buffer.concat(await reading.stdout.toArray()))).toBe('x\n');
    },
  );
});

verifies('TRN-02', 'a real server’s stderr gets there, its last words included', async () => {
  const { open, text } = setUp({ clock: systemClock });
  const log = open();
  const channel = openStdio({
    ...program('sh', '-c', 'echo one >&2; printf "two\\nthree" >&2; exit 3'),
    onStart: (pid) => log.note(`started, pid ${pid}`),
    onStderr: (piece) => log.take(piece),
  });
  const ended = new Promise<void>((resolve) => {
    channel.onclose = () => resolve();
  });
  await channel.start();
  await ended;
  await channel.close();
  await log.close();
  expect(text()).toMatch(new RegExp(`^--- \\S+Z started, pid ${channel.pid} ---\none\ntwo\nthree\n$`));
});

describe('reading it', () => {
  test('gives the last lines, from the older part as well where the newer is short', async () => {
    const { file, folder } = setUp();
    const last = (count: number) => new LogReader(file).last(count);
    expect(await last(5)).toBeUndefined();
    mkdirSync(folder, { recursive: true });
    writeFileSync(olderLogOf(file), '1\n2\n3\n');
    expect(await last(2)).toEqual(['2', '3']);
    writeFileSync(file, '4\n5\n');
    expect([await last(1), await last(2), await last(4), await last(50)]).toEqual([
      ['5'],
      ['4', '5'],
      ['2', '3', '4', '5'],
      ['1', '2', '3', '4', '5'],
    ]);
  });

  test('goes on with what comes, also when it becomes the older part, and ends when it is told to', async () => {
    const { file, open, clock } = setUp();
    const put = async (text: string) => {
      const log = open();
      log.take(chunk(text));
      await log.close();
    };
    const stop = new AbortController();
    const reader = new LogReader(file);
    const seen: string[] = [];
    expect(await reader.last(10)).toBeUndefined();
    const following = (async () => {
      for await (const lines of reader.follow(clock, stop.signal)) seen.push(...lines);
    })();
    const seeing = async (count: number) => {
      await eventually(() => {
        void clock.advance(limits.logView.lookMs);
        return seen.length >= count;
      });
      return seen.splice(0);
    };
    await put('é1\n');
    expect(await seeing(1)).toEqual(['é1']);
    await put('2\n');
    const filling = `${'x'.repeat(1023)}\n`;
    for (let part = 0; part < 5; part++) await put(filling.repeat(200));
    await put('3\n');
    const lines = await seeing(1_002);
    await put(filling.repeat(200));
    await put('4\n');
    lines.push(...(await seeing(201)));
    expect([lines[0], lines[1001], lines.at(-1), lines.length]).toEqual(['2', '3', '4', 1_203]);
    stop.abort();
    await following;
  });
});
