// Owns which file an edit goes to: the one of the scope that is there, otherwise the one that a new user gets.

import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Scope } from '../model/server.ts';
import { type Context, UsageError } from './command.ts';
import { surroundingsOf } from './load-config.ts';

/** Scopes whose files are ours to write. */
export type EditedScope = Extract<Scope, 'local' | 'project' | 'user'>;

export const editedScopes: readonly EditedScope[] = ['local', 'project', 'user'];

export async function fileOfScope(context: Context, scope: EditedScope): Promise<string> {
  const { userFolder } = await import('../config/scopes.ts');
  const [folder, names, otherwise] = {
    local: [context.cwd, [], '.plexus.local.toml'] as const,
    // Of two files the stronger one, as they are read. A new one has the name that most programs know.
    project: [context.cwd, ['.mcp.toml', '.mcp.json'], '.mcp.json'] as const,
    user: [userFolder(surroundingsOf(context)), ['mcp.toml', 'mcp.json'], 'mcp.toml'] as const,
  }[scope];
  for (const name of names) if (await isThere(join(folder, name))) return join(folder, name);
  return join(folder, otherwise);
}

/** Whether it is one of the person's own files, by whichever option it was named. */
export async function isOwnFile(context: Context, file: string): Promise<boolean> {
  const { placesOf } = await import('../config/scopes.ts');
  return placesOf(surroundingsOf(context)).some((place) => place.scope === 'user' && place.file === file);
}

/** A link counts even when it leads nowhere yet. */
async function isThere(file: string): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}

/** `undefined`: the person did not say. */
export function scopeIn({ values, runtimeOptions }: Context): EditedScope | undefined {
  const said = values['scope'];
  if (said === undefined) return undefined;
  if (runtimeOptions.config !== undefined)
    throw new UsageError('--config names the file already, so --scope says nothing');
  const scope = editedScopes.find((each) => each === said);
  if (scope === undefined)
    throw new UsageError(`"${said}" is no scope that can be edited; it is local, project or user`);
  return scope;
}
