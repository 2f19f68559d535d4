// Owns the key of this machine, with which stored values are sealed, and telling accounts apart that one server entry may stand
// for: by the values of the variables that the entry reads.

import { createHmac, randomBytes } from 'node:crypto';
import { variablesRead } from '../config/referenced-variables.ts';
import type { HostEnvironment } from '../config/scopes.ts';
import { canonicalJson } from '../kernel/json.ts';
import type { Store } from '../kernel/store.ts';
import type { ServerDefinition } from '../model/server.ts';

/** An opaque id of the account, or '' where the entry reads no variable. */
export type AccountOf = (definition: ServerDefinition) => Promise<string>;

/** The id is sealed, so that nobody can guess a token from it. */
export function createAccountOf({ env }: HostEnvironment, seal: Seal): AccountOf {
  return async (definition) => {
    const { all } = variablesRead(definition);
    return all.length === 0 ? '' : seal(canonicalJson(all.map((name) => [name, env[name] ?? null])));
  };
}

/** A hash keyed with a secret of this machine: equal texts have equal seals, and no text can be guessed from its seal. */
export type Seal = (text: string) => Promise<string>;

export function createSeal(store: Store): Seal {
  let key: Promise<string> | undefined;
  return async (text) => {
    // A failure is not kept: the store may answer the next time.
    key ??= machineKey(store).catch((error: unknown) => {
      key = undefined;
      throw error;
    });
    return createHmac('sha256', await key)
      .update(text)
      .digest('hex');
  };
}

/** Read first: a state folder that cannot be written to still tells what was approved. */
async function machineKey(store: Store): Promise<string> {
  const kept = await store.get(ACCOUNT_KEY);
  if (kept !== undefined) return kept;
  const fresh = randomBytes(32).toString('base64');
  await store.compareAndSet(ACCOUNT_KEY, undefined, fresh);
  return (await store.get(ACCOUNT_KEY)) ?? fresh;
}

export const ACCOUNT_KEY = 'account-key';
