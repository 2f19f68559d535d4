// Owns that every contestant's servers run in sessions of their own, as those of Plexus do. Linux shares out the processors by
// sessions (`sched_autogroup`, for processes in no control group of their own): on a busy machine a client and a server of the
// same session take turns within one share, and those of two sessions wait for everybody else between any two messages.

import children from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

const { spawn } = children;

/** Also for modules that were loaded before. Elsewhere sessions mean nothing to the scheduler. */
export function startInOwnSessions() {
  if (process.platform !== 'linux') return;
  children.spawn = (command, args, options) => spawn(command, args, { ...options, detached: true });
  syncBuiltinESMExports();
}
