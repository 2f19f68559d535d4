// Owns what outlives a process besides logins, encrypted: registrations with authorization servers, and logins whose page is
// open while no process waits for the answer.

import { createHash } from 'node:crypto';
import type { Clock } from '../kernel/clock.ts';
import { parseJson } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import { serverUrlOf } from '../store/login-file.ts';
import type { Secrets } from '../store/secrets.ts';
import type { PendingLogin } from './login.ts';
import type { ClientRegistration } from './login-model.ts';
import type { Registrations } from './registration.ts';

export function createRegistrations(secrets: Secrets): Registrations {
  const nameOf = (issuer: string) => `login-registration/${hashOf(issuer)}`;
  return {
    find: async (issuer) => valueIn<ClientRegistration>(await secrets.get(nameOf(issuer))),
    keep: (issuer, client) => secrets.set(nameOf(issuer), JSON.stringify(client)),
    forget: (issuer) => secrets.delete(nameOf(issuer)),
    lock: (issuer, signal) => secrets.lock(nameOf(issuer), REGISTRATION_MS, signal),
  };
}

/** Longer than the request takes. */
const REGISTRATION_MS = 2 * limits.login.requestMs;

export interface PendingLogins {
  keep(pending: PendingLogin): Promise<void>;
  /** `undefined` where none was begun, or too long ago. */
  find(which: Pick<PendingLogin, 'url' | 'account'>): Promise<PendingLogin | undefined>;
  drop(which: Pick<PendingLogin, 'url' | 'account'>): Promise<void>;
}

export function createPendingLogins(secrets: Secrets, clock: Pick<Clock, 'now'>): PendingLogins {
  const nameOf = ({ url, account }: Pick<PendingLogin, 'url' | 'account'>) =>
    `login-pending/${hashOf(JSON.stringify([serverUrlOf(url), account]))}`;
  return {
    keep: (pending) => secrets.set(nameOf(pending), JSON.stringify({ pending, at: clock.now() })),
    async find(which) {
      const text = await secrets.get(nameOf(which));
      const kept = valueIn<{ readonly pending: PendingLogin; readonly at: number }>(text);
      return kept !== undefined && clock.now() - kept.at <= limits.login.pendingMs ? kept.pending : undefined;
    },
    drop: (which) => secrets.delete(nameOf(which)),
  };
}

/** The secrets authenticate what they hold, so it is what was written. */
function valueIn<Value>(text: string | undefined): Value | undefined {
  const parsed = text === undefined ? undefined : parseJson(text);
  return parsed?.ok ? (parsed.value as Value) : undefined;
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);
