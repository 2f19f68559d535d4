// Owns what an entry asks for: the person's variables and answers, and what only looks like a placeholder. Reads none of them.

import type { RemoteLaunch, ServerDefinition, StdioLaunch } from '../model/server.ts';
import { foreignPlaceholdersIn, inputsOf, variablesOf } from './expand.ts';

type LaunchHolder = Pick<ServerDefinition, 'launch'>;

/** Every host variable the entry would read, and those of them that would leave the machine with its url or headers. */
export function variablesRead({ launch }: LaunchHolder): { all: string[]; sent: string[] } {
  if (launch.kind === 'in-process') return { all: [], sent: [] };
  const own = new Set(Object.keys(launch.env ?? {}));
  const inEnv = Object.entries(launch.env ?? {}).flatMap(([name, value]) =>
    // `PATH = "${PATH}:/opt"` means the host's.
    variablesOf(value).filter((variable) => variable === name || !own.has(variable)),
  );
  const bearer = launch.kind === 'stdio' || launch.bearerTokenEnvVar === undefined ? [] : [launch.bearerTokenEnvVar];
  const inTexts = [...textsOf(launch).flatMap(variablesOf), ...bearer].filter((name) => !own.has(name));
  const all = [...new Set([...inEnv, ...inTexts])].filter((name) => !builtins.includes(name)).sort();
  return { all, sent: launch.kind === 'stdio' ? [] : all };
}

/** Every answer of a person that the entry would use. */
export function inputsRead({ launch }: LaunchHolder): readonly string[] {
  if (launch.kind === 'in-process') return [];
  return [...new Set([...textsOf(launch), ...Object.values(launch.env ?? {})].flatMap(inputsOf))].sort();
}

export const foreignPlaceholdersOf = ({ launch }: LaunchHolder): readonly string[] =>
  launch.kind === 'in-process'
    ? []
    : [...new Set([...textsOf(launch), ...Object.values(launch.env ?? {})].flatMap(foreignPlaceholdersIn))];

/** What is sent to a server and has such a name is given by a person by name, and not otherwise. */
export const isCredential = (variable: string) => /TOKEN|SECRET|PASSWORD|KEY|AUTH/i.test(variable);

const builtins: readonly string[] = ['workspaceFolder', 'workspaceFolderBasename', 'userHome', 'pathSeparator', '/'];

export function textsOf(launch: StdioLaunch | RemoteLaunch): readonly string[] {
  if (launch.kind !== 'stdio') return [launch.url, ...Object.values(launch.headers), ...textsOfWay(launch)];
  return [launch.command, ...launch.args, launch.cwd ?? ''];
}

const textsOfWay = ({ proxy, caFile, certFile, keyFile }: RemoteLaunch) =>
  [proxy, caFile, certFile, keyFile].filter((text) => text !== undefined);
