// Owns `plexus enable` and `plexus disable`: they switch a server on or off and keep its entry.

import { RuntimeError } from '../../model/errors.ts';
import type { ServerName } from '../../model/names.ts';
import type { Command, CommandResult, Context } from '../command.ts';
import { edit } from '../edit.ts';
import { describePlace, findEditableEntry } from '../editable-entry.ts';
import { loadConfigFor, openTrust } from '../load-config.ts';
import { serverNameIn } from '../positionals.ts';
import { printable, shellWord } from '../render/text.ts';

const createSwitch = (enabled: boolean, verb = enabled ? 'enable' : 'disable'): Command => ({
  usage: `${verb} NAME [--scope local|project|user]`,
  examples: [`${verb} files`, `${verb} files --scope project`],
  options: { scope: { type: 'string', short: 's' } },
  help: { 'scope SCOPE': 'edit the file of this scope; otherwise that of the effective entry' },
  run: (context) => switchServer(context, serverNameIn(context), enabled),
});

export const enable = createSwitch(true);
export const disable = createSwitch(false);

async function switchServer(context: Context, name: ServerName, enabled: boolean): Promise<CommandResult> {
  const { scope, file } = await findEditableEntry(context, name);
  const edited = await edit(context, file, { kind: 'enable', name, enabled });
  // Another process removed the entry in between.
  if (edited.kind === 'absent') throw new RuntimeError('SERVER_UNKNOWN', { server: name, nearest: [] });
  const changed = edited.kind === 'written';
  const because = await whyNotEffective(context, name, { file, enabled });
  const word = enabled ? 'enabled' : 'disabled';
  const lines = [
    changed
      ? `"${name}" is now ${word} in ${describePlace({ scope, file })}.`
      : `"${name}" is already ${word} in ${describePlace({ scope, file })}.`,
    ...(because === undefined ? [] : [because]),
  ];
  return {
    data: { name, scope, file, entry: edited.entry, enabled, changed, ...(because !== undefined && { because }) },
    text: () => printable(lines.join('\n')),
  };
}

/** Why the server is not as the person wants it, although its entry is: another file, a setting or a missing approval. */
async function whyNotEffective(
  context: Context,
  name: ServerName,
  { file, enabled }: { readonly file: string; readonly enabled: boolean },
): Promise<string | undefined> {
  const { definitions, refused } = await loadConfigFor(context);
  const definition = definitions.find((each) => each.name === name);
  if (definition === undefined) return undefined;
  const { provenance, settings } = definition;
  if (provenance.file !== file) return `But ${describePlace(provenance)} overrides it, and was not changed.`;
  if (!enabled) return settings.enabled ? 'It is still in use: "enabledServers" names it.' : undefined;
  const refusal = refused.get(name);
  if (refusal !== undefined) return `It is still not in use: ${refusal}.`;
  if (!provenance.inWorkspace) return undefined;
  const { gate } = await openTrust(context);
  const asks = (await gate.judge(definition)).kind === 'asks';
  return asks ? `It does not start until you approve it: plexus approve ${shellWord(name)}` : undefined;
}
