// Owns the ledger of the processes that a gateway has started, by pid and start time. A new gateway ends what one that was killed,
// together with its watchdog, left behind. A process that has the pid by now, and another start time, is left alone.

import { appendFileSync, writeFileSync } from 'node:fs';
import type { Clock } from '../kernel/clock.ts';
import { isOver, markOfProcess, markOfThisProcess, pidOfMark } from '../kernel/process-mark.ts';
import { isSystemError } from '../kernel/system-error.ts';
import { limits } from '../model/limits.ts';
import { send } from '../transport/family.ts';
import { MARK_VARIABLE } from '../transport/mark.ts';
import { environmentOf, listProcesses, runningGroupOf } from '../transport/proc.ts';
import { recordProcesses } from '../transport/started-processes.ts';
import { readIfThere } from './instance.ts';

/** The marks of processes that the ledger has begun and not ended. */
export function leftIn(text: string): readonly string[] {
  const open = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [sign, pid = '', ...mark] = line.split(' ');
    if (sign === '+') open.set(pid, mark.join(' '));
    else if (sign === '-') open.delete(pid);
  }
  // A damaged file may hold anything: a text that is no mark names no process.
  return [...open.values()].filter((mark) => pidOfMark(mark) !== undefined);
}

/** Writes down every process that this one starts from now on. Returns a function that ends that. */
export function keepLedger(file: string): () => void {
  writeFileSync(file, '', { mode: 0o600 });
  const note = (line: string) => {
    try {
      appendFileSync(file, `${line}\n`);
    } catch (error) {
      // A full disk must not keep a server from starting: the watchdog guards it as well.
      if (!isSystemError(error)) throw error;
    }
  };
  recordProcesses({
    started: (pid) => note(`+ ${pid} ${markOfProcess(pid) ?? ''}`),
    ended: (pid) => note(`- ${pid}`),
  });
  return () => recordProcesses(undefined);
}

/** Ends the process groups that a former gateway left behind. Resolves with how many there were. */
export async function sweepLedger(file: string, clock: Clock): Promise<number> {
  const left = leftIn(readIfThere(file) ?? '')
    .flatMap(recordedIn)
    .filter(isLeft);
  for (const { pid } of left) send(-pid, 'SIGTERM');
  const until = clock.now() + limits.terminateGraceMs;
  while (left.some(isLeft) && clock.now() < until) await clock.sleep(limits.goneCheckMs);
  for (const each of left) if (isLeft(each)) send(-each.pid, 'SIGKILL');
  return left.length;
}

interface Recorded {
  readonly mark: string;
  readonly pid: number;
}

/** Nothing for a line that is damaged. */
function recordedIn(mark: string): readonly Recorded[] {
  const pid = pidOfMark(mark);
  return pid === undefined ? [] : [{ mark, pid }];
}

/** Whether the process, or its group without it, is there. A mark of another boot or container says nothing about a process of this one. */
function isLeft({ mark, pid }: Recorded): boolean {
  const isHere = markOfThisProcess()?.split(' ').slice(0, 3).join(' ') === mark.split(' ').slice(0, 3).join(' ');
  const now = markOfProcess(pid);
  if (!isHere || (now !== undefined && now !== mark)) return false;
  return isOver(mark) ? hasGroup(pid) : true;
}

/** A group that lost its leader: its members carry what every process of Plexus does. */
const hasGroup = (pid: number) =>
  listProcesses().some((member) => runningGroupOf(member) === pid && environmentOf(member).some(isOurs));

const isOurs = (variable: string) => variable.startsWith(`${MARK_VARIABLE}=`);
