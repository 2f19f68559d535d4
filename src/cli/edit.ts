// Owns editing a configuration file for a command: Ctrl-C ends the wait for the file's lock, and an approved file stays approved.

import type { Change, EditOptions, EditResult } from '../config/edit.ts';
import { systemClock } from '../kernel/clock.ts';
import type { Context } from './command.ts';
import { isOwnFile } from './file-of-scope.ts';
import { environmentOf, openPolicy } from './load-config.ts';

/** An existing file keeps its permissions, unless the options say otherwise. */
export async function edit(
  context: Context,
  file: string,
  change: Change,
  options: Pick<EditOptions, 'closeToOthers' | 'isPrivateFolder'> = { closeToOthers: false, isPrivateFolder: false },
): Promise<EditResult> {
  const [{ editServer }, { stateFolder }] = await Promise.all([
    import('../config/edit.ts'),
    import('../config/scopes.ts'),
  ]);
  const { signal, waitFor } = context;
  const lockFolder = stateFolder(environmentOf(context));
  const isNamed = file === context.runtimeOptions.config;
  const within = isNamed || (await isOwnFile(context, file)) ? {} : { within: environmentOf(context).cwd };
  const editing = editServer(file, change, { ...options, ...within, lockFolder, clock: systemClock, signal });
  const edited = await waitFor(`waiting for ${file}`, editing);
  if (edited.kind === 'written') await keepApproval(context, file, edited.texts);
  return edited;
}

/** A person who approved the file and now edits it with Plexus does not have to approve it again. */
async function keepApproval(context: Context, file: string, { before, now }: { before: string; now: string }) {
  const policy = await openPolicy(context);
  if (await policy.isApproved(file, before)) await policy.approve(file, now);
}
