// Owns the proof of what counts as a secret, name by name and value by value, for each caller of `model/secret-shapes`:
// `literal` (config/literal-secrets), `variable` (config/resolve), `argument` (trust/launch-parts), `given` and
// `sent` (shaping/secrets/given), `key` and `text` (shaping/secrets/data and find, with the kind that a log names).

import { describe, expect, test } from 'vitest';
import { secretsIn } from '../../../src/config/literal-secrets.ts';
import { isSecretVariable } from '../../../src/model/secret-shapes.ts';
import type { ServerDefinition } from '../../../src/model/server.ts';
import { redactData } from '../../../src/shaping/secrets/data.ts';
import { findSecrets } from '../../../src/shaping/secrets/find.ts';
import { secretsAmong, secretsSent } from '../../../src/shaping/secrets/given.ts';
import { launchIdentityOf } from '../../../src/trust/fingerprint.ts';
import { storedPartsOf } from '../../../src/trust/launch-parts.ts';

const PLAIN = 'correct-horse';
const RANDOM = 'q7Xk2Lp9Zt4Vb8Nw';

/** The callers that take an ordinary word for a secret because of its name; `?`: only a value that looks random. */
const names: Record<string, string> = {
  API_KEY: 'literal variable argument given sent key:api-key text?:api-key',
  apiKey: 'literal variable argument given sent key:api-key text?:api-key',
  'api-key': 'literal variable argument given sent key:api-key text?:api-key',
  key: 'literal variable argument given sent key?:assigned-token text?:assigned-token',
  keys: 'literal variable argument given sent key?:assigned-token text?:assigned-token',
  MONKEY: 'literal variable argument given sent key?:assigned-token text?:assigned-token',
  KEYBOARD: 'variable sent key?:assigned-token text?:assigned-token',
  key_id: 'literal variable argument given sent',
  PUBLIC_KEY: 'literal variable argument given sent',
  ACCESS_KEY_2: 'literal variable argument given sent key:api-key text?:api-key',
  secret_key_base: 'literal variable argument given sent key:api-key text?:api-key',
  client_secret: 'literal variable argument given sent key:secret text:secret',
  SECRETARY: 'literal variable argument given sent key?:assigned-token text?:assigned-token',
  token: 'literal variable argument given sent key?:token text?:token',
  GITHUB_TOKEN: 'literal variable argument given sent key?:token text?:token',
  tokenProd: 'literal variable argument given sent key?:token text?:token',
  access_token: 'literal variable argument given sent key:token text?:token',
  next_page_token: 'literal variable argument given sent',
  max_tokens: 'literal variable argument given sent',
  csrf_token: 'literal variable argument given sent',
  TOKENIZER: 'literal variable argument given sent key?:assigned-token text?:assigned-token',
  password: 'literal variable argument given sent key:password text:password',
  PASSWD: 'literal argument given sent key:password text:password',
  pwd: 'literal argument given sent key:password text:password',
  PWD: 'literal argument given sent key:password text:password',
  DB_PASS: 'literal argument given sent key:password text:password',
  passphrase: 'literal argument given sent key:password text:password',
  Authorization: 'literal variable argument given sent key:authorization text?:authorization',
  'Proxy-Authorization': 'literal variable argument given sent key:authorization text?:authorization',
  'X-Auth': 'literal variable argument given sent key:authorization text?:authorization',
  author: 'variable sent key?:assigned-token text?:assigned-token',
  AUTHOR_NAME: 'variable',
  authorised: 'literal variable argument given sent key?:assigned-token text?:assigned-token',
  oauth: 'literal variable argument given sent key?:assigned-token text?:assigned-token',
  Cookie: 'literal argument given sent key:cookie text?:cookie',
  session_id: 'literal argument given sent',
  SESSION: 'literal argument given sent key?:assigned-token text?:assigned-token',
  GITHUB_PAT: 'literal argument given sent key?:assigned-token text?:assigned-token',
  PATH: 'sent',
  pattern: 'sent',
  credentials: 'literal argument given sent key?:credential text?:credential',
  CREDENTIAL_FILE: 'literal argument given sent',
  'private-key': 'literal variable argument given sent key:api-key text?:api-key',
  'signing.key': 'literal variable argument given sent key:api-key text?:api-key',
  bot_token: 'literal variable argument given sent key:token text?:token',
  REGION: '',
  user_id: '',
  PROJECT: '',
  NODE_ENV: '',
  'X-Api-Version': '',
  bearer: 'literal argument given sent key?:assigned-token text?:assigned-token',
  signature: 'literal argument given sent',
  SIGNATURE_VERSION: '',
  'X-Sig': 'literal argument given sent key?:assigned-token text?:assigned-token',
  'connect.sid': 'literal argument given sent key?:assigned-token text?:assigned-token',
  compass: 'sent key?:assigned-token text?:assigned-token',
  auth_user: 'literal variable argument given sent',
};

