// Owns the step from one written entry to one definition. Reads no file. An entry with an error gives no definition, only the
// problems. `launch.ts` decides which keys go together.

import type { Launch, RemoteLaunch, Scope, ServerDefinition, ServerSettings, ToolSettings } from '../model/server.ts';
import { asWritten, checkEach } from './check.ts';
import { isMap, type KeyPath } from './config-map.ts';
import { isCommand } from './expand.ts';
import { healthPolicy } from './health.ts';
import { remoteToolIdleTimeoutMs } from './idle-timeout.ts';
import { launchOf, type Mutable } from './launch.ts';
import { tidyLogin } from './login-settings.ts';
import { type ConfigProblem, labelOf, wrongType } from './problem.ts';
import { conflictIn, reconnectPolicy } from './reconnect.ts';
import type { CompleteEntry } from './schema.ts';
import { isOwnScope } from './scopes.ts';
import { complete } from './sections.ts';
import type { InProcessEntry } from './server-entry.ts';
import { type NormalizedSection, readKeys, vocabularies } from './vocabulary.ts';

/** Defaults that environment variables set in place of the schema's. */
export type EnvDefaults = Partial<Pick<ServerSettings, 'startupTimeoutMs' | 'toolTimeoutMs' | 'maxResultTokens'>>;

export interface WrittenEntry extends Pick<ServerDefinition, 'name' | 'provenance'> {
  readonly value: unknown;
  /** Set for a server that runs inside the host, which only code can define. */
  readonly serve?: InProcessEntry['serve'];
}

/** Canonical key → key as the file spells it. */
export type WrittenKeys = ReadonlyMap<string, string>;

export interface DefinedServer {
  readonly definition?: ServerDefinition;
  readonly written: WrittenKeys;
  readonly problems: readonly ConfigProblem[];
}

export interface DefineOptions {
  readonly defaults: EnvDefaults;
  /** Whether the entry may loosen anything: see more of the environment, or have tools called without asking. */
  readonly mayLoosen: boolean;
}

export function defineServer(written: WrittenEntry, { defaults, mayLoosen }: DefineOptions): DefinedServer {
  const { name, provenance, value, serve } = written;
  const fault = faultOfName(name) ?? faultOfShape(name, value);
  if (fault || !isMap(value)) return { written: new Map(), problems: fault ? [fault] : [] };

  const read = readKeys(value, vocabularies.server);
  const { fields, problems } = tidy(read, { mayLoosen, scope: provenance.scope });
  const { fields: entry, problems: wrong } = checkEach({ fields, writtenAs: read.writtenAs }, 'server');
  for (const problem of wrong) problems.push(problem);
  if (problems.some(({ severity }) => severity === 'error')) return { written: read.writtenAs, problems };

  emptyEntry ??= complete('server');
  const launch = conflictIn(entry.reconnect) ?? launchOf(entry, emptyEntry, serve);
  if ('message' in launch) {
    problems.push({ ...launch, path: asWritten(launch.path, read) });
    return { written: read.writtenAs, problems };
  }
  const definition = { name, launch, settings: settingsOf(entry, emptyEntry, defaults, launch), provenance };
  return { definition: freeze(definition), written: read.writtenAs, problems };
}

/** An entry without any key, with every default; made once. */
let emptyEntry: CompleteEntry | undefined;

/** A definition is a few maps deep, and its policies are frozen already, so this freezes all of it. */
function freeze(definition: ServerDefinition): ServerDefinition {
  const { launch, settings, provenance } = definition;
  if (launch.kind === 'stdio') Object.freeze(launch.args);
  if (launch.kind === 'stdio') Object.freeze(launch.inheritEnv);
  if (launch.kind !== 'stdio' && launch.kind !== 'in-process') Object.freeze(launch.headers);
  if (launch.kind !== 'stdio' && launch.kind !== 'in-process') freezeLogin(launch.oauth);
  if (launch.kind !== 'in-process') Object.freeze(launch.env);
  if (launch.kind !== 'in-process') Object.freeze(launch.envAllow);
  Object.freeze(launch);
  Object.freeze(settings.disabledTools);
  Object.freeze(settings.enabledTools);
  Object.freeze(settings.tools);
  for (const tool of Object.values(settings.tools ?? {})) Object.freeze(tool);
  Object.freeze(settings);
  Object.freeze(provenance.key);
  Object.freeze(provenance);
  return Object.freeze(definition);
}

function freezeLogin(oauth: RemoteLaunch['oauth']): void {
  if (!oauth) return;
  Object.freeze(oauth.scopes);
  Object.freeze(oauth.account);
  Object.freeze(oauth);
}

