// Owns which variables and inputs the placeholders of an entry refer to, and which texts only look like placeholders. Reads no
// value: `resolve.ts` does, and reports those that are missing.

import type { RemoteLaunch, ServerDefinition, StdioLaunch } from '../model/server.ts';
import { foreignPlaceholdersIn, inputsOf, variablesOf } from './expand.ts';
import { loginTexts } from './login-settings.ts';

type LaunchHolder = Pick<ServerDefinition, 'launch'>;

/** Every host variable that the entry would read, and those that would leave the machine with its url or headers. */
export function variablesRead({ launch }: LaunchHolder): { all: string[]; sent: string[] } {
  if (launch.kind === 'in-process') return { all: [], sent: [] };
  const own = new Set(Object.keys(launch.env ?? {}));
  const inEnv = Object.entries(launch.env ?? {}).flatMap(([name, value]) =>
    // `PATH = "${PATH}:/opt"` refers to the host's PATH.
    variablesOf(value).filter((variable) => variable === name || !own.has(variable)),
  );
  const bearer = launch.kind === 'stdio' || launch.bearerTokenEnvVar === undefined ? [] : [launch.bearerTokenEnvVar];
  const inTexts = [...textsOf(launch).flatMap(variablesOf), ...bearer].filter((name) => !own.has(name));
  const all = [...new Set([...inEnv, ...inTexts])].filter((name) => !builtins.includes(name)).sort();
  return { all, sent: launch.kind === 'stdio' ? [] : all };
}

/** The ids of all inputs that the entry would use. */
export function inputsRead({ launch }: LaunchHolder): readonly string[] {
  if (launch.kind === 'in-process') return [];
  return [...new Set([...textsOf(launch), ...Object.values(launch.env ?? {})].flatMap(inputsOf))].sort();
}

export const foreignPlaceholdersOf = ({ launch }: LaunchHolder): readonly string[] =>
  launch.kind === 'in-process'
    ? []
    : [...new Set([...textsOf(launch), ...Object.values(launch.env ?? {})].flatMap(foreignPlaceholdersIn))];

const builtins: readonly string[] = ['workspaceFolder', 'workspaceFolderBasename', 'userHome', 'pathSeparator', '/'];

export function textsOf(launch: StdioLaunch | RemoteLaunch): readonly string[] {
  if (launch.kind !== 'stdio') {
    const login = loginTexts(launch.oauth).map(([, text]) => text);
    return [launch.url, ...Object.values(launch.headers), ...textsOfRoute(launch), ...login];
  }
  return [launch.command, ...launch.args, launch.cwd ?? ''];
}

const textsOfRoute = ({ proxy, caFile, certFile, keyFile }: RemoteLaunch) =>
  [proxy, caFile, certFile, keyFile].filter((text) => text !== undefined);
