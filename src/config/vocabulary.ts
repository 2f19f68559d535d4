// Owns the spellings of keys: snake_case and camelCase, seconds and milliseconds, the words of other agents. `readKeys` turns all
// of them into canonical keys. Every map of a file goes through it, so that no key is dropped without a message.

import { isDeepStrictEqual } from 'node:util';
import { type ConfigMap, isMap } from './config-map.ts';
import { inputsOf, variablesOf } from './expand.ts';
import { camelCase } from './key-case.ts';
import { type ConfigProblem, within } from './problem.ts';
import type { SectionName } from './schema.ts';
import { keysOf } from './sections.ts';
import { type KnownKeys, reportUnknownKeys } from './unknown-keys.ts';

/** What a key and its value mean, in canonical keys. */
type Meaning = (value: unknown) => Readonly<Record<string, unknown>>;

export interface Vocabulary extends KnownKeys {
  readonly meanings: ReadonlyMap<string, Meaning>;
  /** Keys that mean themselves, unless their value is a map that is read key by key: nearly all keys that people write. */
  readonly plain: ReadonlySet<string>;
  /** Keys whose value may be a map with further keys of the same section. */
  readonly nested: ReadonlyMap<string, (map: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>>;
  /** Keys whose value may be a section with keys of its own. */
  readonly sections: ReadonlyMap<string, Vocabulary>;
  /** Keys whose value may be a map of such sections, under names that the user chooses. */
  readonly members: ReadonlyMap<string, Vocabulary>;
  /** Whether a key belongs to another program, so that it is no mistake. */
  readonly isForOthers: (key: string) => boolean;
}

export interface NormalizedSection {
  readonly fields: Readonly<Record<string, unknown>>;
  /** Canonical key → key as the file spells it, for messages and for finding its line; `section.key` for keys inside a section. */
  readonly writtenAs: ReadonlyMap<string, string>;
  readonly problems: readonly ConfigProblem[];
  /** Keys that are unknown and resemble no known key. */
  readonly unknownKeys: readonly string[];
}

type VocabularyExtras = Partial<Omit<Vocabulary, 'of' | 'meanings' | 'plain'>>;

function vocabulary(
  of: string,
  section: SectionName,
  others: Record<string, Meaning> = {},
  extras: VocabularyExtras = {},
): Vocabulary {
  const keys = keysOf(section);
  const inSeconds = keys.filter((key) => key.endsWith('Ms'));
  return {
    of,
    nested: new Map(),
    sections: new Map(),
    members: new Map(),
    isForOthers: () => false,
    elsewhere: new Map(),
    guesses: [...keys, ...inSeconds.map((key) => key.replace(/Ms$/, 'Sec'))],
    ...extras,
    plain: new Set(keys.filter((key) => !Object.hasOwn(others, key))),
    meanings: new Map<string, Meaning>([
      ...keys.map((key): [string, Meaning] => [key, (value) => ({ [key]: value })]),
      ...inSeconds.map((key): [string, Meaning] => [
        key.replace(/Ms$/, 'Sec'),
        (value) => ({ [key]: fromSeconds(value) }),
      ]),
      ...Object.entries(others),
    ]),
  };
}

/** A short time never becomes 0, which would mean no limit at all. */
const fromSeconds = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(fromSeconds);
  return typeof value === 'number' && value > 0 ? Math.max(1, Math.round(value * 1000)) : value;
};
const asCommand: Meaning = (command) => ({ command });
const asUrl: Meaning = (url) => ({ url });
const asTransport: Meaning = (word) => ({ transport: transportOf(word) });
const asEnabledTools: Meaning = (enabledTools) => ({ enabledTools });
const asDisabledTools: Meaning = (disabledTools) => ({ disabledTools });

/** A `timeout` without a unit below this is taken for seconds: a wrong guess makes the timeout longer, never shorter. */
const SECONDS_BELOW = 10_000;

const asTimeout: Meaning = (value) => ({
  toolTimeoutMs: typeof value === 'number' && value < SECONDS_BELOW ? fromSeconds(value) : value,
});

