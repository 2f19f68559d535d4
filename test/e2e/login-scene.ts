// Owns logins for tests: stored as the flow stores them, or made by a person who approves every page.

import { expect } from 'vitest';
import { createLoginStore } from '../../src/auth/login-store.ts';
import type { StoredLogin, TokenStore } from '../../src/auth/token-store.ts';
import { loginsFile, loginsKeyFile } from '../../src/config/scopes.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { OAuthServer } from '../servers/oauth.ts';

/** The store of a person whose home folder this is. */
export function loginStoreIn(home: string) {
  const environment = { home, env: {}, platform: process.platform };
  const [file, keyFile] = [loginsFile(environment), loginsKeyFile(environment)];
  return createLoginStore({ file, keyFile, clock: systemClock, keychain: async () => undefined });
}

export interface SeededLogin {
  readonly account?: string;
  readonly serverUrl?: string;
  readonly grantedTo?: readonly string[];
  readonly clientId?: string;
  readonly scope?: string;
  readonly expiresAt?: number;
}

/** Takes the place of a former login with the same key. */
export async function seedLogin(
  server: OAuthServer,
  store: TokenStore,
  { account = '', serverUrl = server.url, grantedTo = [], clientId = 'one', scope = '', expiresAt }: SeededLogin = {},
): Promise<StoredLogin> {
  const { access_token, refresh_token, expires_in } = await server.issue({ clientId, scope });
  const receivedAt = Date.now();
  const stored: StoredLogin = {
    login: {
      key: { issuer: server.issuer, serverUrl, resource: '', clientId, account },
      tokens: {
        accessToken: access_token,
        refreshToken: refresh_token,
        tokenType: 'Bearer',
        scopes: scope.split(' ').filter(Boolean),
        receivedAt,
        expiresAt: expiresAt ?? receivedAt + expires_in * 1_000,
      },
      client: { clientId, authentication: 'none', origin: 'registered', redirectUris: [] },
      tokenEndpoint: `${server.issuer}/token`,
    },
    grantedTo,
  };
  const { key } = stored.login;
  const before = (await store.list()).find(({ login }) => JSON.stringify(login.key) === JSON.stringify(key));
  expect(await store.replace(key, before, stored)).toBe(true);
  return stored;
}

/** A person who opens the page, approves, and whose browser goes back to where it is sent. */
export const openUrl = async (page: string): Promise<void> => {
  await fetch(page);
};
