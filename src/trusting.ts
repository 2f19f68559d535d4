// Owns a person's word as the rest sees it: who may start, and where secrets are kept. Joins what trust, store and config know;
// opens nothing, so that whoever only asks or edits does not load what opens servers.

import { programOf } from './config/resolve.ts';
import { isOwnScope, keyFile, type Surroundings } from './config/scopes.ts';
import type { Clock } from './kernel/clock.ts';
import type { Store } from './kernel/store.ts';
import type { ServerDefinition } from './model/server.ts';
import { createSecrets, type Secrets } from './store/secrets.ts';
import { essenceOf } from './trust/fingerprint.ts';
import { createGate, type Gate } from './trust/gate.ts';

/** The gate, told where programs are found and which scopes are the person's own. */
export function createTrust(around: Surroundings, store: Store, clock: Clock): Gate {
  const { cwd, platform, env } = around;
  const fill = (definition: ServerDefinition) => programOf(definition, around);
  return createGate({
    ...{ store, clock, isOwnScope },
    essenceOf: (definition) => essenceOf(definition, { cwd, platform, pathEnv: pathIn(env, platform), fill }),
  });
}

/** On Windows it is called `Path`, or anything of that sound. */
function pathIn(env: Surroundings['env'], platform: NodeJS.Platform): string | undefined {
  if (platform !== 'win32') return env['PATH'];
  return Object.entries(env).find(([name]) => name.toUpperCase() === 'PATH')?.[1];
}

/** Where answers and tokens are kept, encrypted. */
export function createSecretsFor(around: Surroundings, store: Store): Secrets {
  return createSecrets(store, keyFile(around));
}
