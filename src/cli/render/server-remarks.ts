// Owns what a person is told about a server beside its state: why it is not ready, and what is odd.
// A command ends as soon as it has answered: no attempt that would come later is promised.

import type { ServerStatus } from '../../connection/status.ts';
import { shellWord } from './text.ts';

/** `reduced`: how many of its tools a model is not shown as they are. */
export function remarksOn(status: ServerStatus, reduced = 0): readonly string[] {
  const { error, warnings = [] } = status;
  const why = error ? [`${error.message} [${error.code}]`] : silentReason(status);
  return [...why, ...usedUp(status), ...heldBack(status), ...warnings, ...shownReduced(status, reduced)];
}

/** States that no failure explains. */
function silentReason(status: ServerStatus): readonly string[] {
  const { name, state, lifecycle, freshness } = status;
  switch (state) {
    case 'disabled':
      return [`It is switched off. Switch it on with: plexus enable ${shellWord(name)}`];
    case 'idle':
      if (freshness === 'cached' && lifecycle === undefined) return [];
      return lifecycle === 'manual'
        ? [`It is started by hand only (lifecycle = "manual"): plexus tools ${shellWord(name)}`]
        : [`It waits for its first call. Start it now with: plexus tools ${shellWord(name)}`];
    case 'connecting':
    case 'reconnecting':
      return underWay(status);
    case 'stopped':
      return ['It was disconnected.'];
    default:
      return [];
  }
}

/** Why the attempt before failed is all that is known of this one. */
function underWay({ transport, lastError }: ServerStatus): readonly string[] {
  if (lastError) return [`${lastError.message} [${lastError.code}]`];
  return transport === 'stdio'
    ? ['It has not answered yet. Start its command by hand to see what it waits for.']
    : ['It has not answered yet. Check that its address answers.'];
}

function usedUp({ name, state, gaveUp }: ServerStatus): readonly string[] {
  if (!gaveUp || state !== 'failed') return [];
  return [`Its attempts are used up. Try it again with: plexus tools ${shellWord(name)}`];
}

function heldBack({ breaker }: ServerStatus): readonly string[] {
  if (breaker?.state !== 'open') return [];
  return [`Calls are held back for another ${span(breaker.retryInMs ?? 0)}, because several failed in a row.`];
}

function shownReduced({ name }: ServerStatus, count: number): readonly string[] {
  if (count === 0) return [];
  const what = count === 1 ? 'One of its tools is' : `${count} of its tools are`;
  return [`${what} shown to models reduced. See how ("reduced") with: plexus tools ${shellWord(name)} --json`];
}

function span(ms: number): string {
  if (ms < 60_000) return `${Math.max(1, Math.round(ms / 1_000))} s`;
  return `${Math.round(ms / 60_000)} min`;
}
