// Owns the proof that the checks of the fault matrix see what they are there to see: a check that never fails proves nothing.

import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { RuntimeError } from '../../src/model/errors.ts';
import type { ToolOutcome } from '../../src/model/tool.ts';
import { createMark, MARK_VARIABLE } from '../../src/transport/mark.ts';
import { eventually } from '../servers/processes.ts';
import { Ledger } from './ledger.ts';
import { Traces } from './traces.ts';

describe('the traces', () => {
  test('show nothing where nothing is left', async () => {
    const traces = new Traces();
    await traces.clock.sleep(5);
    traces.clock.after(1_000, () => undefined)();
    expect(await traces.left()).toEqual([]);
  });

  test('show a timer, also one that keeps no process alive', async () => {
    const traces = new Traces();
    const cancel = traces.clock.after(60_000, () => undefined, 'background');
    onTestFinished(cancel);
    expect(await traces.left()).toEqual([expect.stringMatching(/^a timer of 60000 ms .*harness\.test\.ts/)]);
  });

  test('show a socket, also one that keeps no process alive', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const traces = new Traces();
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').unref();
    onTestFinished(() => void socket.destroy());
    expect((await traces.left()).filter((line) => line.startsWith('a socket to 127.0.0.1'))).toHaveLength(1);
  });

  test('show a process, by its parentage or by its mark', async () => {
    const traces = new Traces();
    const started: ChildProcess[] = [];
    onTestFinished(() => started.forEach((each) => void each.kill('SIGKILL')));
    started.push(spawn('sleep', ['60'], { stdio: 'ignore' }));
    // Its parent is gone at once; only the mark tells whose it was.
    const orphan = spawn('sh', ['-c', 'sleep 61 & echo $!'], {
      env: { ...process.env, [MARK_VARIABLE]: createMark() },
    });
    let pid = '';
    orphan.stdout.on('data', (chunk) => {
      pid += chunk;
    });
    orphan.unref();
    await eventually(() => pid.includes('\n'));
    onTestFinished(() => void process.kill(Number(pid), 'SIGKILL'));
    orphan.stdout.destroy();
    const left = await traces.left();
    expect(left.filter((line) => line.includes('sleep 60'))).toHaveLength(1);
    expect(left.filter((line) => line.includes('sleep 61'))).toHaveLength(1);
  });

  test('show a listener of the process and a warning', async () => {
    const traces = new Traces();
    const listener = () => undefined;
    process.on('SIGUSR2', listener);
    onTestFinished(() => void process.off('SIGUSR2', listener));
    process.emitWarning('odd');
    await new Promise(setImmediate);
    expect(await traces.left()).toEqual(['a listener of the process: 1 × SIGUSR2', 'a warning: odd']);
  });
});

describe('the ledger', () => {
  const outcome = { isError: false } as ToolOutcome;
  const id = { server: 's', tool: 't' };
  const write = { what: 'write', effect: 'w' };
  const afterwards = async (ending: Promise<ToolOutcome>, ...effects: string[]) => {
    const ledger = new Ledger();
    await ledger.record(write, ending);
    return ledger.problems(effects);
  };
  const lost = () => Promise.reject(new RuntimeError('CONNECTION_LOST', { server: 's', reason: 'gone' }));
  const unknown = () => Promise.reject(new RuntimeError('OUTCOME_UNKNOWN', { ...id, reason: 'gone' }));

  test('is content with a write that was answered and made, not made and told so, or unknown', async () => {
    expect(await afterwards(Promise.resolve(outcome), 'w')).toEqual([]);
    expect(await afterwards(lost())).toEqual([]);
    expect(await afterwards(unknown())).toEqual([]);
    expect(await afterwards(unknown(), 'w')).toEqual([]);
  });

  test('finds a write made twice, never made, or made although it was denied', async () => {
    expect(await afterwards(Promise.resolve(outcome), 'w', 'w')).toEqual(['write took effect 2 times (answered)']);
    expect(await afterwards(Promise.resolve(outcome))).toEqual(['write was answered but never took effect']);
    expect(await afterwards(lost(), 'w')).toEqual(['write took effect although CONNECTION_LOST says it was not done']);
  });

  test('finds a call that never settles, and our own bugs', async () => {
    const ledger = new Ledger();
    void ledger.record({ what: 'echo' }, new Promise(() => undefined));
    await ledger.record({ what: 'big' }, Promise.reject(new RuntimeError('INTERNAL', { problem: 'oh' })));
    await expect(ledger.record({ what: 'slow' }, Promise.reject(new TypeError('x')))).rejects.toThrow('x');
    const problems = ledger.problems([]).map((line) => line.split('\n')[0]);
    expect(problems).toEqual([
      expect.stringContaining('big ended in our own bug'),
      'slow ended in what is no RuntimeError: TypeError: x',
      'echo #1 never settled',
      'slow #3 never settled',
    ]);
  });
});