/** A token that is no placeholder is a secret in a file; `define.ts` reports it. */
const asBearer: Meaning = (token) =>
  typeof token === 'string' && variablesOf(token).length + inputsOf(token).length > 0
    ? { headers: { Authorization: `Bearer ${token}` } }
    : { bearerToken: token };

const asHeaderVariables: Meaning = (names) => ({
  headers: isMap(names)
    ? Object.fromEntries(
        Object.entries(names).map(([header, name]) => [header, typeof name === 'string' ? `\${${name}}` : name]),
      )
    : names,
});

const asRules = 'Write it as rules under "permissions", each with "tool" and "action".';

/** Some editors write the command as a map of its parts; some programs write all keys of a server under its transport. */
const nestedInServer: Vocabulary['nested'] = new Map([
  ...['command', 'program'].map(
    (key) => [key, ({ path, ...parts }: ConfigMap) => ({ ...parts, command: path })] as const,
  ),
  ...['transport', 'type', 'transportType'].map((key) => [key, (parts: ConfigMap) => parts] as const),
]);

const backgroundWords = vocabulary('"reconnect.background"', 'background');
const reconnectWords = vocabulary(
  '"reconnect"',
  'reconnect',
  {},
  { sections: new Map([['background', backgroundWords]]) },
);

/** Codex writes some of them beside the command. */
const asOAuth =
  (key: string): Meaning =>
  (value) => ({ oauth: { [key]: value } });
const oauthWords = vocabulary(
  '"oauth"',
  'oauth',
  {
    scope: (scopes) => ({ scopes: scopesOf(scopes) }),
    scopes: (scopes) => ({ scopes: scopesOf(scopes) }),
    authServerMetadataUrl: (metadataUrl) => ({ metadataUrl }),
    redirectUrl: (redirectUri) => ({ redirectUri }),
  },
  // Claude Code's own way through an identity provider, which is set up elsewhere there.
  { isForOthers: (key) => /^(xaa|enabled)$/i.test(key) },
);

const asDisabled: Meaning = (value) => ({ enabled: typeof value === 'boolean' ? !value : value });
const asApproved = ['autoApprove', 'alwaysAllow', 'trust'].map((key) => [key, asRules] as const);
const asApproval: Meaning = (approval) => ({ approval });
const toolWords = vocabulary(
  'a tool',
  'tool',
  { disabled: asDisabled, approvalMode: asApproval },
  { elsewhere: new Map(asApproved) },
);

