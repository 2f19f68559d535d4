// Owns finding descendants by their process group, and on Linux also those that left it.

import { type EndSignal, type Family, type Leader, send } from './family.ts';
import { carries, findMarked } from './mark.ts';
import { listProcesses, runningGroupOf } from './proc.ts';

interface Group {
  isRunning(): boolean;
  signal(signal: EndSignal): void;
}

/** Once gone, always gone: from then on its number may be given to others. */
export function createGroup(leader: Leader, hasRunningMember: () => boolean = () => true): Group {
  let gone = false;
  const isRunning = () => {
    gone ||= leader.hasExited() && !(send(-leader.pid, 0) && hasRunningMember());
    return !gone;
  };
  return {
    isRunning,
    signal(signal) {
      if (isRunning()) send(-leader.pid, signal);
    },
  };
}

/** The group without its zombies, and its strays: whoever left it and carries the mark. */
export function createLinuxFamily(leader: Leader): Family {
  // Whom the last look found: most looks read one file instead of all of /proc.
  let member: number | undefined;
  let strays: readonly number[] = [];

  const isMember = (pid: number) => runningGroupOf(pid) === leader.pid;
  const isStray = (pid: number) => carries(pid, leader.mark) && !isMember(pid);
  const findStrays = async () => (await findMarked(leader.mark)).filter(isStray);
  const group = createGroup(leader, () => {
    if (member === undefined || !isMember(member)) member = listProcesses().find(isMember);
    return member !== undefined;
  });

  return {
    async isRunning() {
      if (group.isRunning() || strays.some(isStray)) return true;
      strays = await findStrays();
      return strays.length > 0;
    },
    async signal(signal) {
      group.signal(signal);
      strays = await findStrays();
      for (const stray of strays) send(stray, signal);
    },
  };
}
