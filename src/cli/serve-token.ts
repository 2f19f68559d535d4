// Owns `plexus serve token`: adds, lists and revokes the tokens of clients. A running gateway follows at once.

import { stateFolder } from '../config/scopes.ts';
import { DEFAULT_PROFILE } from '../gateway/profiles.ts';
import { pathOf } from '../gateway/route.ts';
import { addToken, isTokenName, listTokens, revokeToken } from '../gateway/tokens.ts';
import { systemClock } from '../kernel/clock.ts';
import type { Store } from '../kernel/store.ts';
import { createFileStore } from '../store/file.ts';
import { type CommandResult, type Context, UsageError } from './command.ts';
import { loadConfigFor } from './load-config.ts';

export async function serveToken(context: Context): Promise<CommandResult> {
  const { positionals, values, env, home } = context;
  const [, verb, name, ...rest] = positionals;
  const store = createFileStore(stateFolder({ env, home, platform: process.platform }), systemClock);
  if (rest.length > 0) throw new UsageError(`the word ${rest[0]} is too many`);
  if (verb === 'list' && name === undefined) return list(store);
  if (name === undefined || (verb !== 'add' && verb !== 'revoke'))
    throw new UsageError('write token add NAME --profile P, token list, or token revoke NAME');
  if (verb === 'revoke') return revoke(store, name);
  if (!isTokenName(name)) throw new UsageError('a name has up to 64 letters, digits, dots, dashes and underscores');
  const { profile } = values;
  if (typeof profile !== 'string') throw new UsageError('name the profile that the token is for: --profile P');
  await requireProfile(context, profile);
  return add(store, name, profile);
}

/** A misspelt profile is told of here: a token for it would be refused everywhere, without a word that says why. */
export async function requireProfile(context: Context, profile: string): Promise<void> {
  const { profiles } = (await loadConfigFor(context)).settings.serving;
  const known = [...new Set([DEFAULT_PROFILE, ...Object.keys(profiles)])];
  if (known.includes(profile)) return;
  throw new UsageError(
    `no profile "${profile}" is configured, only ${known.join(', ')}; add [plexus.serving.profiles.${profile}] to your configuration first`,
  );
}

async function add(store: Store, name: string, profile: string): Promise<CommandResult> {
  const token = await addToken(store, { name, profile, now: systemClock.now() });
  if (token === undefined)
    throw new UsageError(`there is a token ${name} already; revoke it first: plexus serve token revoke ${name}`);
  const path = pathOf(profile);
  return {
    data: { name, profile, token },
    text: (paint) =>
      [`${paint.bold(token)}`, `It is shown once. Clients send it as Authorization: Bearer …, to ${path} only.`].join(
        '\n',
      ),
  };
}

async function list(store: Store): Promise<CommandResult> {
  const tokens = (await listTokens(store)).map(({ name, profile, createdAt }) => ({ name, profile, createdAt }));
  const rows = tokens.map(
    ({ name, profile, createdAt }) => `${name}  profile ${profile}  since ${createdAt.slice(0, 10)}`,
  );
  return { data: { tokens }, text: () => rows.join('\n') || 'There are no tokens of clients.' };
}

async function revoke(store: Store, name: string): Promise<CommandResult> {
  const isRevoked = await revokeToken(store, name);
  const text = isRevoked ? `The token ${name} opens nothing any more.` : `There is no token ${name}.`;
  return { data: { name, revoked: isRevoked }, text: () => text, ...(!isRevoked && { exitCode: 2 }) };
}