export const vocabularies = {
  file: vocabulary(
    'a configuration file',
    'file',
    { enterprise: (value) => ({ mode: isMap(value) ? value['mode'] : value }) },
    // `mode` is for the enterprise's file only, so it is never suggested.
    { isForOthers: isAboutFile, guesses: keysOf('file').filter((key) => key !== 'mode') },
  ),
  server: vocabulary(
    'a server',
    'server',
    {
      program: asCommand,
      cmd: asCommand,
      arguments: (args) => ({ args }),
      environment: (env) => ({ env }),
      envs: (env) => ({ env }),
      transport: asTransport,
      type: asTransport,
      transportType: asTransport,
      httpUrl: (url) => ({ url, transport: 'http' }),
      serverUrl: asUrl,
      uri: asUrl,
      baseUrl: asUrl,
      endpoint: asUrl,
      httpHeaders: (headers) => ({ headers }),
      requestInit: (init) => (isMap(init) ? { headers: init['headers'] ?? {} } : { headers: init }),
      envHttpHeaders: asHeaderVariables,
      envHeaders: asHeaderVariables,
      envVars: (inheritEnv) => ({ inheritEnv }),
      bearerTokenEnv: (bearerTokenEnvVar) => ({ bearerTokenEnvVar }),
      bearerToken: asBearer,
      authorizationToken: asBearer,
      workingDirectory: (cwd) => ({ cwd }),
      includeTools: asEnabledTools,
      // A list names the enabled tools, a map holds settings per tool; the schema refuses anything else.
      tools: (tools) => (Array.isArray(tools) ? { enabledTools: isEverything(tools) ? undefined : tools } : { tools }),
      excludeTools: asDisabledTools,
      timeout: asTimeout,
      name: (title) => ({ title }),
      approvalMode: asApproval,
      defaultToolsApprovalMode: asApproval,
      disabled: asDisabled,
      isActive: (enabled) => ({ enabled }),
      scopes: (scopes) => asOAuth('scopes')(scopesOf(scopes)),
      oauthResource: asOAuth('resource'),
      oauthClientId: asOAuth('clientId'),
    },
    {
      nested: nestedInServer,
      sections: new Map([
        ['reconnect', reconnectWords],
        ['health', vocabulary('"health"', 'health')],
        ['oauth', oauthWords],
      ]),
      members: new Map([['tools', toolWords]]),
      elsewhere: new Map(asApproved),
    },
  ),
  input: vocabulary('an input', 'input'),
  permissions: vocabulary(
    '"permissions"',
    'permissions',
    {},
    {
      elsewhere: new Map(['allow', 'ask', 'deny'].map((key) => [key, asRules])),
    },
  ),
  rule: vocabulary(
    'a rule',
    'rule',
    { arguments: (args) => ({ args }) },
    { isForOthers: (key) => /^(id|name|title|description|reason)$/i.test(key) },
  ),
  security: vocabulary('"security"', 'security'),
  plexus: vocabulary('"plexus"', 'plexus'),
  project: vocabulary('"plexus.project"', 'project'),
  startup: vocabulary('"plexus.startup"', 'startup'),
  connectConcurrency: vocabulary('"plexus.connectConcurrency"', 'connectConcurrency'),
  results: vocabulary('"plexus.results"', 'results'),
  trust: vocabulary('"plexus.trust"', 'trust'),
  serving: vocabulary('"plexus.serving"', 'serving'),
  agent: vocabulary('"plexus.agent"', 'agent', { baseUrl: asUrl, endpoint: asUrl, apiKey: (key) => ({ key }) }),
} as const satisfies Record<string, Vocabulary>;

/** As a list, or as OAuth itself writes them. */
const scopesOf = (scopes: unknown) => (typeof scopes === 'string' ? scopes.split(/\s+/).filter(Boolean) : scopes);

const isEverything = (tools: unknown) => Array.isArray(tools) && tools.length === 1 && tools[0] === '*';

/** Keys that other programs, or people, add for themselves and that mean nothing to Plexus. */
const remarks = /^(_|\/\/|\$)|^(comments?|notes?|gallery|dev|version|source|icons?)$/i;
export const isRemark = (key: string) => remarks.test(key);

/** Keys that describe the file itself, and dotted keys that an editor keeps in the same file. */
function isAboutFile(key: string): boolean {
  if (/^(name|title|description|author|homepage|repository|license|keywords)$|^\[.*\]$/i.test(key)) return true;
  const [section = '', ...rest] = key.split('.');
  return rest.length > 0 && !vocabularies.file.meanings.has(section);
}

const transportWords = new Map([
  ['streamablehttp', 'http'],
  ['streamable', 'http'],
  ['url', 'http'],
  ['local', 'stdio'],
  ['remote', 'auto'],
  ['websocket', 'ws'],
]);

function transportOf(word: unknown): unknown {
  if (typeof word !== 'string') return word;
  const folded = word.toLowerCase().replace(/[-_]/g, '');
  return transportWords.get(folded) ?? (/^(stdio|http|sse|ws|auto)$/.test(folded) ? folded : word);
}

