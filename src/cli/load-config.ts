// Owns reading the configuration for a command, and opening what a person's word is kept in, without starting anything.

import { homedir } from 'node:os';
import type { LoadedConfig } from '../config/load.ts';
import type { HostEnvironment } from '../config/scopes.ts';
import { systemClock } from '../kernel/clock.ts';
import type { Store } from '../kernel/store.ts';
import type { Secrets } from '../store/secrets.ts';
import type { Gate } from '../trust/gate.ts';
import type { PolicyTrust } from '../trust/policy-trust.ts';
import type { ToolGrants } from '../trust/tool-grants.ts';
import type { Context } from './command.ts';

/** Loads nothing that could open a server: whoever only asks or edits must not pay for it. */
export async function loadConfigFor(context: Context): Promise<LoadedConfig> {
  const [{ loadConfig }, { withRulesReviewed }, policy] = await Promise.all([
    import('../config/load.ts'),
    import('../reviewing.ts'),
    openPolicy(context),
  ]);
  const environment = surroundingsOf(context);
  const loaded = await loadConfig({
    ...environment,
    discover: true,
    configFile: context.runtimeOptions.config,
    isApproved: (file, text) => policy.isApproved(file, text),
  });
  return withRulesReviewed(loaded, environment);
}

export interface Trust {
  readonly gate: Gate;
  readonly policy: PolicyTrust;
  readonly grants: ToolGrants;
}

export async function openTrust(context: Context): Promise<Trust> {
  const [{ createTrust, createGrants }, store, policy] = await Promise.all([
    import('../trusting.ts'),
    openStore(context),
    openPolicy(context),
  ]);
  const environment = surroundingsOf(context);
  const gate = createTrust(environment, store, systemClock);
  return { gate, policy, grants: createGrants(environment, { store, clock: systemClock, gate }) };
}

export async function openSecrets(context: Context): Promise<Secrets> {
  const [{ createSecretsFor }, store] = await Promise.all([import('../trusting.ts'), openStore(context)]);
  return createSecretsFor(surroundingsOf(context), store);
}

export async function openPolicy(context: Context): Promise<PolicyTrust> {
  const [{ createPolicyTrust }, store] = await Promise.all([import('../trust/policy-trust.ts'), openStore(context)]);
  return createPolicyTrust(store);
}

async function openStore(context: Context): Promise<Store> {
  const [{ createFileStore }, { stateFolder }] = await Promise.all([
    import('../store/file.ts'),
    import('../config/scopes.ts'),
  ]);
  return createFileStore(stateFolder(surroundingsOf(context)), systemClock);
}

export const surroundingsOf = ({ cwd, env }: Context): HostEnvironment => ({
  cwd,
  env,
  home: homedir(),
  platform: process.platform,
});
