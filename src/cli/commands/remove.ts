// Owns `plexus remove`: deletes a server's entry from the file that defines it.

import type { Command } from '../command.ts';
import { edit } from '../edit.ts';
import { describePlace, findEditableEntry } from '../editable-entry.ts';
import { loadConfigFor } from '../load-config.ts';
import { serverNameIn } from '../positionals.ts';
import { printable } from '../render/text.ts';

export const remove: Command = {
  usage: 'remove NAME [--scope local|project|user]',
  options: { scope: { type: 'string', short: 's' } },
  help: { 'scope SCOPE': 'remove it from the file of this scope; otherwise from that of the effective entry' },
  examples: ['remove files', 'remove files --scope project'],
  async run(context) {
    const name = serverNameIn(context);
    const { scope, file } = await findEditableEntry(context, name);
    const edited = await edit(context, file, { kind: 'remove', name });
    const removed = edited.kind === 'written';
    const { definitions, invalid } = await loadConfigFor(context);
    const successor = [...definitions, ...invalid].find((each) => each.name === name)?.provenance;
    const lines = [
      removed ? `Removed "${name}" from ${describePlace({ scope, file })}.` : `"${name}" is no longer in ${file}.`,
      ...(successor ? [`The entry in ${describePlace(successor)} is in effect now.`] : []),
    ];
    return {
      data: {
        name,
        scope,
        file,
        removed,
        ...(removed && { entry: edited.entry }),
        ...(successor && { nowFrom: successor }),
      },
      text: () => printable(lines.join('\n')),
    };
  },
};
