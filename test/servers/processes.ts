// Owns what tests need to look at real processes from outside.

import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, onTestFinished, TestRunner } from 'vitest';
import { runningGroupOf } from '../../src/transport/proc.ts';
import { removeFolder } from '../remove-folder.ts';

/** So long that only a hang runs into it: a busy machine may take ten times as long as an idle one. */
export const PATIENCE_MS = 45_000;
const POLL_MS = 5;

/** In a folder of its own, which is removed after the test, or after the tests of the file. */
export function temporaryFile(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'plexus-'));
  const atTheEnd = TestRunner.getCurrentTest() === undefined ? afterAll : onTestFinished;
  atTheEnd(() => removeFolder(folder));
  return join(folder, name);
}

/** Polls until the condition holds, since real processes need their time; throws when it takes too long. */
export async function eventually<Value>(
  look: () => Value | undefined | false | Promise<Value | undefined | false>,
  withinMs = PATIENCE_MS,
): Promise<Value> {
  const until = Date.now() + withinMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    if (Date.now() > until) throw new Error(`not within ${withinMs} ms: ${look}`);
    await wait(POLL_MS);
  }
}

/** A zombie is not running. */
export const isRunning = (pid: number): boolean => runningGroupOf(pid) !== undefined;

/** The pids that servers have written down by now with `--pid-file`. */
export function pidsIn(file: string): number[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

/** The same, once there are so many. */
export function pidsOnce(file: string, count: number): Promise<number[]> {
  return eventually(() => {
    const pids = pidsIn(file);
    return pids.length >= count && pids;
  });
}
