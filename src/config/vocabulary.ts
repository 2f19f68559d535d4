// Owns the spelling of keys: snake_case and camelCase, seconds and milliseconds, the words of other agents. After it there is
// one spelling. Every map of a file is read through it, so that no key is dropped without a word.

import { isDeepStrictEqual } from 'node:util';
import { nearest } from '../kernel/nearest.ts';
import { limits } from '../model/limits.ts';
import { labelOf, type Problem } from './problem.ts';
import {
  fileSchema,
  permissionsSchema,
  plexusSchema,
  ruleSchema,
  securitySchema,
  serverSchema,
  startupSchema,
} from './schema.ts';

/** What another word stands for, said in canonical keys. */
type Meaning = (value: unknown) => Readonly<Record<string, unknown>>;

export interface Vocabulary {
  /** What the map is, to complete "… is not a setting of". */
  readonly of: string;
  readonly meanings: ReadonlyMap<string, Meaning>;
}

export interface Reading {
  readonly fields: Readonly<Record<string, unknown>>;
  /** Canonical key → key as the file has it, for messages and for finding its line. */
  readonly writtenAs: ReadonlyMap<string, string>;
  readonly problems: readonly Problem[];
}

function vocabulary(of: string, schema: { readonly shape: object }, others: Record<string, Meaning> = {}): Vocabulary {
  const keys = Object.keys(schema.shape);
  const inSeconds = keys.filter((key) => key.endsWith('Ms'));
  return {
    of,
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

const fromSeconds = (value: unknown) => (typeof value === 'number' ? Math.round(value * 1000) : value);
/** A file may hold several maps of servers, which are read one by one. */
const elsewhere: Meaning = () => ({});
const asUrl: Meaning = (url) => ({ url });
const asTransport: Meaning = (word) => ({ transport: transportOf(word) });

export const vocabularies = {
  file: vocabulary('a configuration file', fileSchema, { mcpServers: elsewhere, servers: elsewhere }),
  server: vocabulary('a server', serverSchema, {
    program: (command) => ({ command }),
    environment: (env) => ({ env }),
    transport: asTransport,
    type: asTransport,
    transportType: asTransport,
    httpUrl: (url) => ({ url, transport: 'http' }),
    serverUrl: asUrl,
    baseUrl: asUrl,
    bearerTokenEnv: (bearerTokenEnvVar) => ({ bearerTokenEnvVar }),
    disabled: (value) => ({ enabled: typeof value === 'boolean' ? !value : value }),
  }),
  permissions: vocabulary('"permissions"', permissionsSchema),
  rule: vocabulary('a rule', ruleSchema),
  security: vocabulary('"security"', securitySchema),
  plexus: vocabulary('"plexus"', plexusSchema),
  startup: vocabulary('"plexus.startup"', startupSchema),
} as const;

const transportWords = new Map([
  ['streamablehttp', 'http'],
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

/** A key set to null is a key not set. Two keys that mean the same may both be written as long as they agree. */
export function readKeys(written: Readonly<Record<string, unknown>>, { of, meanings }: Vocabulary): Reading {
  const fields = new Map<string, unknown>();
  const writtenAs = new Map<string, string>();
  const unknown: string[] = [];
  const problems: Problem[] = [];
  for (const [key, value] of Object.entries(written)) {
    if (value === null) continue;
    const meaning = meanings.get(camelCase(key));
    if (meaning === undefined) {
      unknown.push(key);
      continue;
    }
    for (const [field, meant] of Object.entries(meaning(value))) {
      const twin = writtenAs.get(field);
      if (twin !== undefined && !isDeepStrictEqual(fields.get(field), meant)) problems.push(contradiction(twin, key));
      fields.set(field, meant);
      if (field === camelCase(key) || twin === undefined) writtenAs.set(field, key);
    }
  }
  problems.push(...unknownKeys(unknown, of, [...meanings.keys()]));
  return { fields: Object.fromEntries(fields), writtenAs, problems };
}

export const camelCase = (key: string) =>
  key.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
export const snakeCase = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function contradiction(first: string, second: string): Problem {
  return {
    severity: 'error',
    path: [second],
    message: `"${first}" and "${second}" mean the same, but say different things`,
    remedy: 'Keep one of them.',
  };
}

/** A likely typo gets its own sentence; the rest, which is usually meant for another program, shares one. */
function unknownKeys(keys: readonly string[], of: string, known: readonly string[]): Problem[] {
  const typos: Problem[] = [];
  const strangers: string[] = [];
  for (const [at, key] of keys.entries()) {
    const near = at < GUESSED_KEYS ? nearest(camelCase(key), known, limits.suggestions) : [];
    const guesses = near.map((guess) => `"${key.includes('_') ? snakeCase(guess) : guess}"`);
    if (guesses.length === 0) strangers.push(key);
    else typos.push(withoutEffect([key], of, `Did you mean ${guesses.join(' or ')}?`));
  }
  const rest = withoutEffect(strangers, of, 'See all settings with: plexus config schema');
  return strangers.length === 0 ? typos : [...typos, rest];
}

const SHOWN_KEYS = 5;
/** Nobody mistypes more; a map with a hundred thousand strange keys must not cost seconds. */
const GUESSED_KEYS = 20;

function withoutEffect(keys: readonly string[], of: string, remedy: string): Problem {
  const shown = keys.slice(0, SHOWN_KEYS).map((key) => labelOf([key]));
  const more = keys.length > SHOWN_KEYS ? ` and ${keys.length - SHOWN_KEYS} more` : '';
  const what = keys.length === 1 ? 'is not a setting' : 'are not settings';
  const message = `${shown.join(', ')}${more} ${what} of ${of} and without effect`;
  return { severity: 'warning', path: keys.slice(0, 1), message, remedy };
}
