// Owns the tokens of clients: each has a name and is bound to one profile. Only their hashes are stored, so that the file gives no
// access to anyone who reads it. A running gateway sees what other processes add and revoke.

import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isObject, parseJson } from '../kernel/json.ts';
import type { Store } from '../kernel/store.ts';
import { bearerToken } from '../serving/access.ts';

export interface ClientToken {
  readonly name: string;
  /** The only profile that the token opens. */
  readonly profile: string;
  /** SHA-256 of the token, in hex. A token is random and long: it needs no slow hash. */
  readonly hash: string;
  readonly createdAt: string;
}

const KEY = 'gateway.clients';
const TOKEN_BYTES = 32;
/** Shown to people and sent in headers. */
const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

export const isTokenName = (name: string): boolean => NAME.test(name);

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');

export async function listTokens(store: Store): Promise<readonly ClientToken[]> {
  return tokensIn(await store.get(KEY));
}

export interface NewToken {
  readonly name: string;
  readonly profile: string;
  readonly now: number;
}

/** The new token, which is shown once and stored nowhere; `undefined` if the name is taken. */
export async function addToken(store: Store, { name, profile, now }: NewToken): Promise<string | undefined> {
  const token = `plexus_${randomBytes(TOKEN_BYTES).toString('base64url')}`;
  const added = { name, profile, hash: hashOf(token), createdAt: new Date(now).toISOString() };
  const isNew = await change(store, (tokens) =>
    tokens.some((each) => each.name === name) ? undefined : [...tokens, added],
  );
  return isNew ? token : undefined;
}

/** Whether there was such a token. */
export function revokeToken(store: Store, name: string): Promise<boolean> {
  return change(store, (tokens) => {
    const others = tokens.filter((each) => each.name !== name);
    return others.length === tokens.length ? undefined : others;
  });
}

/** Another process may change the list meanwhile: then the change is made anew. `undefined` changes nothing. */
async function change(
  store: Store,
  next: (tokens: readonly ClientToken[]) => readonly ClientToken[] | undefined,
): Promise<boolean> {
  for (;;) {
    const present = await store.get(KEY);
    const wanted = next(tokensIn(present));
    if (wanted === undefined) return false;
    if (await store.compareAndSet(KEY, present, JSON.stringify(wanted))) return true;
  }
}

function tokensIn(text: string | undefined): readonly ClientToken[] {
  const parsed = parseJson(text ?? '[]');
  return parsed.ok && Array.isArray(parsed.value) ? parsed.value.filter(isToken) : [];
}

function isToken(value: unknown): value is ClientToken {
  return isObject(value) && ['name', 'profile', 'hash', 'createdAt'].every((key) => typeof value[key] === 'string');
}

/** The tokens as a running gateway has them. */
export interface KnownTokens {
  /** The client that a request comes from. */
  find(request: Pick<IncomingMessage, 'headers'>): ClientToken | undefined;
  close(): void;
}

/** `onRevoked` is called for each token that no longer opens anything. */
export async function openTokens(store: Store, onRevoked: (token: ClientToken) => void): Promise<KnownTokens> {
  let known = new Map<string, ClientToken>();
  const take = (text: string | undefined) => {
    const before = known;
    known = new Map(tokensIn(text).map((token) => [token.hash, token]));
    for (const [hash, token] of before) if (known.get(hash)?.profile !== token.profile) onRevoked(token);
  };
  const close = store.watch(KEY, take);
  take(await store.get(KEY));
  return {
    // Looking a hash up tells nothing of a token by its time: nobody can choose the hash of a guess.
    find(request) {
      const sent = bearerToken(request);
      return sent === undefined ? undefined : known.get(hashOf(sent));
    },
    close,
  };
}
