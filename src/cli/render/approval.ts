// Owns how the approval of a server is drawn: the command as it would run, what has changed, what it may read, and how far it reaches.

import type { ServerApproval } from '../entry-approval.ts';
import { shellWord } from './text.ts';

export function approvalText(approved: ServerApproval): string {
  const { name, command, already, isOwn, isRemote, grants, withheld, seesEverything, changes, displaces } = approved;
  if (isOwn) return [`"${name}" is in your own file and needs no approval.`, ...previewLines(approved)].join('\n');
  const lines = [
    already
      ? `"${name}" is already approved.`
      : `"${name}" ${isRemote ? 'is approved. It is at' : 'is approved and may start. It runs'}: ${command}`,
    ...previewLines(approved),
    ...(changes.length > 0 ? [`Changed since it was last approved: ${changes.join('; ')}.`] : []),
    ...(displaces === undefined ? [] : [`It replaces your own server of that name, in ${displaces}.`]),
    ...contentsLines(approved),
    ...proposalLines(approved),
    ...(grants.length > 0 ? [`It may read your environment variables ${grants.join(', ')}.`] : []),
    ...(seesEverything ? ['It gets ALL of your environment variables, as its file asks.'] : []),
    ...withheld.map(
      (variable) =>
        `It does not get your ${variable}, which would be sent to its server. To allow it: plexus approve ${shellWord(name)} --allow-env ${variable}`,
    ),
  ];
  return lines.join('\n');
}

/** Says how far the approval of a local server reaches. */
function contentsLines({ name, already, isRemote, isPinned, pinned = [] }: ServerApproval): readonly string[] {
  if (already || isRemote) return [];
  if (!isPinned)
    return [
      `This approves the command, not what its files say later. To cover those of this folder: plexus approve ${shellWord(name)} --pin-files`,
    ];
  if (pinned.length === 0) return ['It names no file of this folder, so no contents are covered.'];
  return [`It asks again once one of these files changes: ${pinned.join(', ')}.`];
}

/** The filled command, where it differs from the written one, and whose answer each input has. */
function previewLines({ command, filled = command, answers = [] }: ServerApproval): readonly string[] {
  return [
    ...(filled === command ? [] : [`With everything filled in: ${filled}`]),
    ...answers.map(({ id, by, default: preset }) => {
      if (by === 'you') return `Its input "${id}": answered by you.`;
      if (by === 'default') return `Its input "${id}": the default of the file.`;
      const proposal = preset === undefined ? '' : ` The file proposes ${shellWord(preset)}, which fills nothing.`;
      return `Its input "${id}": nobody has answered it yet. You are asked when the server starts.${proposal}`;
    }),
  ];
}

/** A proposal only: the person may want the newest version each time. */
function proposalLines({ proposal }: ServerApproval): readonly string[] {
  if (proposal === undefined) return [];
  const { package: name, version, write, inPlaceOf } = proposal;
  return [
    `It names no version of ${name}; ${version} is what was fetched last. To approve exactly this version, write ${shellWord(write)} in place of ${shellWord(inPlaceOf)}.`,
  ];
}
