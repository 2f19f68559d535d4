// Owns the proof that no known secret survives a redactor in any spelling, that what looks like one does not either, and that
// everything else comes through as it was, in linear time.

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what this is about

import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RuntimeError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import { createRedactor, KnownSecrets, redactFailures } from '../../../src/shaping/redact.ts';
import { verifies } from '../../verifies.ts';

const KEY = 'Zx8-Q_w"7\\é/+ü2k';
const TOKEN = 'ghp_TZKxveMY13jxVGweQIXFHtIBX8dSQOP6MKWa';

function redactorOf(values: Record<string, string> = {}) {
  const known = new KnownSecrets();
  known.set('it', values);
  return createRedactor(known);
}

const plain = redactorOf();
const text = fc.string({ unit: 'grapheme', maxLength: 60 });
const secret = fc.string({ unit: 'binary', minLength: limits.secretChars, maxLength: 40 }).filter((each) => {
  const trimmed = each.trim();
  return trimmed === each && !/[\r\n]/.test(each) && new Set(each).size > 5;
});

describe('a known value', () => {
  verifies('TRU-08', 'survives in no surrounding text, as it is or in the spellings of JSON and of addresses', () => {
    fc.assert(
      fc.property(text, secret, text, (before, value, after) => {
        const { known } = redactorOf({ N: value });
        const spellings = [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)];
        for (const spelled of spellings) {
          const rest = known(`${before}${spelled}${after}`);
          expect(rest).toContain('[N]');
          expect(known(rest)).toBe(rest);
        }
        expect(known(before + value + value)).not.toContain(value);
      }),
    );
  });

  verifies('TRU-08', 'is found within base64, whatever goes before it there', () => {
    const { known } = redactorOf({ PASS: KEY });
    for (const user of ['', 'a', 'me', 'bob', 'user:name:'])
      for (const after of ['', '!', '!!', '!!!']) {
        const bytes = Buffer.from(user + KEY + after);
        for (const encoding of ['base64', 'base64url'] as const) {
          const rest = known(`Basic ${bytes.toString(encoding)}`);
          expect(rest).toContain('[PASS]');
          const left = rest.replace('[PASS]', '').replace('Basic ', '').replace(/=+$/, '');
          expect(left.length).toBeLessThanOrEqual(Math.ceil(((user.length + after.length) * 8) / 6));
        }
      }
  });

  test('is taken out line by line, without the word before it, and the longest first', () => {
    const { known } = redactorOf({
      PEM: '-----BEGIN X-----\nAAAABBBBCCCC\nDDDDEEEEFFFF\n-----END X-----',
      Authorization: 'Bearer 0123-4567-89ab',
      SHORT: 'abcdefgh',
      LONG: 'abcdefghij',
    });
    expect(known('-----BEGIN X-----\nAAAABBBBCCCC\n "DDDDEEEEFFFF\\n')).toBe('-----BEGIN X-----\n[PEM]\n "[PEM]\\n');
    expect(known('Bearer 0123-4567-89ab, 0123-4567-89ab')).toBe('[Authorization], [Authorization]');
    expect(known('abcdefghij abcdefghi')).toBe('[LONG] [SHORT]i');
  });

  test('is nothing short, and no word that is everywhere', () => {
    const { known } = redactorOf({ A: '1234567', B: 'password', C: 'postgres' });
    const given = '1234567 password postgres';
    expect(known(given)).toBe(given);
  });

  test('belongs to its server: what that has now replaces what it had', () => {
    const secrets = new KnownSecrets();
    const { known } = createRedactor(secrets);
    secrets.set('a', { ONE: 'first-value' });
    secrets.set('b', { TWO: 'second-value' });
    secrets.add('three', 'third-value');
    expect(known('first-value second-value third-value')).toBe('[ONE] [TWO] [three]');
    secrets.set('a', {});
    expect(known('first-value second-value third-value')).toBe('first-value [TWO] [three]');
  });

  test('has a name that says no more than a name, and a mark is never changed', () => {
    const { text: redact } = redactorOf({ 'X\n[Y]  Z': 'the-value', LONG_NAME_OF: 'other-value', M: 'LONG_NAME_OF' });
    const rest = redact('the-value other-value LONG_NAME_OF');
    expect(rest).toBe('[X_Y_Z] [LONG_NAME_OF] [M]');
    expect(redact(rest)).toBe(rest);
  });

  test('splits no character', () => {
    const { known } = redactorOf({ HALF: `\udc00abcdefgh\ud800` });
    expect(known('x\ud83d\udc00abcdefgh\ud800\udc01y')).toBe('x[HALF]y');
  });

  test('costs little, however many there are', () => {
    const secrets = new KnownSecrets();
    for (let index = 0; index < 1_000; index++)
      secrets.add(`N${index}`, `value-${(index * 7919).toString(36)}-${index}-end`);
    const { known } = createRedactor(secrets);
    const given = `${'nothing in here is secret. '.repeat(40_000)}value-${(5 * 7919).toString(36)}-5-end`;
    const begun = process.cpuUsage().user;
    expect(known(given).endsWith('[N5]')).toBe(true);
    expect((process.cpuUsage().user - begun) / 1_000).toBeLessThan(5_000);
  });

  verifies('TRU-08', 'is all that a model does not read: everything else comes back as the same string', () => {
    const { known } = redactorOf({ N: KEY });
    const given = `password = "hunter2!", ${TOKEN}`;
    expect(known(given)).toBe(given);
    expect(known(`${given} ${KEY}`)).toBe(`${given} [N]`);
  });
});

