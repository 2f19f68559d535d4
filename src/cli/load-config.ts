// Owns loading the configuration and opening the stores of approvals and secrets for a command. Starts no server.

import type { HostEnvironment } from '../config/scopes.ts';
import { findWorkspace } from '../config/workspace.ts';
import { systemClock } from '../kernel/clock.ts';
import type { Store } from '../kernel/store.ts';
import type { JudgedConfig } from '../servers/judge-config.ts';
import type { PolicyTrust } from '../trust/policy-trust.ts';
import type { Trust } from '../trust/trust.ts';
import type { Context } from './command.ts';

/** Imports no code that opens servers: commands that only show or edit the configuration must be fast. */
export async function loadConfigFor(context: Context): Promise<JudgedConfig> {
  const [{ loadConfig }, { withRulesReviewed }, { approvedBy, judgeConfig }, { policy, gate, kept }] =
    await Promise.all([
      import('../config/load.ts'),
      import('../servers/load-config.ts'),
      import('../servers/judge-config.ts'),
      openTrust(context),
    ]);
  const environment = environmentOf(context);
  const loaded = await loadConfig({
    ...environment,
    discover: true,
    configFile: context.runtimeOptions.config,
    isApproved: (file, text) => policy.isApproved(file, text),
    mayDisplace: approvedBy(gate),
    kept,
  });
  return withRulesReviewed(await judgeConfig(loaded, gate), environment);
}

export async function openTrust(context: Context): Promise<Trust> {
  const [{ createTrust }, store] = await Promise.all([import('../trust/trust.ts'), openStore(context)]);
  return createTrust({ environment: environmentOf(context), store, clock: systemClock });
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
  return createFileStore(stateFolder(environmentOf(context)), systemClock);
}

/** As a runtime sees it: its folder is the workspace, which may lie above the folder that the person is in. */
export function environmentOf({ cwd, env, home, runtimeOptions }: Context): HostEnvironment {
  const { platform } = process;
  const isNamed = runtimeOptions.config !== undefined;
  return { cwd: isNamed ? cwd : findWorkspace({ cwd, home, platform }), env, home, platform };
}
