// Owns telling accounts apart that one server entry may stand for: by the values of the variables that the entry reads.

import { createHmac, randomBytes } from 'node:crypto';
import { variablesRead } from '../config/referenced-variables.ts';
import type { HostEnvironment } from '../config/scopes.ts';
import { canonicalJson } from '../kernel/json.ts';
import type { Store } from '../kernel/store.ts';
import type { ServerDefinition } from '../model/server.ts';

/** An opaque id of the account, or '' where the entry reads no variable. */
export type AccountOf = (definition: ServerDefinition) => Promise<string>;

/** The id is a hash keyed with a secret of this machine, so that nobody can guess a token from it. */
export function createAccountOf({ env }: HostEnvironment, store: Store): AccountOf {
  let key: Promise<string> | undefined;
  return async (definition) => {
    const { all } = variablesRead(definition);
    if (all.length === 0) return '';
    // A failure is not kept: the store may answer the next time.
    key ??= machineKey(store).catch((error: unknown) => {
      key = undefined;
      throw error;
    });
    return createHmac('sha256', await key)
      .update(canonicalJson(all.map((name) => [name, env[name] ?? null])))
      .digest('hex');
  };
}

async function machineKey(store: Store): Promise<string> {
  const fresh = randomBytes(32).toString('base64');
  await store.compareAndSet(ACCOUNT_KEY, undefined, fresh);
  return (await store.get(ACCOUNT_KEY)) ?? fresh;
}

const ACCOUNT_KEY = 'account-key';
