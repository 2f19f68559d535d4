// Owns what an entry may say about its login, by whose file it stands in: secrets are references, and a file that is not the
// person's own neither weakens a login nor sends its answer to another machine.

import type { OAuthSettings } from '../model/server.ts';
import { type ConfigMap, isMap } from './config-map.ts';
import { isCommand } from './expand.ts';
import { type ConfigProblem, labelOf } from './problem.ts';
import { isReference, literalSecret } from './secret-reference.ts';

/** The settings that are secrets. */
export const loginSecrets = [
  'clientSecret',
  'privateKey',
  'assertion',
  'idToken',
] as const satisfies readonly (keyof OAuthSettings)[];

const ownSettings = ['pkce', 'allowPrivateNetwork'] as const;

export function tidyLogin(
  oauth: ConfigMap,
  key: string,
  { isOwn, found }: { readonly isOwn: boolean; readonly found: ConfigProblem[] },
): ConfigMap {
  const tidied: Record<string, unknown> = { ...oauth };
  for (const name of loginSecrets) {
    const value = tidied[name];
    if (typeof value !== 'string' || (isReference(value) && (isOwn || !isCommand(value)))) continue;
    delete tidied[name];
    found.push(isReference(value) ? onlyOwn([key, name]) : literalSecret([key, name]));
  }
  if (isOwn) return tidied;
  for (const name of ownSettings) {
    if (tidied[name] === undefined) continue;
    delete tidied[name];
    found.push(onlyOwn([key, name]));
  }
  const { redirectUri } = tidied;
  if (typeof redirectUri === 'string' && !isLoopback(redirectUri)) found.push(elsewhere([key, 'redirectUri']));
  return tidied;
}

/** The settings of a login as text, each with its name: those that can hold placeholders. */
export function loginTexts(oauth: OAuthSettings | false | undefined): readonly (readonly [string, string])[] {
  if (!isMap(oauth)) return [];
  const texts = Object.entries(oauth).filter(([name, value]) => typeof value === 'string' && name !== 'account');
  return texts as [string, string][];
}

const isLoopback = (uri: string) =>
  URL.canParse(uri) && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(new URL(uri).hostname);

const IN_OWN_FILE = 'Define the server in your own file; see where it lies with: plexus config path';

function onlyOwn(path: readonly string[]): ConfigProblem {
  return {
    severity: 'warning',
    path,
    message: `only your own files may say that of a login, so ${labelOf(path)} is left out`,
    remedy: IN_OWN_FILE,
  };
}

function elsewhere(path: readonly string[]): ConfigProblem {
  return {
    severity: 'error',
    path,
    message: `${labelOf(path)} leads to another machine, which only your own files may say`,
    remedy: IN_OWN_FILE,
  };
}
