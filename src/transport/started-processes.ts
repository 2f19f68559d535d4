// Owns telling which process groups of servers run at present, for a host that keeps a ledger of them on the disk: the watchdog ends
// them with their host, and the ledger is for the case that both were killed.

export interface StartedProcesses {
  started(pid: number): void;
  ended(pid: number): void;
}

let ledger: StartedProcesses | undefined;

/** Told of every process group that is started from now on, until the next call. */
export function recordProcesses(next: StartedProcesses | undefined): void {
  ledger = next;
}

export const noteStarted = (pid: number): void => ledger?.started(pid);
export const noteEnded = (pid: number): void => ledger?.ended(pid);