describe('what looks like a secret', () => {
  const cases: Record<string, string> = {
    [`use ${TOKEN}.`]: 'use [redacted:github-token].',
    [`{"line":"a\\n${TOKEN}"}`]: '{"line":"a\\n[redacted:github-token]"}',
    'password=hunter2! next': 'password=[redacted:password] next',
    '{"password":"correct horse"}': '{"password":"[redacted:password]"}',
    '{\\"api_key\\":\\"a8f3k2m9x0q1\\"}': '{\\"api_key\\":\\"[redacted:api-key]\\"}',
    'Authorization: Bearer a8f3k2m9x0q1z7': 'Authorization: Bearer [redacted:authorization]',
    'GET /x?token=a8f3k2m9x0q1&page=2': 'GET /x?token=[redacted:token]&page=2',
    'postgres://app:s3cr3t-pw@db/x': 'postgres://app:[redacted:url-password]@db/x',
    "curl -u 'bob:hunter2' https://x": 'curl -u [redacted:login] https://x',
    'okta token => 00fWkOjwwL9ivFo-Uinx_gBHVGJsDl008Lkood9OF_': 'okta token => [redacted:service-key]',
    [`-----BEGIN RSA PRIVATE KEY-----\n${'MIIEow'.repeat(20)}\n-----END RSA PRIVATE KEY-----`]:
      '-----BEGIN RSA PRIVATE KEY-----[redacted:private-key]-----END RSA PRIVATE KEY-----',
    [`-----BEGIN PRIVATE KEY-----\n${'MIIEow'.repeat(20)}`]: '-----BEGIN PRIVATE KEY-----[redacted:private-key]',
  };
  for (const [given, wanted] of Object.entries(cases)) {
    verifies('TRU-08', `is replaced: ${JSON.stringify(given).slice(0, 60)}`, () => {
      expect(plain.text(given)).toBe(wanted);
      expect(plain.text(wanted)).toBe(wanted);
    });
  }

  const harmless = [
    'password: required',
    '{"password":"${DB_PASSWORD}","token":"$TOKEN","api_key":"YOUR_API_KEY"}',
    'const password = config.db.password;',
    'mysql://user:${PASSWORD}@host/db postgres://$(USER):$(PW)@host',
    '{"max_tokens":4096,"page_token":"a8f3k2m9x0q1","public_key":"a8f3k2m9x0q1"}',
    'commit b58d3f102cf3a2c84cb7f923d05c25c9b1aed84b of 37149979-1bcc-4721-ae56-8032b58f0456',
    'Bearer of good news; the key to it all, and a token of thanks.',
    'docker run -u 1000:1000 x',
    'ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx sk-... AKIAIOSFODNN7EXAMPLE',
  ];
  for (const given of harmless) {
    test(`is not: ${given.slice(0, 60)}`, () => {
      expect(plain.text(given)).toBe(given);
    });
  }

  verifies('TRU-08', 'is found wherever it stands, and what is redacted once is not redacted again', () => {
    fc.assert(
      fc.property(text, fc.constantFrom(' ', '"', '=', '\n', '(', '>'), text, (before, edge, after) => {
        const rest = plain.text(`${before}${edge}${TOKEN}${edge}${after}`);
        expect(rest).not.toContain(TOKEN);
        expect(plain.text(rest)).toBe(rest);
      }),
    );
  });

  verifies(
    'TRU-08',
    'is not looked for behind a mark, although the name of its rule sounds like the name of a secret',
    () => {
      const rest = plain.text(`KEY[${TOKEN}]=${TOKEN}=(=a)*+01`);
      expect(rest).toBe('KEY[[redacted:github-token]]=[redacted:github-token]=(=a)*+01');
      expect(plain.text(rest)).toBe(rest);
    },
  );

  test('is told with its place in the text as it was given', () => {
    const { inspect } = redactorOf({ N: 'known-value-1' });
    expect(inspect(`a known-value-1 b ${TOKEN} c known-value-1`)).toEqual({
      text: 'a [N] b [redacted:github-token] c [N]',
      found: [
        { name: 'N', at: 2 },
        { name: 'github-token', at: 18 },
        { name: 'N', at: 18 + TOKEN.length + 3 },
      ],
    });
  });

  test('is found beyond the first chunk, and across the border of two', () => {
    for (let at = 32 * 1024 - 200; at < 32 * 1024 + 10; at++) {
      const given = `${'-'.repeat(at)} ${TOKEN}`;
      expect(plain.text(given)).toBe(`${'-'.repeat(at)} [redacted:github-token]`);
    }
  });

  verifies('TRU-08', 'takes a time that grows with the text and not faster, whatever that holds', () => {
    const words = [
      'password=',
      'api_key=a1',
      'eyJ-',
      'xoxb-1-',
      'sk-',
      '://a:',
      'curl -u a:b ',
      'AKIA-',
      'okta=',
      '"token":"',
    ];
    for (const word of [...words, '-----BEGIN PRIVATE KEY-----', 'pwd="pwd=\'', 'AGE-SECRET-KEY-1=']) {
      const given = word.repeat(Math.ceil(300_000 / word.length));
      const begun = process.cpuUsage().user;
      plain.text(given);
      expect((process.cpuUsage().user - begun) / 1_000, word).toBeLessThan(5_000);
    }
  });
});

