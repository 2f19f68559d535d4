// Owns the remarks about a server below its state: why it is not ready, and what is unusual about it.
// They promise no later attempt, because the command ends as soon as it has printed them.

import { countFlaggedTexts } from '../../catalog/flagged-sentences.ts';
import type { ServerStatus } from '../../connection/status.ts';
import { limits } from '../../model/limits.ts';
import { shellWord } from './text.ts';

/** `reduced`: how many of the server's tools a model sees in a reduced form. Only counted here: `plexus get` has the details. */
export function remarksOn(status: ServerStatus, reduced = 0): readonly string[] {
  const { error, warnings = [] } = status;
  const why = error ? [`${error.message} [${error.code}]`] : stateRemark(status);
  const { count: flagged, others } = countFlaggedTexts(warnings);
  return [
    ...why,
    ...accountRemark(status),
    ...unapprovedRemark(status),
    ...gaveUpRemark(status),
    ...breakerRemark(status),
    ...others,
    ...countsRemark(status, { reduced, flagged }),
  ];
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
function attemptRemark({ transport, lastError, installer, protocol, name, reason }: ServerStatus): readonly string[] {
  const failed = lastError ? [`${lastError.message} [${lastError.code}]`] : [];
  const goesOn = `and goes on when this command ends, for ${INSTALL_MINUTES} min at most. Then look again.`;
  if (installer !== undefined) return [...failed, `It is not up yet: ${reason}, ${goesOn}`];
  if (protocol !== undefined)
    return [...failed, `${reason} Look again, or see what it does with: plexus logs ${shellWord(name)}`];
  if (lastError) return failed;
  return transport === 'stdio'
    ? ['It has not answered yet. Start its command by hand to see what it waits for.']
    : ['It has not answered yet. Check that its address answers.'];
}

/** An error says it already where the server asks first. */
function unapprovedRemark({ name, unapproved, error }: ServerStatus): readonly string[] {
  if (unapproved !== 'listed-only' || error?.code === 'SERVER_UNTRUSTED') return [];
  return [
    `Nobody approved it: it gets nothing of yours, and no model sees it. If you trust it, run: plexus approve ${shellWord(name)}`,
  ];
}

const accountRemark = ({ login }: ServerStatus): readonly string[] =>
  login?.account === undefined ? [] : [`In this folder it uses the account "${login.account}".`];

function gaveUpRemark({ name, state, gaveUp }: ServerStatus): readonly string[] {
  if (!gaveUp || state !== 'failed') return [];
  return [`Plexus gave up connecting to it. Try again with: plexus tools ${shellWord(name)}`];
}

function breakerRemark({ breaker }: ServerStatus): readonly string[] {
  if (breaker?.state !== 'open') return [];
  return [`Calls are blocked for another ${durationText(breaker.retryInMs ?? 0)}, because several failed in a row.`];
}

function countsRemark(
  { name }: ServerStatus,
  { reduced, flagged }: { readonly reduced: number; readonly flagged: number },
): readonly string[] {
  const counts = [
    ...(reduced > 0 ? [`${reduced} ${reduced === 1 ? 'tool is' : 'tools are'} shown to models shortened`] : []),
    ...(flagged > 0 ? [`${flagged} ${flagged === 1 ? 'text looks' : 'texts look'} like orders to a model`] : []),
  ];
  return counts.length === 0 ? [] : [`${counts.join(', ')}. Which ones: plexus get ${shellWord(name)}`];
}

function durationText(ms: number): string {
  if (ms < 60_000) return `${Math.max(1, Math.round(ms / 1_000))} s`;
  return `${Math.round(ms / 60_000)} min`;
}
