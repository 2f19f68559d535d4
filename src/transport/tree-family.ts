// Owns finding descendants where no process group holds them: with `ps` on macOS, with `taskkill` on Windows.

import { execFile } from 'node:child_process';
import { type Family, type Leader, send } from './family.ts';
import { MARK_VARIABLE } from './mark.ts';

interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  /** Together with the number it is one process: a number alone is given again. */
  readonly started: string;
  /** With the environment, as far as `ps` may show it. */
  readonly command: string;
}

/** `-E` adds the environment to the command; `lstart` is always 24 characters wide. */
const PS_ARGUMENTS = ['-axEww', '-o', 'pid=,ppid=,stat=,lstart=,command='] as const;

const PS_ROW = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\S.{23})\s(.*)$/;

/** Without zombies: they only wait for a parent to notice. */
export function parseProcessTable(table: string): ProcessRow[] {
  return table.split('\n').flatMap((line) => {
    const [, pid, parent, state, started, command] = PS_ROW.exec(line) ?? [];
    if (state === undefined || started === undefined || command === undefined || state.startsWith('Z')) return [];
    return [{ pid: Number(pid), parent: Number(parent), started, command }];
  });
}

/**
 * Known ones, their descendants and whoever carries the mark. The known ones are passed on from look to look, because a
 * process loses its parent when that exits.
 */
export function findRelatives(rows: readonly ProcessRow[], known: readonly ProcessRow[], mark: string): ProcessRow[] {
  const isMarked = (row: ProcessRow) => `${row.command} `.includes(` ${MARK_VARIABLE}=${mark} `);
  const isKnown = (row: ProcessRow) => known.some((each) => each.pid === row.pid && each.started === row.started);
  const relatives = new Set(rows.filter((row) => isKnown(row) || isMarked(row)));
  for (const relative of relatives) {
    for (const row of rows) if (row.parent === relative.pid) relatives.add(row);
  }
  return [...relatives];
}

export function createTreeFamily(leader: Leader): Family {
  let known: readonly ProcessRow[] | undefined;

  const look = async () => {
    const rows = parseProcessTable(await outputOf('ps', PS_ARGUMENTS));
    const root = leader.hasExited() ? [] : rows.filter((row) => row.pid === leader.pid);
    known = findRelatives(rows, [...(known ?? []), ...root], leader.mark);
    return known;
  };

  return {
    async isRunning() {
      // The first look learns who descends from the leader, as long as it is there; until it exits no other is needed.
      const relatives = known === undefined || leader.hasExited() ? await look() : known;
      return relatives.length > 0 || !leader.hasExited();
    },
    async signal(signal) {
      const pids = new Set((await look()).map(({ pid }) => pid));
      if (!leader.hasExited()) pids.add(leader.pid);
      for (const pid of pids) send(pid, signal);
    },
  };
}

export function taskkillArguments(pid: number): readonly string[] {
  return ['/pid', String(pid), '/T', '/F'];
}

/** Windows knows no polite signal for a console program: the end of its input was the polite one. */
export function createWindowsFamily(leader: Leader): Family {
  return {
    isRunning: () => !leader.hasExited(),
    async signal(signal) {
      if (signal === 'SIGKILL' && !leader.hasExited()) await outputOf('taskkill', taskkillArguments(leader.pid));
    },
  };
}

/** What was printed until a failure counts as well: a look that shows nothing is repeated anyway. */
function outputOf(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(command, [...args], { windowsHide: true, maxBuffer: Number.POSITIVE_INFINITY }, (_error, stdout) =>
      resolve(stdout),
    );
  });
}
