// Owns sample logins, and a store of logins in memory, for tests.

import type { Login, LoginKey, Tokens } from '../../../src/auth/login-model.ts';
import { isSameLogin, type StoredLogin, type TokenStore } from '../../../src/auth/token-store.ts';
import type { Clock } from '../../../src/kernel/clock.ts';
import { sameJson } from '../../../src/kernel/json.ts';
import { createMemoryStore } from '../../../src/kernel/store.ts';

export const sampleKey: LoginKey = {
  issuer: 'https://login.example.com',
  serverUrl: 'https://mcp.example.com/mcp',
  resource: 'https://mcp.example.com/mcp',
  clientId: 'client-1',
  account: '',
};

export const sampleTokens = (n: number, expiresAt?: number): Tokens => ({
  accessToken: `access-value-${n}`,
  tokenType: 'Bearer',
  refreshToken: `refresh-value-${n}`,
  scopes: [],
  receivedAt: 0,
  expiresAt,
});

export const sampleLogin = (n = 1, key: Partial<LoginKey> = {}, expiresAt?: number): Login => ({
  key: { ...sampleKey, ...key },
  tokens: sampleTokens(n, expiresAt),
  client: { clientId: 'client-1', authentication: 'none', origin: 'registered', redirectUris: [] },
  tokenEndpoint: 'https://login.example.com/token',
});

export const sampleStored = (n = 1, key: Partial<LoginKey> = {}, expiresAt?: number): StoredLogin => ({
  login: sampleLogin(n, key, expiresAt),
  grantedTo: [],
});

/** A host's own store, as AUT-03 allows one. */
export function createMemoryTokenStore(clock: Clock): TokenStore & { logins: StoredLogin[] } {
  const locks = createMemoryStore(clock);
  const watchers = new Set<() => void>();
  const store = {
    logins: [] as StoredLogin[],
    list: async () => store.logins,
    async replace(key: LoginKey, expected: StoredLogin | undefined, next: StoredLogin | undefined) {
      const present = store.logins.find(({ login }) => isSameLogin(login.key, key));
      if (!sameJson(present, expected)) return false;
      store.logins = [...store.logins.filter((each) => each !== present), ...(next ? [next] : [])];
      for (const changed of watchers) changed();
      return true;
    },
    lock: (key: LoginKey, ttlMs: number, signal?: AbortSignal) => locks.lock(JSON.stringify(key), ttlMs, signal),
    watch(changed: () => void) {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
  };
  return store;
}
