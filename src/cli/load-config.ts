// Owns reading the configuration for a command, and opening what a person's word is kept in, without starting anything.

import type { LoadedConfig } from '../config/load.ts';
import type { HostEnvironment } from '../config/scopes.ts';
import { systemClock } from '../kernel/clock.ts';
import type { Store } from '../kernel/store.ts';
import type { PolicyTrust } from '../trust/policy-trust.ts';
import type { Trust } from '../trust/trust.ts';
import type { Context } from './command.ts';

/** Loads nothing that could open a server: whoever only asks or edits must not pay for it. */
export async function loadConfigFor(context: Context): Promise<LoadedConfig> {
  const [{ loadConfig }, { withRulesReviewed }, policy] = await Promise.all([
    import('../config/load.ts'),
    import('../servers/load-config.ts'),
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

export async function openTrust(context: Context): Promise<Trust> {
  const [{ createTrust }, store] = await Promise.all([import('../trust/trust.ts'), openStore(context)]);
  return createTrust({ environment: surroundingsOf(context), store, clock: systemClock });
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

export const surroundingsOf = ({ cwd, env, home }: Context): HostEnvironment => ({
  cwd,
  env,
  home,
  platform: process.platform,
});
