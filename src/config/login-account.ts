// Owns which account of a server counts in a folder: the one that the entry names, or names for the closest folder around. Pure.

import type { OAuthSettings } from '../model/server.ts';
import { type HostEnvironment, isWithin, pathsOf } from './scopes.ts';

/** The folder that stands for all others. */
const ANYWHERE = '*';

/** `''`: the login without a name. */
export function accountFor(
  account: OAuthSettings['account'],
  { cwd, home, platform }: Pick<HostEnvironment, 'cwd' | 'home' | 'platform'>,
): string {
  if (typeof account !== 'object') return account ?? '';
  const { resolve } = pathsOf(platform);
  const folders = Object.entries(account)
    .filter(([folder]) => folder !== ANYWHERE)
    .map(([folder, name]) => ({
      folder: resolve(
        home,
        folder.replace(/^~(?=[\\/]|$)/, () => home),
      ),
      name,
    }))
    .filter(({ folder }) => isWithin(folder, cwd, platform))
    .sort((a, b) => b.folder.length - a.folder.length);
  return folders[0]?.name ?? account[ANYWHERE] ?? '';
}
