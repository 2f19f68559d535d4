// Owns finding descendants on platforms without a process group for them: with `ps` on macOS, with `taskkill` on Windows.

import { execFile } from 'node:child_process';
import { type Family, type Leader, send } from './family.ts';
import { MARK_VARIABLE } from './mark.ts';

interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  /** Identifies the process together with the pid, which alone may be reused. */
  readonly started: string;
  /** Includes the environment, as far as `ps` may show it. */
  readonly command: string;
}

/** `-E` adds the environment to the command; `lstart` is always 24 characters wide. */
const PS_ARGUMENTS = ['-axEww', '-o', 'pid=,ppid=,stat=,lstart=,command='] as const;

const PS_ROW = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\S.{23})\s(.*)$/;

/** Leaves out zombies, which only wait for their parent to collect them. */
export function parseProcessTable(table: string): ProcessRow[] {
  return table.split('\n').flatMap((line) => {
    const [, pid, parent, state, started, command] = PS_ROW.exec(line) ?? [];
    if (state === undefined || started === undefined || command === undefined || state.startsWith('Z')) return [];
    return [{ pid: Number(pid), parent: Number(parent), started, command }];
  });
}

/**
 * Returns the known processes, their descendants and every process with the mark. The caller passes the result of one scan
 * to the next, because a process loses its parent when the parent exits.
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

  const scan = async () => {
    const rows = parseProcessTable(await outputOf('ps', PS_ARGUMENTS));
    const root = leader.hasExited() ? [] : rows.filter((row) => row.pid === leader.pid);
    known = findRelatives(rows, [...(known ?? []), ...root], leader.mark);
    return known;
  };

  return {
    async isRunning() {
      // The first scan finds the leader's descendants while the leader is there; no other is needed until it exits.
      const relatives = known === undefined || leader.hasExited() ? await scan() : known;
      return relatives.length > 0 || !leader.hasExited();
    },
    async signal(signal) {
      const pids = new Set((await scan()).map(({ pid }) => pid));
      if (!leader.hasExited()) pids.add(leader.pid);
      for (const pid of pids) send(pid, signal);
    },
  };
}

export function taskkillArguments(pid: number): readonly string[] {
  return ['/pid', String(pid), '/T', '/F'];
}

/** Windows has no equivalent of SIGTERM for a console program: closing its stdin was the polite request. */
export function createWindowsFamily(leader: Leader): Family {
  return {
    isRunning: () => !leader.hasExited(),
    async signal(signal) {
      if (signal === 'SIGKILL' && !leader.hasExited()) await outputOf('taskkill', taskkillArguments(leader.pid));
    },
  };
}

/** Resolves with the output so far if the command fails: a scan that found nothing is repeated anyway. */
function outputOf(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(command, [...args], { windowsHide: true, maxBuffer: Number.POSITIVE_INFINITY }, (_error, stdout) =>
      resolve(stdout),
    );
  });
}
