// Owns everything that depends on a person's word, for one host: which servers may start, which tools were approved for good,
// what `plexus.lock` pins, and the encrypted answers and tokens. Opens no server, so that a command which only asks or edits
// does not load what opens servers.

import { createKeptPolicies, type KeptPolicies } from '../config/kept-policy.ts';
import { type HostEnvironment, keyFile } from '../config/scopes.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Emit, onceOnly } from '../kernel/emitter.ts';
import type { Store } from '../kernel/store.ts';
import type { ServerName } from '../model/names.ts';
import type { ServerDefinition } from '../model/server.ts';
import { createSecrets, type Secrets } from '../store/secrets.ts';
import { ACCOUNT_KEY, type AccountOf, createAccountOf, createSeal, type Seal } from './account.ts';
import type { TrustEvent } from './events.ts';
import type { Gate } from './gate.ts';
import { LockedTools, type LockedToolsOptions } from './locked-tools.ts';
import { createPolicyTrust, type PolicyTrust } from './policy-trust.ts';
import { createServerApproval } from './server-approval.ts';
import { createToolGrants, type ToolGrants } from './tool-grants.ts';

export interface Trust {
  /** Which servers may start. */
  readonly gate: Gate;
  /** Which workspace files may loosen rules. */
  readonly policy: PolicyTrust;
  /** Keeps and gives back what the person's own files forbade when they were last readable. */
  readonly kept: KeptPolicies;
  /** Which tools a person approved for good. */
  readonly grants: ToolGrants;
  readonly lock: LockedTools;
  readonly accountOf: AccountOf;
  /** For keys on a disk: an entry may hold a secret, and its plain hash would let a short one be guessed. */
  readonly seal: Seal;
  /** Whether anything was ever sealed on this machine. */
  readonly hasKey: () => Promise<boolean>;
  /** Answers to `${input:…}` and tokens, encrypted. */
  readonly secrets: Secrets;
}

export interface TrustDeps {
  readonly environment: HostEnvironment;
  readonly store: Store;
  readonly clock: Clock;
  readonly lock?: LockedToolsOptions;
  readonly emit?: Emit<TrustEvent>;
  /** Receives why approvals of an earlier version could not be rewritten. */
  readonly onError?: (error: unknown) => void;
}

export function createTrust(deps: TrustDeps): Trust {
  const { environment, store, clock, lock = NO_LOCK, emit, onError = () => undefined } = deps;
  const onRewritten = (of: TrustEvent['of']) => (server: ServerName, count: number) =>
    emit?.({ type: 'approval.rewritten', server, of, count });
  // A folder that cannot be written to is reported once, not at each judgement.
  const onUnwritable = onceOnly(onError);
  const reports = { onRewritten: onRewritten('server'), onError: onUnwritable };
  const gate = createServerApproval(environment, store, clock, reports);
  const seal = createSeal(store);
  const accountOf = createAccountOf(environment, seal);
  // A grant is for what would run and for the account it would run with.
  const fingerprint = async (definition: ServerDefinition) =>
    `${await gate.fingerprint(definition)}${await accountOf(definition)}`;
  return {
    gate,
    policy: createPolicyTrust(store),
    kept: createKeptPolicies(store),
    grants: createToolGrants({ store, clock, fingerprint, onRewritten: onRewritten('tools'), onError: onUnwritable }),
    lock: new LockedTools(lock),
    accountOf,
    seal,
    hasKey: async () => (await store.get(ACCOUNT_KEY)) !== undefined,
    secrets: createSecrets(store, keyFile(environment)),
  };
}

const NO_LOCK: LockedToolsOptions = { onError: () => undefined };
