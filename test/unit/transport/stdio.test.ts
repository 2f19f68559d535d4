// Owns the proof that a server in a child process can be talked to, explained and ended, however it behaves.

import { Socket } from 'node:net';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { limits } from '../../../src/model/limits.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { openStdio, type StdioChannel, type StdioOptions } from '../../../src/transport/stdio.ts';
import { eventually, isRunning, pidsOnce, temporaryFile } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';
import { call, drive, faultyProgram, listen, program, text } from './channels.ts';

const open: StdioChannel[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((channel) => channel.close()));
});

function openChannel(options: StdioOptions) {
  const channel = openStdio(options);
  open.push(channel);
  return { channel, heard: listen(channel) };
}

async function start(options: StdioOptions) {
  const opened = openChannel(options);
  await opened.channel.start();
  return opened;
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => 'no failure',
    (error: unknown) => error,
  );

describe('talking', () => {
  verifies('TRN-01', 'calls sent at once are all answered, each under its id', async () => {
    const { channel, heard } = await start(faultyProgram());
    const ids = Array.from({ length: 500 }, (_, index) => index + 1);
    for (const id of ids) await channel.send(call(id, 'add', { a: id, b: 1 }));
    await eventually(() => heard.messages.length === ids.length);
    expect(heard.messages).toEqual(ids.map((id) => text(id, String(id + 1))));
  });

  test('what other ticks of a turn of the event loop send is written together, behind the first of them', async () => {
    const { channel, heard } = await start(faultyProgram());
    const write = vi.spyOn(Socket.prototype, 'write');
    onTestFinished(() => write.mockRestore());
    for (const id of [1, 2, 3, 4, 5, 6]) {
      await channel.send(call(id, 'add', { a: id, b: 1 }));
      await new Promise<void>((resolve) => process.nextTick(resolve));
    }
    for (const id of [1, 6]) expect(await heard.answerTo(id)).toEqual(text(id, String(id + 1)));
    const counts = write.mock.calls.map(([lines]) => String(lines).split('\n').length - 1);
    expect(counts).toEqual([1, 5]);
  });

  verifies('TRN-01', 'lines that are no messages are told and skipped', async () => {
    const noise: string[] = [];
    const options = {
      ...faultyProgram('--fault=banner', '--fault=noise', '--at=open'),
      onNoise: (line: string) => noise.push(line),
    };
    const { channel, heard } = await start(options);
    await channel.send(call(1, 'echo', { text: 'é' }));
    expect(await heard.answerTo(1)).toEqual(text(1, 'é'));
    expect(noise).toHaveLength(4);
    expect(noise[0]).toBe('Welcome to the faulty server!');
  });

  verifies('TRN-01', 'a message over the limit fails its call and not the connection', async () => {
    const { channel, heard } = await start({ ...faultyProgram('--fault=id-last'), maxMessageBytes: 10_000 });
    await channel.send(call(1, 'big', { bytes: 300_000 }));
    await channel.send(call(2, 'echo', { text: 'still here' }));
    expect(await heard.answerTo(2)).toEqual(text(2, 'still here'));
    expect(heard.oversized).toEqual([1]);
  });

  verifies('TRN-01', 'a message of 20 MB arrives whole', async () => {
    const { channel, heard } = await start(faultyProgram());
    await channel.send(call(1, 'big', { bytes: 20_000_000 }));
    await channel.send(call(2, 'echo', { text: 'behind it' }));
    expect(await heard.answerTo(2)).toEqual(text(2, 'behind it'));
    expect(heard.messages[0]).toEqual(text(1, 'x'.repeat(20_000_000)));
  });

  const floods: Record<string, [command: string, reason: RegExp]> = {
    'bytes without sense': ['cat /dev/urandom', /^it floods its output with text that is not MCP/],
    'one line without end': ['cat /dev/zero', /^it writes one line without an end$/],
  };
  for (const [what, [command, reason]] of Object.entries(floods)) {
    verifies('TRN-01', `a program that only writes is ended: ${what}`, async () => {
      const options = { ...program('sh', '-c', `exec ${command}`), maxMessageBytes: 1_000_000 };
      const { channel, heard } = await start(options);
      await eventually(() => heard.closes === 1);
      expect(channel.report().reason).toMatch(reason);
      await channel.close();
      expect(isRunning(Number(channel.pid))).toBe(false);
    });
  }

  verifies('TRN-01', 'sending never waits for a server that does not read, and fails when too much waits', async () => {
    const clock = createFakeClock();
    const { channel } = await start({ ...faultyProgram('--fault=deaf'), clock });
    const megabyte = call(1, 'echo', { text: 'x'.repeat(1024 * 1024) });
    const sends = Array.from({ length: 70 }, () => channel.send(megabyte));
    const ends = await Promise.allSettled(sends);
    const accepted = limits.unreadInputBytes / (1024 * 1024);
    expect(ends.filter((end) => end.status === 'fulfilled')).toHaveLength(accepted);
    expect(await failureOf(channel.send(megabyte))).toMatchObject({
      code: 'CONNECTION_LOST',
      data: { server: 'files', reason: 'it does not read its input' },
    });
    await drive(clock, channel.close());
  });

  test('a message that cannot be written down is refused alone', async () => {
    const { channel, heard } = await start(faultyProgram());
    expect(await failureOf(channel.send({ id: 1n }))).toBeInstanceOf(TypeError);
    await channel.send(call(2, 'echo', { text: 'fine' }));
    expect(await heard.answerTo(2)).toEqual(text(2, 'fine'));
  });

  test('a listener that throws is reported and the next message still delivered', async () => {
    const { channel, heard } = await start(faultyProgram());
    const seen: unknown[] = [];
    channel.onmessage = (message) => {
      seen.push(message['id']);
      throw new Error('listener');
    };
    await channel.send(call(1, 'echo', { text: '' }));
    await channel.send(call(2, 'echo', { text: '' }));
    await eventually(() => seen.length === 2);
    expect(heard.errors).toHaveLength(2);
  });
});

