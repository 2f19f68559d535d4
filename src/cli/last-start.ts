// Owns what a server's log says about its latest start: the lines that it wrote to stderr since, and whether it was the first.

import type { ServerName } from '../model/names.ts';
import type { Context } from './command.ts';
import { openLog } from './open-log.ts';

export interface LastStart {
  /** Without the notes of the runtime. */
  readonly stderr: readonly string[];
  readonly isFirst: boolean;
}

/** As many lines as are searched for the start. */
const SEARCHED_LINES = 400;
const STARTED = /^--- \S+ started, pid \d+ ---$/;
const NOTE = /^--- .* ---$/;

/** `undefined`: the server has no log, as a remote one. */
export async function readLastStart(context: Context, server: ServerName): Promise<LastStart | undefined> {
  const lines = await openLog(context, server).last(SEARCHED_LINES);
  if (lines === undefined) return undefined;
  const at = lines.findLastIndex((line) => STARTED.test(line));
  return {
    stderr: lines.slice(at + 1).filter((line) => !NOTE.test(line)),
    isFirst: at >= 0 && lines.length < SEARCHED_LINES && lines.findIndex((line) => STARTED.test(line)) === at,
  };
}
