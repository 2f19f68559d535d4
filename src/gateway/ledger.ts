// Owns the ledger of the processes that a gateway has started, by pid and start time. A new gateway ends what one that was killed,
// together with its watchdog, left behind. A process that has the pid by now, and another start time, is left alone.

import { appendFileSync, writeFileSync } from 'node:fs';
import type { Clock } from '../kernel/clock.ts';
import { isOver, markOfProcess, markOfThisProcess } from '../kernel/process-mark.ts';
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
  return [...open.values()].filter((mark) => mark !== '');
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
  const left = leftIn(readIfThere(file) ?? '').filter(isLeft);
  for (const mark of left) send(-pidOf(mark), 'SIGTERM');
  const until = clock.now() + limits.terminateGraceMs;
  while (left.some(isLeft) && clock.now() < until) await clock.sleep(limits.goneCheckMs);
  for (const mark of left) if (isLeft(mark)) send(-pidOf(mark), 'SIGKILL');
  return left.length;
}

/** A mark names the pid before the start time. */
const pidOf = (mark: string) => Number(mark.split(' ').at(-2));

/** Whether the process, or its group without it, is there. A mark of another boot or container says nothing about a process of this one. */
function isLeft(mark: string): boolean {
  const isHere = markOfThisProcess()?.split(' ').slice(0, 3).join(' ') === mark.split(' ').slice(0, 3).join(' ');
  const pid = pidOf(mark);
  const now = markOfProcess(pid);
  if (!isHere || (now !== undefined && now !== mark)) return false;
  return isOver(mark) ? hasGroup(pid) : true;
}

/** A group that lost its leader: its members carry what every process of Plexus does. */
const hasGroup = (pid: number) =>
  listProcesses().some((member) => runningGroupOf(member) === pid && environmentOf(member).some(isOurs));

const isOurs = (variable: string) => variable.startsWith(`${MARK_VARIABLE}=`);
