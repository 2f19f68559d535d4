// Owns finding descendants by their process group, and on Linux also the descendants that left the group.

import { type EndSignal, type Family, type Leader, send } from './family.ts';
import { carries, findMarked } from './mark.ts';
import { listProcesses, runningGroupOf } from './proc.ts';

/** A group that was once found gone stays gone: from then on the system may give its number to other processes. */
class Group {
  readonly leader: Leader;
  #isGone = false;

  constructor(leader: Leader) {
    this.leader = leader;
  }

  isRunning(): boolean {
    this.#isGone ||= this.leader.hasExited() && !(send(-this.leader.pid, 0) && this.hasRunningMember());
    return !this.#isGone;
  }

  signal(signal: EndSignal): void {
    if (this.isRunning()) send(-this.leader.pid, signal);
  }

  protected hasRunningMember(): boolean {
    return true;
  }
}

/** Does not count zombies as running. */
class LinuxGroup extends Group {
  /** The member that the last check found: most checks then read one file instead of all of /proc. */
  #member: number | undefined;

  isMember(pid: number): boolean {
    return runningGroupOf(pid) === this.leader.pid;
  }

  protected override hasRunningMember(): boolean {
    if (this.#member === undefined || !this.isMember(this.#member))
      this.#member = listProcesses().find((pid) => this.isMember(pid));
    return this.#member !== undefined;
  }
}

/** The group, and its strays: processes that left the group and carry its mark. */
class LinuxFamily implements Family {
  readonly #group: LinuxGroup;
  #strays: readonly number[] = NONE;

  constructor(leader: Leader) {
    this.#group = new LinuxGroup(leader);
  }

  async isRunning(): Promise<boolean> {
    if (this.#group.isRunning() || this.#strays.some((pid) => this.#isStray(pid))) return true;
    await this.#findStrays();
    return this.#strays.length > 0;
  }

  async signal(signal: EndSignal): Promise<void> {
    this.#group.signal(signal);
    await this.#findStrays();
    for (const stray of this.#strays) send(stray, signal);
  }

  #isStray(pid: number): boolean {
    return carries(pid, this.#group.leader.mark) && !this.#group.isMember(pid);
  }

  async #findStrays(): Promise<void> {
    const marked = await findMarked(this.#group.leader.mark);
    this.#strays = marked.filter((pid) => this.#isStray(pid));
  }
}

const NONE: readonly number[] = [];

export const createGroup = (leader: Leader): Family => new Group(leader);
export const createLinuxFamily = (leader: Leader): Family => new LinuxFamily(leader);
