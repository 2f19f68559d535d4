// Owns logging in to the authorization server of the tests: a person who approves at once, and everything a login needs.

import { onTestFinished } from 'vitest';
import { type AuthHttpOptions, createAuthHttp } from '../../../src/auth/auth-http.ts';
import { createRegistrations } from '../../../src/auth/kept-logins.ts';
import { logIn } from '../../../src/auth/login.ts';
import type { Login } from '../../../src/auth/login-model.ts';
import type { LoginDeps, LoginPerson, LoginPreview, LoginRequest } from '../../../src/auth/login-request.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createMemoryStore } from '../../../src/kernel/store.ts';
import { createSecrets, type Secrets } from '../../../src/store/secrets.ts';
import { freePort } from '../../free-port.ts';
import { temporaryFile } from '../../servers/processes.ts';

export const createTestSecrets = (): Secrets => createSecrets(createMemoryStore(systemClock), temporaryFile('key'));

export interface LoginWorld {
  readonly deps: LoginDeps;
  /** What the person was shown, in order. */
  readonly shown: LoginPreview[];
  /** What the browser showed at the end, in order. */
  readonly pages: string[];
  readonly person: LoginPerson;
  logIn(request?: Partial<LoginRequest>, person?: LoginPerson): Promise<Login>;
}

export async function createLoginWorld(
  url: string,
  options: Partial<AuthHttpOptions & Pick<LoginDeps, 'registrations'>> = {},
): Promise<LoginWorld> {
  const network = { env: {}, cwd: process.cwd() };
  const http = await createAuthHttp({ server: 'web', url, network, clock: systemClock, ...options });
  onTestFinished(() => http.close());
  const { clock = systemClock, registrations = createRegistrations(createTestSecrets()), signal } = options;
  const deps: LoginDeps = { http, clock, registrations, signal };
  const shown: LoginPreview[] = [];
  const pages: string[] = [];
  const callbackPort = await freePort();
  const person: LoginPerson = {
    show: (preview) => {
      shown.push(preview);
    },
    open: (page) => {
      void fetch(page).then(async (response) => pages.push(await response.text()));
      return true;
    },
  };
  return {
    deps,
    shown,
    pages,
    person,
    logIn: ({ settings, ...request } = {}, other = {}) =>
      logIn({ url, settings: { callbackPort, ...settings }, account: '', isOwn: true, ...request }, deps, {
        ...person,
        ...other,
      }),
  };
}
