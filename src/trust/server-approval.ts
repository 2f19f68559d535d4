// Owns the approval of servers for one host: the gate, told where programs are found and which scopes belong to the user.

import { startedProgramOf, workspaceFileOf } from '../config/away-from-workspace.ts';
import { filledLaunch, unapprovedHostOf } from '../config/resolve.ts';
import { type HostEnvironment, isOwnScope } from '../config/scopes.ts';
import type { Clock } from '../kernel/clock.ts';
import { isLocalHost } from '../kernel/local-address.ts';
import type { Store } from '../kernel/store.ts';
import type { ServerDefinition } from '../model/server.ts';
import { launchIdentityOf } from './fingerprint.ts';
import { createTrustGate, type Gate, type GateOptions } from './gate.ts';
import { namedFiles } from './pinned-files.ts';

export function createServerApproval(
  environment: HostEnvironment,
  store: Store,
  clock: Clock,
  reports: Pick<GateOptions, 'onRewritten' | 'onError'> = {},
): Gate {
  const { cwd, platform, env } = environment;
  const fill = (definition: ServerDefinition) => startedProgramOf(definition, environment);
  // `env` may be the live `process.env`: PATH is read at each judgement, as it is when the server starts.
  const context = () => ({ cwd, platform, pathEnv: pathIn(env, platform), fill });
  return createTrustGate({
    ...reports,
    store,
    clock,
    isOwnScope,
    workspaceFileOf: (definition) => workspaceFileOf(definition, environment),
    isLocal: (definition) => {
      const host = unapprovedHostOf(definition, environment);
      return host !== undefined && isLocalHost(host);
    },
    identityOf: (definition) => launchIdentityOf(definition, context()),
    filesOf: (definition, identity) =>
      namedFiles(filledLaunch(definition, { environment, unresolvedEnv: 'empty' }), identity, environment),
  });
}

/** On Windows the variable may be spelled `Path` or in any other case. */
function pathIn(env: HostEnvironment['env'], platform: NodeJS.Platform): string | undefined {
  if (platform !== 'win32') return env['PATH'];
  return Object.entries(env).find(([name]) => name.toUpperCase() === 'PATH')?.[1];
}