describe('data', () => {
  verifies('TRU-08', 'loses the values of telling keys as a whole, and every secret in its strings', () => {
    const { value } = redactorOf({ N: 'known-value-1' });
    expect(
      value({
        ...{ password: 'x', apiKey: ['a', 'b'], Authorization: 'Bearer x', pin: 5, token: 'USDC', access_token: 'x' },
        ...{ url: 'https://x/?token=a8f3k2m9x0q1', deep: [{ text: 'say known-value-1' }, null, true, 7] },
        ...{ secret: 12, client_secret: '${FROM_ENV}', [TOKEN]: 1 },
      }),
    ).toEqual({
      ...{ password: '[redacted:password]', apiKey: ['[redacted:api-key]', '[redacted:api-key]'] },
      ...{ Authorization: '[redacted:authorization]', pin: 5, token: 'USDC', access_token: '[redacted:token]' },
      ...{ url: 'https://x/?token=[redacted:token]', deep: [{ text: 'say [N]' }, null, true, 7] },
      ...{ secret: '[redacted:secret]', client_secret: '${FROM_ENV}', '[redacted:github-token]': 1 },
    });
  });

  test('without any comes back as the same object', () => {
    const given = { a: [1, { b: 'c' }], d: { e: undefined } };
    expect(plain.value(given)).toBe(given);
  });

  test('may hold itself, lie deep, and have the names that objects inherit', () => {
    const circle: Record<string, unknown> = { password: 'x' };
    circle['self'] = circle;
    expect(plain.value(circle)).toEqual({ password: '[redacted:password]', self: '[circular]' });
    let deep: unknown = 'end';
    for (let depth = 0; depth < 100_000; depth++) deep = [deep];
    expect(JSON.stringify(plain.value(deep))).toContain('[too deep]');
    const hostile: object = JSON.parse('{"__proto__":{"password":"x"},"constructor":"y"}');
    const rest = plain.value(hostile);
    expect(JSON.stringify(rest)).toBe('{"__proto__":{"password":"[redacted:password]"},"constructor":"y"}');
    expect(Object.getPrototypeOf(rest)).toBe(Object.prototype);
    expect([new Date(0), null, undefined, 5n].map((each) => plain.value(each))).toEqual([
      new Date(0),
      null,
      undefined,
      5n,
    ]);
  });
});