/** A key set to null counts as not set. Two keys that mean the same may both be written as long as they agree. */
export function readKeys(written: ConfigMap, vocabulary: Vocabulary): NormalizedSection {
  const { plain, nested, sections, members, isForOthers } = vocabulary;
  const fields: Record<string, unknown> = {};
  const writtenAs = new Map<string, string>();
  const unknown: [key: string, value: unknown][] = [];
  const problems: ConfigProblem[] = [];
  for (const key of Object.keys(written)) {
    const value = written[key];
    if (value === null) continue;
    const word = camelCase(key);
    const isUnfolded = typeof value === 'object' && (nested.has(word) || sections.has(word));
    if (plain.has(word) && !isUnfolded && !writtenAs.has(word)) {
      fields[word] = value;
      writtenAs.set(word, key);
      continue;
    }
    if (isRemark(key) || isForOthers(key)) continue;
    const { meaning, inner } = meaningOf(word, value, vocabulary);
    problems.push(...(inner?.problems ?? []).map((problem) => within([key], problem)));
    if (meaning.length === 0 && !inner) unknown.push([key, value]);
    if (sections.has(word) || members.has(word))
      for (const [field, spelled] of inner?.writtenAs ?? []) writtenAs.set(`${word}.${field}`, spelled);
    for (const [field, fieldValue] of meaning) {
      if (fieldValue === undefined) continue;
      const otherKey = writtenAs.get(field);
      const joined = otherKey === undefined ? fieldValue : join(fields[field], fieldValue);
      if (joined === undefined) problems.push(contradiction(otherKey ?? '', key));
      fields[field] = joined ?? fieldValue;
      if (field === word || otherKey === undefined) writtenAs.set(field, key);
    }
  }
  if (unknown.length === 0) return { fields, writtenAs, problems, unknownKeys: [] };
  const { problems: unknownProblems, unknownKeys } = reportUnknownKeys(unknown, vocabulary, writtenAs.size);
  return { fields, writtenAs, problems: [...problems, ...unknownProblems], unknownKeys };
}

/** The meaning of one key, in canonical keys; `inner` when its value is a map that is read key by key. */
function meaningOf(word: string, value: unknown, vocabulary: Vocabulary) {
  const { meanings, nested, sections, members } = vocabulary;
  const each = isMap(value) ? members.get(word) : undefined;
  if (each && isMap(value)) {
    const inner = readMembers(value, each);
    return { meaning: [[word, inner.fields] as const], inner };
  }
  const section = isMap(value) ? sections.get(word) : undefined;
  if (section && isMap(value)) {
    const inner = readKeys(value, section);
    return { meaning: [[word, inner.fields] as const], inner };
  }
  const unfolded = isMap(value) ? nested.get(word)?.(value) : undefined;
  const inner = unfolded && readKeys(unfolded, vocabulary);
  return { meaning: Object.entries(inner?.fields ?? meanings.get(word)?.(value) ?? {}), inner };
}

/** A value that is no map is left to the schema. */
function readMembers(
  written: ConfigMap,
  vocabulary: Vocabulary,
): Pick<NormalizedSection, 'fields' | 'writtenAs' | 'problems'> {
  const fields: [name: string, value: unknown][] = [];
  const writtenAs = new Map<string, string>();
  const problems: ConfigProblem[] = [];
  for (const [name, value] of Object.entries(written)) {
    if (value === null) continue;
    const inner = isMap(value) ? readKeys(value, vocabulary) : undefined;
    fields.push([name, inner?.fields ?? value]);
    for (const [field, spelled] of inner?.writtenAs ?? []) writtenAs.set(`${name}.${field}`, spelled);
    problems.push(...(inner?.problems ?? []).map((problem) => within([name], problem)));
  }
  return { fields: Object.fromEntries(fields), writtenAs, problems };
}

/** Equal values are one; maps are joined as long as they do not contradict each other. `undefined`: the values contradict. */
function join(first: unknown, second: unknown): unknown {
  if (isDeepStrictEqual(first, second)) return first;
  if (!isMap(first) || !isMap(second)) return undefined;
  const both = Object.keys(first).filter((key) => Object.hasOwn(second, key));
  return both.every((key) => isDeepStrictEqual(first[key], second[key])) ? { ...first, ...second } : undefined;
}

function contradiction(first: string, second: string): ConfigProblem {
  return {
    severity: 'error',
    path: [second],
    message: `"${first}" and "${second}" mean the same, but say different things`,
    remedy: 'Keep one of them.',
  };
}