describe('the end of a server', () => {
  verifies('TRN-02', 'its exit code and its last words are in the report', async () => {
    const { channel, heard } = await start(faultyProgram('--fault=stderr', '--bytes=5', '--fault=exit', '--at=open'));
    await eventually(() => heard.closes === 1);
    const { reason, stderr } = channel.report();
    expect(reason).toMatch(/^it exited with code 3 after [\d.]+ m?s$/);
    expect(stderr).toBe('eeeee');
  });

  verifies('TRN-02', 'the report quotes the end of stderr, without what could move a cursor', async () => {
    const script = `printf 'a%.0s' $(seq 3000) >&2; printf '\\033[31mred\\033[0m\\a\\r\\n\\tend\\n' >&2`;
    const { channel, heard } = await start(program('sh', '-c', script));
    await eventually(() => heard.closes === 1);
    const quoted = 'red\n\tend\n';
    expect(channel.report().stderr).toBe('a'.repeat(limits.stderrQuoteChars - quoted.length) + quoted);
  });

  verifies('TRN-02', 'a flood on stderr neither blocks the server nor fills the memory', async () => {
    const { channel, heard } = await start(faultyProgram('--fault=stderr', '--bytes', String(50 * 1024 * 1024)));
    await channel.send(call(1, 'echo', { text: 'after the flood' }));
    expect(await heard.answerTo(1)).toEqual(text(1, 'after the flood'));
    expect(channel.report().stderr).toHaveLength(limits.stderrQuoteChars);
  });

  verifies(
    'TRN-02',
    'whoever wants to keep its stderr is told of its start and of every byte, and may throw',
    async () => {
      const told: unknown[] = [];
      const { channel, heard } = await start({
        ...faultyProgram('--fault=stderr', '--bytes=200000'),
        onStart: (pid) => told.push(pid),
        onStderr: (chunk) => {
          told.push(chunk.length);
          throw new Error('listener');
        },
      });
      await channel.send(call(1, 'echo', { text: 'after it' }));
      expect(await heard.answerTo(1)).toEqual(text(1, 'after it'));
      const lengths = () => told.slice(1) as number[];
      await eventually(() => lengths().reduce((sum, length) => sum + length, 0) === 200_000);
      expect(told[0]).toBe(channel.pid);
      expect(heard.errors).toHaveLength(lengths().length);
      await channel.close();
    },
  );

  test('a signal is named', async () => {
    const { channel, heard } = await start(faultyProgram());
    process.kill(Number(channel.pid), 'SIGKILL');
    await eventually(() => heard.closes === 1);
    expect(channel.report()).toEqual({ reason: 'it was ended by SIGKILL' });
  });

  test('a program that is no server is explained by what it printed', async () => {
    const { channel, heard } = await start(program('sh', '-c', 'echo Welcome to; echo the wrong program'));
    await eventually(() => heard.closes === 1);
    expect(channel.report().reason).toMatch(
      /^it exited with code 0 after \d+ ms; it printed text that is not MCP: Welcome to the wrong program$/,
    );
  });

  test('while it runs, the report says that it is silent', async () => {
    const { channel } = await start(faultyProgram('--fault=hang', '--at=any'));
    expect(channel.report()).toEqual({ reason: 'it has not answered' });
  });

  test('a last answer before the exit is delivered, even without its newline', async () => {
    const { heard } = await start(program('sh', '-c', `printf '{"id":1}\\n{"id":2}'`));
    await eventually(() => heard.closes === 1);
    expect(heard.messages).toEqual([{ id: 1 }, { id: 2 }]);
  });

  verifies('TRN-01', 'half a message before the end is no message, and the report says so', async () => {
    const { channel, heard } = await start(program('sh', '-c', `printf '{"id":1}\\n{"id":2,"result":{"te'; exit 3`));
    await eventually(() => heard.closes === 1);
    expect([heard.messages, heard.errors]).toEqual([[{ id: 1 }], []]);
    expect(channel.report()).toEqual({
      reason: expect.stringMatching(/^it exited with code 3 after \d+ ms, within a message$/),
    });
  });

  verifies('TRN-01', 'one that closes its output cannot answer any more and is ended', async () => {
    const clock = createFakeClock();
    const { channel, heard } = await start({ ...program('sh', '-c', 'exec >&-; while :; do sleep 1; done'), clock });
    await eventually(() => channel.report().reason === 'it closed its output');
    expect(await failureOf(channel.send(call(1, 'echo')))).toMatchObject({
      code: 'CONNECTION_LOST',
      data: { server: 'files', reason: 'it closed its output' },
    });
    await drive(
      clock,
      eventually(() => heard.closes === 1),
    );
    expect(channel.report()).toEqual({ reason: 'it closed its output' });
    await drive(clock, channel.close());
    expect(isRunning(Number(channel.pid))).toBe(false);
  });

  test('a descendant that holds the output open delays the news by half a second at most', async () => {
    const clock = createFakeClock();
    const pidFile = temporaryFile('pids');
    const options = {
      ...faultyProgram('--fault=grandchild', '--fault=exit', '--at=ping', '--pid-file', pidFile),
      clock,
    };
    const { channel, heard } = await start(options);
    const pids = await pidsOnce(pidFile, 2);
    await channel.send({ jsonrpc: '2.0', id: 1, method: 'ping' });
    await eventually(() => channel.report().reason.startsWith('it exited with code 3'));
    await clock.advance(limits.drainMs - 1);
    expect(heard.closes).toBe(0);
    await clock.advance(1);
    expect(heard.closes).toBe(1);
    await drive(clock, channel.close());
    expect(pids.filter(isRunning)).toEqual([]);
    expect(heard.closes).toBe(1);
  });

  verifies('TRN-01', 'sending to one that is gone fails, and a broken pipe harms nobody', async () => {
    const { channel, heard } = await start(faultyProgram('--fault=exit', '--at=open'));
    const sends = [];
    for (let id = 1; heard.closes === 0; id += 1) {
      sends.push(failureOf(channel.send(call(id, 'echo', { text: 'x'.repeat(100_000) }))));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await failureOf(channel.send(call(0, 'echo')))).toMatchObject({
      code: 'CONNECTION_LOST',
      data: { server: 'files', reason: expect.stringMatching(/^it exited with code 3/) },
    });
    expect(heard.errors).toEqual([]);
  });

  test('one that closes its input is of no use and is ended', async () => {
    const clock = createFakeClock();
    const { channel, heard } = await start({ ...faultyProgram('--fault=close-input', '--fault=banner'), clock });
    await eventually(() => channel.report().reason.includes('Welcome'));
    await channel.send(call(1, 'echo'));
    await eventually(() => channel.report().reason.startsWith('it closed its input'));
    await clock.advance(limits.endOfInputGraceMs);
    await eventually(() => heard.closes === 1);
    expect(channel.report().reason).toMatch(/^it closed its input/);
    await drive(clock, channel.close());
  });
});