/** The callers that take the value for a secret, under a name that says nothing. */
const values: Record<string, string> = {
  ghp_16C7e42F292c6912E7710c838347Ae178B4a: 'literal argument given sent text:github-token',
  'sk-ant-api03-abc': 'literal argument given sent',
  'sk-short1234567': 'literal argument given sent',
  AKIAIOSFODNN7QZRTYUP: 'literal argument given sent text:aws-access-key',
  'xoxb-2384729384-abcdefghijkl': 'literal argument given sent text:slack-token',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.sflKxwRJSMeKKF2QT4': 'literal argument given sent text:jwt',
  acme_pat_8ddfWk29xkq: 'literal argument given sent',
  pk_live_93jd92kd02kd: 'literal argument given sent',
  'patAbc123Def456.f00dbabe12345': 'literal argument given sent',
  'glpat-xK29dk2lq8sLw02kd9sl': 'literal argument given sent text:gitlab-token',
  'correct-horse': 'sent',
  q7Xk2Lp9Zt4Vb8Nw: 'literal argument given sent',
  '/home/me/.token': 'argument',
  '3f2504e0-4f89-11d3-9a0c-0305e82c3301': 'literal argument given sent',
  'index-BsF3k9xQ.js': 'given sent',
  'https://example.com/s/q7Xk2Lp9Zt4Vb8Nw/mcp': 'literal argument',
  'https://example.com/a': '',
  'https://me:hunter22@example.com/a': 'literal argument text:url-password',
  '12345678': '',
  '2026-11-18T00:00:00Z': '',
  true: '',
  '${TOKEN}': 'argument',
  'your-api-key': 'argument',
  'keyboard=qwerty': 'argument sent',
  '--author=me': 'argument sent',
  'eu-central-1': 'sent',
  AIzaSyD93kdk29dkJkd92kdLl29dkLkd92kd92k: 'literal argument given sent text:google-key',
  hf_dkLk29dkL2kdK29dkLk29dkLk29dkLk2kd: 'literal argument given sent text:huggingface-token',
};

/** The callers that take the value for a secret under this name: a path, a switch or a number mostly is none. */
const pairs: Record<string, string> = {
  'MAX_TOKENS 4096': '',
  'API_TOKEN 4096': 'literal',
  'DB_PASSWORD 1234': 'literal',
  'SESSION_TIMEOUT 30': '',
  'DB_PASS 1234': 'literal',
  'PASSPHRASE 1234': 'literal',
  'PASS_COUNT 1234': '',
  'API_TOKEN true': '',
  'API_TOKEN none': '',
  'TOKEN_FILE ./token.txt': '',
  'TOKEN_FILE ~/.token': '',
  'KEY_FILE C:\\keys\\a.pem': '',
  'TOKEN_URL https://auth.example.com/token': '',
  'SECRET_DATE 2026-11-18': 'literal',
  'API_KEY 12:30': 'literal',
  'API_KEY Bearer q7Xk2Lp9Zt4Vb8Nw': 'literal given sent',
  'X-Region correct-horse': '',
  'X-Region-Key correct-horse': 'literal given sent',
  'X-Account-Token correct-horse': 'literal given sent',
  'X-Tenant-Id correct-horse': '',
  'X-Toolsets correct-horse': '',
  'User-Agent correct-horse': '',
};

describe('a name is that of a secret', () => {
  test.each(Object.entries(names))('%s: %s', async (name, callers) => {
    expect((await callersByName(name)).join(' ')).toBe(callers);
  });
});

describe('a value has the shape of a secret', () => {
  test.each(Object.entries(values))('%s: %s', async (value, callers) => {
    expect((await callersByValue(value)).join(' ')).toBe(callers);
  });
});

describe('a value under a name is a secret', () => {
  test.each(Object.entries(pairs))('%s: %s', (pair, callers) => {
    const at = pair.indexOf(' ');
    expect(callersByPair(pair.slice(0, at), pair.slice(at + 1)).join(' ')).toBe(callers);
  });
});

async function callersByName(name: string): Promise<readonly string[]> {
  return [
    ...callersIf('literal', secretsIn({ env: { [name]: PLAIN } })),
    ...(isSecretVariable(name) ? ['variable'] : []),
    ...((await isConcealed([`--${name}`, PLAIN], 2)) ? ['argument'] : []),
    ...callersIf('given', secretsAmong({ [name]: PLAIN })),
    ...callersIf('sent', secretsSent([{ names: [name], value: PLAIN }])),
    ...kindIn('key', (value) =>
      String((redactData({ [name]: value }, (text) => text) as Record<string, string>)[name]),
    ),
    ...kindIn('text', (value) =>
      findSecrets(`${name}="${value}"`)
        .map(({ rule }) => `[redacted:${rule}]`)
        .join(),
    ),
  ];
}

function kindIn(place: string, redact: (value: string) => string): readonly string[] {
  const [plain, random] = [PLAIN, RANDOM].map((value) => /redacted:([\w-]+)/.exec(redact(value))?.[1]);
  if (plain !== undefined) return [`${place}:${plain}`];
  return random === undefined ? [] : [`${place}?:${random}`];
}

async function callersByValue(value: string): Promise<readonly string[]> {
  return [
    ...callersIf('literal', secretsIn({ args: [value] })),
    ...((await isConcealed([value], 1)) ? ['argument'] : []),
    ...callersIf('given', secretsAmong({ REGION: value })),
    ...callersIf('sent', secretsSent([{ names: ['X-Thing'], value }])),
    ...findSecrets(value).map(({ rule }) => `text:${rule}`),
  ];
}

async function isConcealed(args: readonly string[], at: number): Promise<boolean> {
  const identity = await launchIdentityOf(
    {
      launch: { kind: 'stdio', command: 'no-such-program', args, env: {}, inheritEnv: 'safe' },
    } as unknown as ServerDefinition,
    { cwd: '/', pathEnv: '', platform: 'linux' },
  );
  const stored = await storedPartsOf(identity, async (digest) => digest);
  return stored[`argument ${at}`]?.text.includes('(hidden)') === true;
}

const callersByPair = (name: string, value: string): readonly string[] => [
  ...callersIf('literal', secretsIn({ env: { [name]: value } })),
  ...callersIf('given', secretsAmong({ [name]: value })),
  ...callersIf('sent', secretsSent([{ names: [name], value }])),
];

const callersIf = (caller: string, secrets: Readonly<Record<string, string>>) =>
  Object.keys(secrets).length > 0 ? [caller] : [];
