// Owns checks of the words after a verb that several commands share.

import type { ServerName } from '../model/names.ts';
import { type Context, UsageError } from './command.ts';

/** For commands that take exactly one server name. */
export function serverNameIn({ positionals: [name, extra] }: Context): ServerName {
  if (name === undefined || extra !== undefined) throw new UsageError('name one server');
  return name;
}

/** `extra`: the first word that the command has no use for. `hint` says what to write instead. */
export function rejectExtra(extra: string | undefined, hint = ''): void {
  if (extra !== undefined) throw new UsageError(`unexpected word "${extra}"${hint && `; ${hint}`}`);
}