describe('closing', () => {
  verifies('TDN-03', 'nothing is delivered after it but the news, once, and nothing runs', async () => {
    const pidFile = temporaryFile('pids');
    const { channel, heard } = await start(faultyProgram('--pid-file', pidFile));
    const pids = await pidsOnce(pidFile, 1);
    await channel.send(call(1, 'echo', { text: 'unheard' }));
    const closing = channel.close();
    expect(channel.close()).toBe(closing);
    await closing;
    await channel.close();
    expect(pids.filter(isRunning)).toEqual([]);
    expect([heard.messages, heard.closes]).toEqual([[], 1]);
    expect(channel.report()).toEqual({ reason: 'it was closed' });
    expect(await failureOf(channel.send(call(2, 'echo')))).toMatchObject({ code: 'CONNECTION_LOST' });
  });

  verifies('TDN-03', 'what was sent just before still reaches the server', async () => {
    const effects = temporaryFile('effects');
    // Its grace is not over before it has read, however slowly it starts.
    const clock = createFakeClock();
    const { channel } = await start({ ...faultyProgram('--log', effects), clock });
    await channel.send(call(1, 'write', { text: '1' }));
    const closing = channel.close();
    await pidsOnce(effects, 1);
    await drive(clock, closing);
  });

  verifies('LIF-12', 'a server that stalls in its start is ended, with its descendants', async () => {
    const clock = createFakeClock();
    const pidFile = temporaryFile('pids');
    const flags = [
      '--fault=hang',
      '--at=any',
      '--fault=ignore-eof',
      '--fault=ignore-sigterm',
      '--fault=grandchild',
      '--pid-file',
      pidFile,
    ];
    const { channel, heard } = await start({ ...faultyProgram(...flags), clock });
    const pids = await pidsOnce(pidFile, 2);
    await channel.send({ jsonrpc: '2.0', id: 1, method: 'initialize' });
    await drive(clock, channel.close());
    expect(pids.filter(isRunning)).toEqual([]);
    expect([heard.messages, heard.closes]).toEqual([[], 1]);
    expect(clock.pending()).toBe(0);
  });

  verifies('TDN-03', 'a server that was stopped is ended all the same', async () => {
    const clock = createFakeClock();
    const { channel, heard } = await start({ ...faultyProgram(), clock });
    await channel.send(call(1, 'echo', { text: 'here' }));
    await heard.answerTo(1);
    process.kill(Number(channel.pid), 'SIGSTOP');
    await drive(clock, channel.close());
    expect(isRunning(Number(channel.pid))).toBe(false);
    expect([heard.closes, clock.pending()]).toEqual([1, 0]);
  });

  verifies('LIF-12', 'during the start it fails the start and leaves no process', async () => {
    const { channel, heard } = openChannel(faultyProgram('--fault=ignore-sigterm'));
    const starting = failureOf(channel.start());
    await channel.close();
    expect(await starting).toMatchObject({ code: 'CONNECTION_LOST', data: { reason: 'it was closed' } });
    expect(channel.pid === undefined || isRunning(channel.pid)).toBe(false);
    expect(heard.closes).toBe(1);
  });

  test('before the start, it forbids the start', async () => {
    const { channel, heard } = openChannel(faultyProgram());
    await channel.close();
    expect(await failureOf(channel.start())).toMatchObject({ code: 'CONNECTION_LOST' });
    expect([channel.pid, heard.closes]).toEqual([undefined, 0]);
  });

  test('after a failed start there is nothing to close', async () => {
    const { channel, heard } = openChannel(program('no-such-command-anywhere'));
    expect(await failureOf(channel.start())).toMatchObject({ code: 'SPAWN_FAILED' });
    await channel.close();
    expect(heard.closes).toBe(0);
  });
});