const LONGEST_NAME = 100;
const reserved = new Set(['__proto__', 'constructor', 'prototype']);

/** Names come from files and may hold almost anything, but they are shown in terminals and used as keys. */
function faultOfName(name: string): ConfigProblem | undefined {
  const bad = (message: string): ConfigProblem => ({
    severity: 'error',
    path: [],
    message,
    remedy: 'Give the server another name.',
  });
  if (/^[\w.:/-]{1,100}$/.test(name) && !reserved.has(name)) return undefined;
  if (name.trim() === '') return bad('a server has no name');
  if (name.length > LONGEST_NAME) return bad(`the name of a server is longer than ${LONGEST_NAME} characters`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u001f\u007f-\u009f]/.test(name)) return bad('the name of a server holds a control character');
  return reserved.has(name) ? bad(`"${name}" cannot be the name of a server`) : undefined;
}

/** The message does not quote a text: it is most often an address or a command line, and those may hold secrets. */
function faultOfShape(name: string, value: unknown): ConfigProblem | undefined {
  if (isMap(value)) return undefined;
  const remedy = 'Write a map with "command" or "url" there.';
  if (typeof value !== 'string') return { ...wrongType([name], 'a map of settings', value), remedy, path: [] };
  return {
    severity: 'error',
    path: [],
    message: `${labelOf([name])} must be a map of settings, but is a string`,
    remedy,
  };
}

interface EntryRights {
  readonly mayLoosen: boolean;
  /** Only the user's own entries may run commands and read files for their values. */
  readonly scope: Scope;
}

/** Turns the shapes that people write into the one the schema knows, and drops what the scope may not set. */
function tidy({ fields, writtenAs, problems }: NormalizedSection, rights: EntryRights) {
  const isOwn = isOwnScope(rights.scope);
  const tidied: Record<string, unknown> = { ...fields };
  const found: ConfigProblem[] = [...problems];
  const keyOf = (field: string) => writtenAs.get(field) ?? field;
  const words = wordsOf(fields['command'], fields['args']);
  if (Array.isArray(words)) {
    const [command, ...first] = words;
    tidied['command'] = command;
    tidied['args'] =
      Array.isArray(fields['args']) || fields['args'] === undefined
        ? first.concat(fields['args'] ?? [])
        : fields['args'];
  }
  const { args } = tidied;
  if (Array.isArray(args)) tidied['args'] = args.every(isText) ? args.slice() : args.map(asText);
  for (const key of ['env', 'headers']) {
    const map = tidied[key];
    if (isMap(map)) tidied[key] = tidyMap(map, keyOf(key), isOwn, found);
  }
  if (isMap(fields['oauth'])) tidied['oauth'] = tidyLogin(fields['oauth'], keyOf('oauth'), { isOwn, found });
  if (isMap(fields['tools'])) tidied['tools'] = withoutProto(fields['tools'], keyOf('tools'), found);
  dropForbidden(tidied, keyOf, rights, found);
  return { fields: tidied, problems: found };
}

/** Drops the keys that the scope may not set, each with a warning. */
function dropForbidden(
  tidied: Record<string, unknown>,
  keyOf: (field: string) => string,
  { mayLoosen, scope }: EntryRights,
  found: ConfigProblem[],
): void {
  const { inheritEnv = 'safe', envAllow, trustHints, bearerToken } = tidied;
  if (inheritEnv !== 'safe' && !mayLoosen) {
    tidied['inheritEnv'] = 'safe';
    found.push(cannotWiden(keyOf('inheritEnv'), inheritEnv, scope));
  }
  if (envAllow !== undefined && !mayLoosen) {
    delete tidied['envAllow'];
    found.push(cannotWiden(keyOf('envAllow'), envAllow, scope));
  }
  if (trustHints === true && !mayLoosen) {
    delete tidied['trustHints'];
    found.push(cannotVouch(keyOf('trustHints'), scope));
  }
  if (!mayLoosen) dropLooseApproval(tidied, keyOf, scope, found);
  for (const key of isOwnScope(scope) ? [] : ownKeys) {
    if (tidied[key] === undefined) continue;
    delete tidied[key];
    found.push(key === 'proxy' ? cannotRedirect(keyOf(key)) : onlyFromOwn([keyOf(key)]));
  }
  if (bearerToken !== undefined) found.push(literalBearer(keyOf('bearerToken')));
}

