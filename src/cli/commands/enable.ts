// Owns `plexus enable` and `plexus disable`: a server is used or not, and keeps its entry either way.

import { RuntimeError } from '../../model/errors.ts';
import type { ServerName } from '../../model/names.ts';
import { findClaim, nameIn, placeOf } from '../claim.ts';
import type { Command, CommandResult, Context } from '../command.ts';
import { edit } from '../edit.ts';
import { loadConfigFor, openTrust } from '../load-config.ts';
import { printable, shellWord } from '../render/text.ts';

const switching = (enabled: boolean): Command => ({
  usage: `${enabled ? 'enable' : 'disable'} NAME [--scope local|project|user]`,
  options: { scope: { type: 'string', short: 's' } },
  help: { 'scope SCOPE': 'in the file of this scope; otherwise in the one that counts' },
  run: (context) => switchServer(context, nameIn(context), enabled),
});

export const enable = switching(true);
export const disable = switching(false);

async function switchServer(context: Context, name: ServerName, enabled: boolean): Promise<CommandResult> {
  const { scope, file } = await findClaim(context, name);
  const edited = await edit(context, file, { kind: 'enable', name, enabled });
  // It went between the two looks.
  if (edited.kind === 'absent') throw new RuntimeError('SERVER_UNKNOWN', { server: name, nearest: [] });
  const changed = edited.kind === 'written';
  const because = await contradiction(context, name, { file, enabled });
  const word = enabled ? 'enabled' : 'disabled';
  const lines = [
    changed
      ? `"${name}" is ${word} now, in ${placeOf({ scope, file })}.`
      : `"${name}" is ${word} already, in ${placeOf({ scope, file })}.`,
    ...(because === undefined ? [] : [because]),
  ];
  return {
    data: { name, scope, file, entry: edited.entry, enabled, changed, ...(because !== undefined && { because }) },
    text: () => printable(lines.join('\n')),
  };
}

/** What else has a say: the entry is as it should be, and the server may still not be what the person wants. */
async function contradiction(
  context: Context,
  name: ServerName,
  { file, enabled }: { readonly file: string; readonly enabled: boolean },
): Promise<string | undefined> {
  const { definitions, refused } = await loadConfigFor(context);
  const definition = definitions.find((each) => each.name === name);
  if (definition === undefined) return undefined;
  const { provenance, settings } = definition;
  if (provenance.file !== file) return `But the one in ${placeOf(provenance)} counts, and is as it was.`;
  if (!enabled) return settings.enabled ? 'It is still in use: "enabledServers" names it.' : undefined;
  const refusal = refused.get(name);
  if (refusal !== undefined) return `It is still not in use: ${refusal}.`;
  if (!provenance.inWorkspace) return undefined;
  const { gate } = await openTrust(context);
  const asks = (await gate.judge(definition)).kind === 'asks';
  return asks ? `It does not start before you approve it: plexus approve ${shellWord(name)}` : undefined;
}
