// Owns looking at real processes from a test: which of them run, and waiting until none does.

import { existsSync, readFileSync } from 'node:fs';

/** A zombie has ended; only nobody has asked for its exit code. */
export function isRunning(pid: number): boolean {
  try {
    const state = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.[0];
    return state !== 'Z' && state !== 'X';
  } catch {
    return false;
  }
}

/** The pids a hostile server wrote down with `--pid-file`. */
export function pidsIn(file: string): number[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number) : [];
}

/** Looks again and again, because a real process keeps its own time; fails loudly when the time is up. */
export async function until(condition: () => boolean, withinMs = 10_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`it did not happen within ${withinMs} ms: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
