// Owns the remarks about a server below its state: why it is not ready, and what is unusual about it.
// They promise no later attempt, because the command ends as soon as it has printed them.

import type { ServerStatus } from '../../connection/status.ts';
import { limits } from '../../model/limits.ts';
import { shellWord } from './text.ts';

/** `reduced`: how many of the server's tools a model sees in a reduced form. */
export function remarksOn(status: ServerStatus, reduced = 0): readonly string[] {
  const { error, warnings = [] } = status;
  const why = error ? [`${error.message} [${error.code}]`] : stateRemark(status);
  return [...why, ...gaveUpRemark(status), ...breakerRemark(status), ...warnings, ...reducedRemark(status, reduced)];
}

/** For states that no error explains. */
function stateRemark(status: ServerStatus): readonly string[] {
  const { name, state, lifecycle, freshness } = status;
  switch (state) {
    case 'disabled':
      return [`It is disabled. Enable it with: plexus enable ${shellWord(name)}`];
    case 'idle':
      if (freshness === 'cached' && lifecycle === undefined) return [];
      return lifecycle === 'manual'
        ? [`It starts only when you name it (lifecycle = "manual"): plexus tools ${shellWord(name)}`]
        : [`It starts at its first call. Start it now with: plexus tools ${shellWord(name)}`];
    case 'connecting':
    case 'reconnecting':
      return attemptRemark(status);
    case 'stopped':
      return ['It was disconnected.'];
    default:
      return [];
  }
}

const INSTALL_MINUTES = limits.installGoesOnMs / 60_000;

/** While an attempt is under way, only the error of the one before is known. */
function attemptRemark({ transport, lastError, reason }: ServerStatus): readonly string[] {
  const failed = lastError ? [`${lastError.message} [${lastError.code}]`] : [];
  const goesOn = `and goes on when this command ends, for ${INSTALL_MINUTES} min at most. Then look again.`;
  if (reason !== undefined) return [...failed, `It is not up yet: ${reason}, ${goesOn}`];
  if (lastError) return failed;
  return transport === 'stdio'
    ? ['It has not answered yet. Start its command by hand to see what it waits for.']
    : ['It has not answered yet. Check that its address answers.'];
}

function gaveUpRemark({ name, state, gaveUp }: ServerStatus): readonly string[] {
  if (!gaveUp || state !== 'failed') return [];
  return [`Plexus gave up connecting to it. Try again with: plexus tools ${shellWord(name)}`];
}

function breakerRemark({ breaker }: ServerStatus): readonly string[] {
  if (breaker?.state !== 'open') return [];
  return [`Calls are blocked for another ${durationText(breaker.retryInMs ?? 0)}, because several failed in a row.`];
}

function reducedRemark({ name }: ServerStatus, count: number): readonly string[] {
  if (count === 0) return [];
  const what = count === 1 ? 'One of its tools is' : `${count} of its tools are`;
  return [`${what} shown to models reduced. See how ("reduced") with: plexus tools ${shellWord(name)} --json`];
}

function durationText(ms: number): string {
  if (ms < 60_000) return `${Math.max(1, Math.round(ms / 1_000))} s`;
  return `${Math.round(ms / 60_000)} min`;
}
