// Owns `plexus remove`: one server less in the file that defines it.

import { findClaim, nameIn, placeOf } from '../claim.ts';
import type { Command } from '../command.ts';
import { edit } from '../edit.ts';
import { loadConfigFor } from '../load-config.ts';
import { printable } from '../render/text.ts';

export const remove: Command = {
  usage: 'remove NAME [--scope local|project|user]',
  options: { scope: { type: 'string', short: 's' } },
  help: { 'scope SCOPE': 'remove it from the file of this scope; otherwise from the one that counts' },
  async run(context) {
    const name = nameIn(context);
    const { scope, file } = await findClaim(context, name);
    const edited = await edit(context, file, { kind: 'remove', name });
    const removed = edited.kind === 'written';
    const { definitions, invalid } = await loadConfigFor(context);
    const heir = [...definitions, ...invalid].find((each) => each.name === name)?.provenance;
    const lines = [
      removed ? `Removed "${name}" from ${placeOf({ scope, file })}.` : `"${name}" is no longer in ${file}.`,
      ...(heir ? [`The one in ${placeOf(heir)} counts now.`] : []),
    ];
    return {
      data: { name, scope, file, removed, ...(removed && { entry: edited.entry }), ...(heir && { nowFrom: heir }) },
      text: () => printable(lines.join('\n')),
    };
  },
};