/** A repository cannot have tools called without asking the user: neither all of a server nor a single one. */
function dropLooseApproval(
  tidied: Record<string, unknown>,
  keyOf: (field: string) => string,
  scope: Scope,
  found: ConfigProblem[],
): void {
  const prefix = 'a file that is not your own cannot have tools called without asking, so';
  if (tidied['approval'] === 'approve') {
    delete tidied['approval'];
    const key = keyOf('approval');
    found.push(loosening(key, 'approve', scope, `${prefix} ${labelOf([key])} is ignored`));
  }
  const { tools } = tidied;
  if (!isMap(tools)) return;
  const loose = Object.fromEntries(
    Object.entries(tools).flatMap(([name, value]) => {
      const keys = looseKeys(value);
      return keys.length === 0 ? [] : [[name, only(value, keys)]];
    }),
  );
  const names = Object.keys(loose);
  if (names.length === 0) return;
  const key = keyOf('tools');
  tidied['tools'] = Object.fromEntries(
    Object.entries(tools).map(([name, value]) => [name, without(value, looseKeys(value))]),
  );
  found.push(
    loosening(key, loose, scope, `${prefix} what ${labelOf([key])} says so of ${names.join(', ')} is ignored`),
  );
}

/** The settings of a tool that would have it called where the user would otherwise be asked. */
function looseKeys(value: unknown): readonly string[] {
  if (!isMap(value)) return [];
  return [
    ...(value['approval'] === 'approve' ? ['approval'] : []),
    ...(value['outbound'] === false ? ['outbound'] : []),
  ];
}

const only = (value: unknown, keys: readonly string[]) =>
  Object.fromEntries(Object.entries(Object(value)).filter(([key]) => keys.includes(key)));

function without(value: unknown, keys: readonly string[]): unknown {
  if (!isMap(value) || keys.length === 0) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
}

/** Many people write a whole command line as the command. A path may hold spaces, the bare name of a program does not. */
function wordsOf(command: unknown, args: unknown): unknown {
  const hasArgs = Array.isArray(args) ? args.length > 0 : args !== undefined;
  if (typeof command !== 'string' || command.length > LONGEST_LINE || hasArgs || !LINE.test(command)) return command;
  const words = command.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? [];
  return words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
}

/** A longer text is no typed command line, and the pattern below must not run over megabytes. */
const LONGEST_LINE = 8_192;

