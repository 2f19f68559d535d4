// Owns the proof that no server outlives its host, however the host ends; with a real host, in a process of its own.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, expect } from 'vitest';
import { send } from '../../src/transport/family.ts';
import { listProcesses, runningGroupOf } from '../../src/transport/proc.ts';
import { FAULTY } from '../servers/faulty.ts';
import { eventually, isRunning, pidsIn, pidsOnce, temporaryFile } from '../servers/processes.ts';
import { verifies } from '../verifies.ts';

const HOST = fileURLToPath(new URL('./watchdog-host.mjs', import.meta.url));
const started: number[] = [];

afterEach(() => {
  for (const pid of started.splice(0)) send(pid, 'SIGKILL');
});

interface Host {
  readonly process: ChildProcessWithoutNullStreams;
  readonly pid: number;
  readonly exited: Promise<number | null>;
  /** Two servers and a descendant of each. */
  readonly servers: readonly number[];
  readonly watchdog: number;
  said(line: string): Promise<unknown>;
}

async function startHost(): Promise<Host> {
  const pidFile = temporaryFile('pids');
  const host = spawn(process.execPath, [HOST, FAULTY, pidFile], { stdio: 'pipe' });
  const pid = Number(host.pid);
  started.push(pid);
  let output = '';
  host.stdout.on('data', (chunk) => {
    output += chunk;
  });
  host.stderr.pipe(process.stderr);
  const said = (line: string) => eventually(() => output.includes(line));
  const exited = new Promise<number | null>((resolve) => host.once('exit', resolve));
  await said('started');
  const servers = await pidsOnce(pidFile, 4);
  const watchdog = await watchdogOf(pid);
  started.push(...servers, watchdog);
  return { process: host, pid, exited, servers, watchdog, said };
}

function watchdogOf(host: number): Promise<number> {
  return eventually(() =>
    listProcesses().find((pid) => readProc(pid, 'cmdline').includes('plexus-watchdog') && parentOf(pid) === host),
  );
}

const parentOf = (pid: number) => Number(readProc(pid, 'stat').split(') ').at(-1)?.split(' ')[1]);

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch (error) {
    if (error instanceof Error && 'code' in error) return '';
    throw error;
  }
}

/** None of them would end by itself, so that it does not matter how long it takes. */
const allGone = (pids: readonly number[]) => eventually(() => !pids.some(isRunning));

verifies(['TDN-04', 'EXT-08'], 'a host that is killed takes even the most stubborn servers with it', async () => {
  const host = await startHost();
  process.kill(host.pid, 'SIGKILL');
  await allGone([...host.servers, host.watchdog]);
});

/** How often the host is looked at again, at some 10 µs each, between its first spawn and its end. */
const LOOKS = [0, 0, 10, 100, 1_000, 3_000];

/** Starts a host and kills it, so long after its first spawn. Without a pause: the next spawn follows within a millisecond. */
function killWhileStarting(looks: number): string {
  const pidFile = temporaryFile('pids');
  const host = spawn(process.execPath, [HOST, FAULTY, pidFile], { stdio: ['pipe', 'ignore', 'inherit'] });
  const pid = Number(host.pid);
  started.push(pid);
  while (childrenOf(pid) === '') expect(isRunning(pid)).toBe(true);
  for (let look = 0; look < looks; look++) childrenOf(pid);
  process.kill(pid, 'SIGKILL');
  return pidFile;
}

const childrenOf = (pid: number) => readProc(pid, `task/${pid}/children`);
/** From its fork on, a child has the words of the host or its own, and both name the file. */
const isNamed = (pidFile: string) => listProcesses().filter((pid) => readProc(pid, 'cmdline').includes(pidFile));

verifies(
  ['TDN-04', 'EXT-08'],
  'a host that is killed at any moment from its first spawn on leaves nothing',
  async () => {
    const pidFiles = LOOKS.map(killWhileStarting);
    const left = () => pidFiles.map((file) => [...isNamed(file), ...pidsIn(file).filter(isRunning)]);
    await eventually(() => left().every((pids) => pids.length === 0)).finally(() => started.push(...left().flat()));
  },
);

verifies(['TDN-04', 'EXT-08'], 'a host that exits without closing takes its servers with it', async () => {
  const host = await startHost();
  host.process.stdin.write('exit\n');
  await allGone([...host.servers, host.watchdog]);
});

verifies(['TDN-03', 'TDN-04'], 'after an orderly close nothing is left, and the host can exit', async () => {
  const host = await startHost();
  host.process.stdin.write('close\n');
  await host.said('closed');
  expect([host.pid, ...host.servers, host.watchdog].filter(isRunning)).toEqual([host.pid]);
  host.process.stdin.end();
  expect(await host.exited).toBe(0);
});

verifies('TDN-03', 'a host that has nothing else to do still finishes its closing', async () => {
  const host = await startHost();
  host.process.stdin.end();
  await host.said('closed');
  expect(await host.exited).toBe(0);
  expect([...host.servers, host.watchdog].filter(isRunning)).toEqual([]);
});

verifies('TDN-04', 'a watchdog that is killed is replaced by one that knows as much', async () => {
  const host = await startHost();
  process.kill(host.watchdog, 'SIGKILL');
  const second = await eventually(() => !isRunning(host.watchdog)).then(() => watchdogOf(host.pid));
  started.push(second);
  process.kill(host.pid, 'SIGKILL');
  await allGone([...host.servers, second]);
});

verifies('TDN-04', 'what a terminal sends to its programs does not reach the watchdog', async () => {
  const { watchdog } = await startHost();
  expect(runningGroupOf(watchdog)).toBe(watchdog);
  const [hangup, interrupt, quit, terminate] = [1n << 0n, 1n << 1n, 1n << 2n, 1n << 14n];
  const ignored = () => BigInt(`0x${/^SigIgn:\s+(\w+)$/m.exec(readProc(watchdog, 'status'))?.[1] ?? 0}`);
  const expected = hangup | interrupt | quit | terminate;
  await eventually(() => (ignored() & expected) === expected);
});

verifies('TDN-04', 'the watchdog is small', async () => {
  const host = await startHost();
  const privateKilobytes = [...readProc(host.watchdog, 'smaps_rollup').matchAll(/^Private_\w+:\s+(\d+) kB$/gm)];
  expect(privateKilobytes.length).toBeGreaterThan(0);
  expect(privateKilobytes.reduce((sum, [, kilobytes]) => sum + Number(kilobytes), 0)).toBeLessThan(2_048);
});
