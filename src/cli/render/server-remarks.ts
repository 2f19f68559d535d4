// Owns what a person is told about a server beside its state: why it is not ready, when it is tried again, what is odd.

import type { ServerStatus } from '../../connection/status.ts';
import { shellWord } from './text.ts';

export function remarksOn(status: ServerStatus): readonly string[] {
  const { error, warnings = [] } = status;
  const why = error ? [`${error.message} [${error.code}]`] : silentReason(status);
  return [...why, ...nextAttempt(status), ...heldBack(status), ...warnings];
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
  if (lastError) return [`${lastError.message} [${lastError.code}]`, 'It is being tried again right now.'];
  return transport === 'stdio'
    ? ['It has not answered yet. Start its command by hand to see what it waits for.']
    : ['It has not answered yet. Check that its address answers.'];
}

function nextAttempt({ name, state, nextRetryInMs, gaveUp }: ServerStatus): readonly string[] {
  if (nextRetryInMs !== undefined) return [`It is tried again in ${span(nextRetryInMs)}.`];
  if (!gaveUp || state !== 'failed') return [];
  return [`Its attempts are used up. Try it again with: plexus tools ${shellWord(name)}`];
}

function heldBack({ breaker }: ServerStatus): readonly string[] {
  if (breaker?.state !== 'open') return [];
  return [`Calls are held back for another ${span(breaker.retryInMs ?? 0)}, because several failed in a row.`];
}

function span(ms: number): string {
  if (ms < 60_000) return `${Math.max(1, Math.round(ms / 1_000))} s`;
  return `${Math.round(ms / 60_000)} min`;
}
