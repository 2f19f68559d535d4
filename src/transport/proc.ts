// Owns reading processes from /proc on Linux. A result may be out of date as soon as it is returned.

import { readdirSync, readFileSync } from 'node:fs';
import { errorCode } from './error-code.ts';

export function listProcesses(): number[] {
  return (orNothing(() => readdirSync('/proc')) ?? []).filter((name) => /^\d+$/.test(name)).map(Number);
}

/** The group of a running process. A zombie does not count: it waits for its parent to collect it, and some parents never do. */
export function runningGroupOf(pid: number): number | undefined {
  // The command's name stands in parentheses and may itself contain a parenthesis.
  const [state, , group] = read(pid, 'stat')?.split(') ').at(-1)?.split(' ') ?? [];
  return state === undefined || state === 'Z' || state === 'X' ? undefined : Number(group);
}

/** The environment a process was started with, as `NAME=value`. Empty for zombies and processes of other users. */
export function environmentOf(pid: number): string[] {
  return read(pid, 'environ')?.split('\0') ?? [];
}

const read = (pid: number, file: string): string | undefined =>
  orNothing(() => readFileSync(`/proc/${pid}/${file}`, 'latin1'));

function orNothing<Value>(reading: () => Value): Value | undefined {
  try {
    return reading();
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
}
