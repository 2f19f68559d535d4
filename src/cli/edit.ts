// Owns editing a file for a command: with its clock, until Ctrl-C, and with a word when somebody else holds the file.

import type { Change, EditOptions, EditResult } from '../config/edit.ts';
import { systemClock } from '../kernel/clock.ts';
import type { Context } from './command.ts';
import { isOwnFile } from './file-of-scope.ts';
import { openPolicy, surroundingsOf } from './load-config.ts';

/** A file that is there keeps its rights, unless the options say otherwise. */
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
  const lockFolder = stateFolder(surroundingsOf(context));
  const isNamed = file === context.runtimeOptions.config;
  const within = isNamed || (await isOwnFile(context, file)) ? {} : { within: context.cwd };
  const editing = editServer(file, change, { ...options, ...within, lockFolder, clock: systemClock, signal });
  const edited = await waitFor(`waiting for ${file}`, editing);
  if (edited.kind === 'written') await keepApproval(context, file, edited.texts);
  return edited;
}

/** Whoever approved the file and now changes it themselves does not have to approve it again. */
async function keepApproval(context: Context, file: string, { before, now }: { before: string; now: string }) {
  const policy = await openPolicy(context);
  if (await policy.isApproved(file, before)) await policy.approve(file, now);
}
