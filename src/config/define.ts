// Owns the step from one written entry to one definition. Reads no file. An entry with an error gives no definition, and says
// why. Which keys go together is in `launch.ts`.

import type { Launch, ServerDefinition, ServerSettings } from '../model/server.ts';
import { asWritten, explain } from './check.ts';
import { launchOf } from './launch.ts';
import { isMap, labelOf, type Path, type Problem, wrongType } from './problem.ts';
import { type CompleteEntry, remoteToolIdleTimeoutMs, serverSchema } from './schema.ts';
import { isWorkspaceScope } from './scopes.ts';
import type { InProcessEntry } from './server-entry.ts';
import { type Reading, readKeys, vocabularies } from './vocabulary.ts';

/** What stands in for a schema's default where an entry says nothing. */
export type DefaultTimeouts = Partial<Pick<ServerSettings, 'startupTimeoutMs' | 'toolTimeoutMs'>>;

export interface Written extends Pick<ServerDefinition, 'name' | 'provenance'> {
  readonly value: unknown;
  /** Given in code only: the server runs inside the host. */
  readonly serve?: InProcessEntry['serve'];
}

export interface Defined {
  readonly definition?: ServerDefinition;
  readonly problems: readonly Problem[];
}

export function defineServer(written: Written, defaults: DefaultTimeouts): Defined {
  const nameless = faultOfName(written.name);
  if (nameless) return { problems: [nameless] };
  if (!isMap(written.value))
    return { problems: [{ ...wrongType([written.name], 'a map of settings', written.value), path: [] }] };

  const read = readKeys(written.value, vocabularies.server);
  const { fields, problems } = tidy(read, isWorkspaceScope(written.provenance.scope));
  const parsed = serverSchema.safeParse({ ...defaults, ...fields });
  if (!parsed.success) problems.push(...parsed.error.issues.map((issue) => explain(issue, { ...read, fields })));
  if (!parsed.success || problems.some(({ severity }) => severity === 'error')) return { problems };

  const launch = launchOf(parsed.data, written.serve);
  if ('message' in launch) return { problems: [...problems, { ...launch, path: asWritten(launch.path, read) }] };
  const { name, provenance } = written;
  return { definition: deepFreeze({ name, launch, settings: settingsOf(parsed.data, launch), provenance }), problems };
}

const LONGEST_NAME = 100;
const reserved = new Set(['__proto__', 'constructor', 'prototype']);

/** A name may hold anything a real file holds, but it is shown in terminals and used as a key. */
function faultOfName(name: string): Problem | undefined {
  const bad = (message: string): Problem => ({
    severity: 'error',
    path: [],
    message,
    remedy: 'Give the server another name.',
  });
  if (name.trim() === '') return bad('a server has no name');
  if (name.length > LONGEST_NAME) return bad(`the name of a server is longer than ${LONGEST_NAME} characters`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u001f\u007f-\u009f]/.test(name)) return bad('the name of a server holds a control character');
  return reserved.has(name) ? bad(`"${name}" cannot be the name of a server`) : undefined;
}

/** Takes the shapes people write to the one the schema knows, and takes back what a workspace may not say. */
function tidy({ fields, writtenAs, problems }: Reading, inWorkspace: boolean) {
  const tidied: Record<string, unknown> = { ...fields };
  const found: Problem[] = [...problems];
  if (Array.isArray(fields['command'])) {
    const [command, ...first] = fields['command'];
    tidied['command'] = command;
    tidied['args'] =
      Array.isArray(fields['args']) || fields['args'] === undefined
        ? first.concat(fields['args'] ?? [])
        : fields['args'];
  }
  if (Array.isArray(tidied['args'])) tidied['args'] = tidied['args'].map(asText);
  for (const key of ['env', 'headers']) {
    const map = tidied[key];
    if (!isMap(map)) continue;
    const path = writtenAs.get(key) ?? key;
    if (Object.hasOwn(map, '__proto__')) found.push(unsafe([path, '__proto__']));
    tidied[key] = Object.fromEntries(
      Object.entries(map)
        .filter(([name]) => name !== '__proto__')
        .map(([name, value]) => [name, asText(value)]),
    );
  }
  if (inWorkspace && fields['inheritEnv'] !== undefined && fields['inheritEnv'] !== 'safe') {
    tidied['inheritEnv'] = 'safe';
    found.push(notFromWorkspace(writtenAs.get('inheritEnv') ?? 'inheritEnv'));
  }
  return { fields: tidied, problems: found };
}

/** Files write ports and switches without quotes; only what keeps its exact spelling is taken for a string. */
const asText = (value: unknown) => (typeof value === 'boolean' || Number.isSafeInteger(value) ? String(value) : value);

function unsafe(path: Path): Problem {
  return {
    severity: 'warning',
    path,
    message: `${labelOf(path)} is not a name and was left out`,
    remedy: 'Remove it.',
  };
}

function notFromWorkspace(key: string): Problem {
  return {
    severity: 'warning',
    path: [key],
    message: `a file in the workspace cannot widen what a server sees of your environment, so ${labelOf([key])} counts as "safe"`,
    remedy: 'Define the server in your user configuration if it needs more, or name the variables in its "env".',
  };
}

function settingsOf(entry: CompleteEntry, launch: Launch): ServerSettings {
  const { enabled, startupTimeoutMs, toolTimeoutMs, disabledTools, maxResultChars, maxMessageBytes } = entry;
  const isRemote = launch.kind !== 'stdio' && launch.kind !== 'in-process';
  const idle = entry.toolIdleTimeoutMs ?? (isRemote ? remoteToolIdleTimeoutMs : undefined);
  return {
    ...{ enabled, startupTimeoutMs, toolTimeoutMs, disabledTools, maxResultChars, maxMessageBytes },
    ...(entry.description === undefined ? {} : { description: entry.description }),
    ...(idle === undefined ? {} : { toolIdleTimeoutMs: idle }),
    ...(entry.enabledTools === undefined ? {} : { enabledTools: entry.enabledTools }),
  };
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  for (const each of Object.values(value)) deepFreeze(each);
  return Object.freeze(value);
}
