// Owns which file an edit goes to: the scope's existing file, otherwise the one that a new user gets.

import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Scope } from '../model/server.ts';
import { type Context, UsageError } from './command.ts';
import { environmentOf } from './load-config.ts';

/** Scopes whose files Plexus may write. */
export type EditedScope = Extract<Scope, 'local' | 'project' | 'user'>;

export const editedScopes: readonly EditedScope[] = ['local', 'project', 'user'];

export async function fileOfScope(context: Context, scope: EditedScope): Promise<string> {
  const { userFolder } = await import('../config/scopes.ts');
  const environment = environmentOf(context);
  const [folder, names, otherwise] = {
    local: [environment.cwd, [], '.plexus.local.toml'] as const,
    // Of two files the one that wins when they are loaded. A new file gets the name that most programs know.
    project: [environment.cwd, ['.mcp.toml', '.mcp.json'], '.mcp.json'] as const,
    user: [userFolder(environment), ['mcp.toml', 'mcp.json'], 'mcp.toml'] as const,
  }[scope];
  for (const name of names) if (await isThere(join(folder, name))) return join(folder, name);
  return join(folder, otherwise);
}

/** Whether the file is one of the person's own (scope `user`), whichever option named it. */
export async function isOwnFile(context: Context, file: string): Promise<boolean> {
  const { placesOf } = await import('../config/scopes.ts');
  return placesOf(environmentOf(context)).some((place) => place.scope === 'user' && place.file === file);
}

/** A symbolic link counts even if its target does not exist. */
async function isThere(file: string): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}

/** `undefined`: the person gave no `--scope`. */
export function scopeIn({ values, runtimeOptions }: Context): EditedScope | undefined {
  const word = values['scope'];
  if (word === undefined) return undefined;
  if (runtimeOptions.config !== undefined)
    throw new UsageError('give --config or --scope, not both: --config already names the file');
  const scope = editedScopes.find((each) => each === word);
  if (scope === undefined) throw new UsageError(`"${word}" is not a scope you can edit; use local, project or user`);
  return scope;
}