describe('a failure', () => {
  verifies('TRU-08', 'is the same one in other words, its cause included', () => {
    const { error } = redactorOf({ N: 'known-value-1' });
    const cause = new Error('it said known-value-1');
    const given = new RuntimeError('SERVER_DENIED', { server: 'it', because: 'of known-value-1' }, { cause });
    const rest = error(given);
    expect([rest.code, rest.data, rest.message.includes('[N]')]).toEqual([
      'SERVER_DENIED',
      { server: 'it', because: 'of [N]' },
      true,
    ]);
    expect([rest.message, rest.stack, (rest.cause as Error).message, (rest.cause as Error).stack].join()).not.toContain(
      'known-value-1',
    );
    const harmless = new RuntimeError(
      'SERVER_DENIED',
      { server: 'it', because: 'of nothing' },
      { cause: new Error('x') },
    );
    expect(error(harmless)).toBe(harmless);
    expect(error('known-value-1')).toBe('[N]');
    const circle = new Error('known-value-1');
    circle.cause = circle;
    expect(error(circle).cause).toBe('[circular]');
  });

  verifies('TRU-08', 'keeps what was put on it, redacted as well, but nothing that nobody can look into', () => {
    const { error } = redactorOf({ N: 'known-value-1' });
    const spawn = Object.assign(new Error('spawn x ENOENT'), {
      ...{ code: 'ENOENT', errno: -2, path: 'x', spawnargs: ['--pw', 'known-value-1'], password: 'hunter2' },
      ...{ request: new Request('https://a.example/known-value-1'), rawPacket: Buffer.from('known-value-1') },
    });
    const rest = error(spawn);
    expect({ ...rest }).toEqual({
      ...{ code: 'ENOENT', errno: -2, path: 'x', spawnargs: ['--pw', '[N]'], password: '[redacted:password]' },
      name: 'Error',
    });
    expect(rest.message).toBe('spawn x ENOENT');
    const system = Object.assign(new Error('spawn x ENOENT'), { code: 'ENOENT', spawnargs: ['--quiet'] });
    expect(error(system)).toBe(system);
    const tries = new AggregateError([new Error('to known-value-1'), new Error('to b')], 'no way');
    expect(inspect(error(new Error('failed', { cause: tries })), { depth: 9 })).not.toContain('known-value-1');
    const renamed = new Error('known-value-1');
    renamed.message = 'nothing to see';
    expect(error(renamed).stack).not.toContain('known-value-1');
    expect(error(new Error('x', { cause: new Request('https://a.example/known-value-1') })).cause).toBeUndefined();
  });
});

verifies(
  'TRU-08',
  'functions whose failures are redacted answer as before, and throw and reject without secrets',
  async () => {
    const known = new KnownSecrets();
    known.add('TOKEN', 'hunter2hunter2');
    const cause = new Error('hunter2hunter2 is wrong');
    const calm = new Error('nothing secret');
    const functions = redactFailures(createRedactor(known), {
      adds: (a: number, b: number) => a + b,
      answers: async () => 'yes',
      throws: () => {
        throw cause;
      },
      rejects: () => Promise.reject(cause),
      keeps: () => Promise.reject(calm),
    });
    expect([functions.adds(1, 2), await functions.answers()]).toEqual([3, 'yes']);
    expect(() => functions.throws()).toThrow('[TOKEN] is wrong');
    await expect(functions.rejects()).rejects.toThrow('[TOKEN] is wrong');
    await expect(functions.keeps()).rejects.toBe(calm);
  },
);
