// Owns the proof that the command line reaches its process through `io` only, and that help opens none of its streams.

import { PassThrough, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import type { CliIo } from '../../../src/cli/io.ts';
import { runCli } from '../../../src/cli/main.ts';

/** A process without folders or variables, and a record of what was done to it. */
function createIo(changes: Partial<CliIo> = {}) {
  const seen = { out: '', err: '', exits: [] as number[] };
  const into = (name: 'out' | 'err') =>
    new Writable({
      write(chunk, _encoding, done) {
        seen[name] += chunk;
        done();
      },
    });
  const io: CliIo = {
    env: {},
    cwd: '/',
    home: '/nowhere',
    stdin: new PassThrough(),
    stdout: into('out'),
    stderr: into('err'),
    isTerminal: () => false,
    columns: () => undefined,
    printNow: (bytes) => {
      seen.out += Buffer.from(bytes);
      return new Uint8Array();
    },
    onInterrupt: () => undefined,
    interrupt: () => undefined,
    exit: (code) => void seen.exits.push(code),
    ...changes,
  };
  return { io, seen };
}

test.each([[['--help']], [['--version']], [['help', 'list']], [['list', '--help']]])(
  '%j opens no stream and asks for no folder',
  async (words) => {
    const { io, seen } = createIo();
    for (const name of ['cwd', 'home', 'stdin', 'stdout', 'stderr'])
      Object.defineProperty(io, name, { get: () => expect.unreachable(`${name} was read`) });
    expect([await runCli(words, io), seen.out]).toEqual([0, expect.stringMatching(/\S\n$/)]);
  },
);

test('only a terminal is painted, and not against the wish of its owner', async () => {
  const isPainted = async (changes: Partial<CliIo>) => {
    const { io, seen } = createIo(changes);
    await runCli(['--help'], io);
    return seen.out.includes('\u001b[');
  };
  const isTerminal = () => true;
  expect([
    await isPainted({}),
    await isPainted({ isTerminal }),
    await isPainted({ isTerminal, env: { NO_COLOR: '1' } }),
    await isPainted({ isTerminal, env: { TERM: 'dumb' } }),
  ]).toEqual([false, true, false, false]);
});

test.each([
  ['a reader that has read enough is no failure', 'EPIPE', ['config', 'schema'], 0, /^$/],
  ['nor does it hide one', 'EPIPE', ['nonsense', '--json'], 1, /^$/],
  ['a full disk is told', 'ENOSPC', ['config', 'schema'], 1, /^plexus: The answer could not be written: no\. /],
])('where stdout cannot be written, %s', async (_, code, words, exitCode, message) => {
  const stdout = new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error('no'), { code })) });
  const { io, seen } = createIo({ stdout, printNow: (bytes) => bytes });
  await runCli(words, io);
  expect(seen).toEqual({ out: '', err: expect.stringMatching(message), exits: [exitCode] });
});

test('Ctrl-C ends the work with 130, and then the process', async () => {
  const { io, seen } = createIo({ onInterrupt: (listener) => void setImmediate(() => listener('SIGINT')) });
  expect(await runCli(['scan'], io)).toBe(130);
  expect(seen).toEqual({ out: '', err: expect.stringMatching(/^plexus: Interrupted\./), exits: [130] });
});

test('one process may run it often: nothing of an interrupted run is left for the next', async () => {
  await runCli(['scan'], createIo({ onInterrupt: (listener) => void setImmediate(() => listener('SIGINT')) }).io);
  const { io, seen } = createIo({ stdin: new PassThrough().end('Nothing to see here.') });
  expect([await runCli(['scan'], io), seen]).toEqual([0, { out: 'No signals found.\n', err: '', exits: [] }]);
});
