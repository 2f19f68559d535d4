// Owns which account of a server counts in a folder: the one that the entry names, or names for the closest folder around. Pure.

import type { Launch, OAuthSettings } from '../model/server.ts';
import { type HostEnvironment, isWithin, pathsOf } from './scopes.ts';

/** The folder that stands for all others. */
const ANYWHERE = '*';

/** The account that a server would use in this folder; `''` also where it has no logins. */
export function accountOf(launch: Launch, environment: Parameters<typeof accountFor>[1]): string {
  if (launch.kind === 'stdio' || launch.kind === 'in-process' || !launch.oauth) return '';
  return accountFor(launch.oauth.account, environment);
}

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