/** A bare name, then arguments, with every quote closed. */
const LINE = /^[\w.@+-]+\s(?:[^"']|"[^"]*"|'[^']*')+$/;

/** A tool called `__proto__` would set the prototype of a map instead of a key. */
function withoutProto(map: Readonly<Record<string, unknown>>, key: string, found: ConfigProblem[]) {
  if (!Object.hasOwn(map, '__proto__')) return map;
  found.push(unsafe([key, '__proto__']));
  return Object.fromEntries(Object.entries(map).filter(([name]) => name !== '__proto__'));
}

/** Always copies: the map may be an object of the host's. */
function tidyMap(map: Readonly<Record<string, unknown>>, key: string, isOwn: boolean, found: ConfigProblem[]) {
  const tidied: Record<string, unknown> = {};
  for (const name of Object.keys(map)) {
    const value = map[name];
    const isForbidden = !isOwn && isText(value) && isCommand(value);
    if (name === '__proto__') found.push(unsafe([key, name]));
    else if (value !== null) tidied[name] = isForbidden ? '' : isText(value) ? value : asText(value);
    if (isForbidden) found.push(onlyFromOwn([key, name]));
  }
  return tidied;
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** Files write ports and switches without quotes; only values that keep their exact spelling as text are converted. */
const asText = (value: unknown) => (typeof value === 'boolean' || Number.isSafeInteger(value) ? String(value) : value);

function unsafe(path: KeyPath): ConfigProblem {
  return {
    severity: 'warning',
    path,
    message: `${labelOf(path)} is not a name and was left out`,
    remedy: 'Remove it.',
  };
}

const ownKeys = ['envFile', 'headersHelper', 'proxy', 'caFile', 'certFile', 'keyFile'] as const;

function cannotWiden(key: string, value: unknown, scope: Scope): ConfigProblem {
  const message = `a file that is not your own cannot widen what a server sees of your environment, so ${labelOf([key])} is ignored`;
  return loosening(key, value, scope, message);
}

function cannotVouch(key: string, scope: Scope): ConfigProblem {
  const message = `a file that is not your own cannot vouch for what a server says of its tools, so ${labelOf([key])} is ignored`;
  return loosening(key, true, scope, message);
}

/** Only a file of the workspace can be approved as a whole; servers of plugins and other agents can never loosen anything. */
function loosening(key: string, value: unknown, scope: Scope, message: string): ConfigProblem {
  const isContributed = scope === 'plugin' || scope === 'imported';
  return {
    severity: 'warning',
    ...(!isContributed && { loosens: `${labelOf([key])} = ${JSON.stringify(value)}` }),
    path: [key],
    message,
    remedy: isContributed
      ? IN_OWN_FILE
      : 'Define the server in your own file, or approve this one as it is: plexus approve --policy',
  };
}

const IN_OWN_FILE = 'Define the server in your own file; see where it lies with: plexus config path';

function onlyFromOwn(path: KeyPath): ConfigProblem {
  return {
    severity: 'warning',
    path,
    message: `only your own files may have a command run or a file read for a value, so ${labelOf(path)} is left out`,
    remedy: IN_OWN_FILE,
  };
}

function cannotRedirect(key: string): ConfigProblem {
  return {
    severity: 'warning',
    path: [key],
    message: `only your own files may say which proxy is used, so ${labelOf([key])} is left out`,
    remedy: IN_OWN_FILE,
  };
}

/** A token does not belong in a file, since files are copied, committed and backed up. */
function literalBearer(key: string): ConfigProblem {
  const named = key.includes('_') ? 'bearer_token_env_var' : 'bearerTokenEnvVar';
  return {
    severity: 'error',
    path: [key],
    message: `${labelOf([key])} is the token itself, which does not belong in a file`,
    remedy: `Put the token into an environment variable, and its name under "${named}".`,
  };
}

/** Written key by key: a general merge of maps would take longer than everything else that is done for an entry. */
function settingsOf(
  entry: Partial<CompleteEntry>,
  blank: CompleteEntry,
  defaults: EnvDefaults,
  launch: Launch,
): ServerSettings {
  const isRemote = launch.kind !== 'stdio' && launch.kind !== 'in-process';
  const idle = entry.toolIdleTimeoutMs ?? (isRemote ? remoteToolIdleTimeoutMs : undefined);
  const { title, description, enabledTools, tools, exposure, toolCacheTtlMs, logLevel, approval, idleStopMs } = entry;
  const settings: Mutable<ServerSettings> = {
    enabled: entry.enabled ?? blank.enabled,
    startupTimeoutMs: entry.startupTimeoutMs ?? defaults.startupTimeoutMs ?? blank.startupTimeoutMs,
    toolTimeoutMs: entry.toolTimeoutMs ?? defaults.toolTimeoutMs ?? blank.toolTimeoutMs,
    disabledTools: entry.disabledTools ?? blank.disabledTools,
    alwaysLoad: entry.alwaysLoad ?? blank.alwaysLoad,
    instructions: entry.instructions ?? blank.instructions,
    cacheable: entry.cacheable ?? blank.cacheable,
    subscriptions: entry.subscriptions ?? blank.subscriptions,
    maxResultChars: entry.maxResultChars ?? blank.maxResultChars,
    maxResultTokens: entry.maxResultTokens ?? defaults.maxResultTokens ?? blank.maxResultTokens,
    maxMessageBytes: entry.maxMessageBytes ?? blank.maxMessageBytes,
    lifecycle: entry.lifecycle ?? blank.lifecycle,
    required: entry.required ?? blank.required,
    perClient: entry.perClient ?? blank.perClient,
    share: entry.share ?? blank.share,
    trustHints: entry.trustHints ?? blank.trustHints,
    elicitation: entry.elicitation ?? blank.elicitation,
    parallel: entry.parallel ?? blank.parallel,
    reconnect: reconnectPolicy(entry.reconnect ?? blank.reconnect),
    health: healthPolicy(entry.health ?? blank.health),
    keepAliveMs: entry.keepAliveMs ?? blank.keepAliveMs,
  };
  if (title !== undefined) settings.title = title;
  if (description !== undefined) settings.description = description;
  if (idle !== undefined) settings.toolIdleTimeoutMs = idle;
  if (enabledTools !== undefined) settings.enabledTools = enabledTools;
  if (tools !== undefined) settings.tools = toolsOf(tools);
  if (exposure !== undefined) settings.exposure = exposure;
  if (toolCacheTtlMs !== undefined) settings.toolCacheTtlMs = toolCacheTtlMs;
  if (logLevel !== undefined) settings.logLevel = logLevel;
  if (approval !== undefined) settings.approval = approval;
  if (idleStopMs !== undefined) settings.idleStopMs = idleStopMs;
  return settings;
}

/** A boolean alone is the shortest way to switch a tool on or off. */
function toolsOf(written: NonNullable<CompleteEntry['tools']>): Record<string, ToolSettings> {
  return Object.fromEntries(
    Object.entries(written).map(([name, tool]) => {
      if (typeof tool === 'boolean') return [name, { enabled: tool }];
      return [name, Object.fromEntries(Object.entries(tool).filter(([, value]) => value !== undefined))];
    }),
  );
}
