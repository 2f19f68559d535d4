// Owns the proof that tokens of providers that no table knows are found, by where they stand and by how they were drawn, and that
// hashes, identifiers, places and words are not taken for one.

import { describe, expect, test } from 'vitest';
import { STEP_UNITS } from '../../../../src/kernel/slices.ts';
import { readTokenShapes, serviceNames } from '../../../../src/model/secret-shapes.ts';
import { createFinder, findSecrets } from '../../../../src/shaping/secrets/find.ts';
import { generatedInSlices } from '../../../../src/shaping/secrets/generated.ts';
import { verifies } from '../../../verifies.ts';

const MIXED = 'q7Xk2Lp9Zt4Vb8NwR3mD6sHf';
const LONG = `${MIXED}J5cY1aGu`;
const DIGEST = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b';

/** The text as it is shown; a rule's name stands for what it hides. */
const shown = (text: string, find = findSecrets) => {
  let rest = '';
  let from = 0;
  for (const { rule, start, end } of find(text)) {
    rest += `${text.slice(from, start)}<${rule}>`;
    from = end;
  }
  return rest + text.slice(from);
};

describe('a value that a program drew by chance', () => {
  const cases: Record<string, string> = {
    [`ACME=${MIXED}`]: 'ACME=<assigned-token>',
    [`acme: "${MIXED}"`]: 'acme: "<assigned-token>"',
    [`{"acme":"${MIXED}","page":2}`]: '{"acme":"<assigned-token>","page":2}',
    [`set("acme", '${MIXED}')`]: `set("acme", '<assigned-token>')`,
    [`https://acme.example/v1?acme=${MIXED}&page=2`]: 'https://acme.example/v1?acme=<assigned-token>&page=2',
    'acme = k3j9x2m7q8w4z6t1v5n0b3r7': 'acme = <assigned-token>',
    'ACME = K3J9X2M7Q8W4Z6T1V5N0B3R7': 'ACME = <assigned-token>',
    [`use acme_pat_${MIXED} here`]: 'use <prefixed-token> here',
    [`acme-${LONG}`]: '<prefixed-token>',
    [`acme_${DIGEST}`]: '<prefixed-token>',
    [`please use ${LONG} for this`]: 'please use <mentioned-token> for this',
    [`the key is "${LONG}".`]: 'the key is "<mentioned-token>".',
  };
  for (const [given, wanted] of Object.entries(cases))
    verifies('TRU-08', `is a secret: ${given.slice(0, 44)}`, () => {
      expect(shown(given)).toBe(wanted);
    });

  verifies('TRU-08', 'is a secret in data too, unless its key is that of an identifier', async () => {
    const { redactData } = await import('../../../../src/shaping/secrets/data.ts');
    const given = { acme: MIXED, requestId: MIXED, list: [{ acme: MIXED }] };
    expect(redactData(given, (text) => text)).toEqual({
      acme: '[redacted:assigned-token]',
      requestId: MIXED,
      list: [{ acme: '[redacted:assigned-token]' }],
    });
  });

  verifies('TRU-08', 'is found without the rows of its provider: no table has to know it', () => {
    const find = createFinder(
      readTokenShapes().filter(({ name }) => name !== 'github-token'),
      serviceNames,
    );
    const text = 'please use ghp_TZKxveMY13jxVGweQIXFHtIBX8dSQOP6MKWa when calling the endpoint';
    expect(shown(text)).toBe('please use <github-token> when calling the endpoint');
    expect(shown(text, find)).toBe('please use <prefixed-token> when calling the endpoint');
  });
});

describe('no secret', () => {
  const harmless: Record<string, readonly string[]> = {
    'a hash or an identifier, in one case': [
      `acme=${DIGEST}`,
      'acme=3f2504e0-4f89-11d3-9a0c-0305e82c3301',
      '"integrity": "sha512-0k2F129Xdio1TdJfzJ8sy1Q47vUD2NnwdhiAf7drUN1EBTfPf4hsFCtmMgu/6m8JSzsBrlmVjudMBQqOfG8usQ=="',
      'contract 0x8225a1a68e14b6c1d3b767a5c9a1b2c6ccae788c now',
    ],
    'what has the name of an identifier, a hash, a place or a public key': [
      ...['fileId', 'commit_sha', 'checksum', 'etag', 'image.url', 'cursor', 'public_key', 'csrf-token', 'signature'],
      ...['spreadsheetId', 'REQUEST_ID', 'wallet', 'video', 'pubkey', 'page-token', 'fingerprint', 'REGION'],
    ].map((name) => `${name}: "${MIXED}"`),
    'an identifier behind the name of what it identifies': [
      `req_${LONG}`,
      `chatcmpl-${LONG}`,
      `resp_${DIGEST}`,
      `build-${DIGEST}`,
    ],
    'a path, an address or the name of a file': [
      `open: /srv/${MIXED}/x`,
      `see: https://docs.example/d/${LONG}/edit`,
      `src=chunk-${LONG}.js`,
      `logo=${MIXED}.png`,
    ],
    'words, in any case': [
      'acme = updateAiGatewayVirtualModelConfigBySlug2',
      'acme: NORTH_EAST_2_ZONE_4_REGION_17_NODE',
      'acme: PdfEncryptionKeySize128BitVersion2',
    ],
    'the base64 of a text': [`acme: "${Buffer.from('a text that people can read').toString('base64')}"`],
    'what was cut off or stands for a value': [
      `acme: ${MIXED}..[Redacted]`,
      `acme=${MIXED}***`,
      `acme=your_${MIXED}`,
      'acme=aBcDeFgHiJkLmNoPqRsT1234',
    ],
    'a value alone, which may be anything': [LONG],
    'what the row of a known provider refuses': [`ghp_${MIXED}`, `xghp_${LONG}`, `pnu_${LONG}`],
  };
  for (const [what, texts] of Object.entries(harmless))
    verifies('TRU-08', `is ${what}`, () => {
      expect(texts.map((text) => shown(text))).toEqual(texts);
    });
});

describe('a made-up token', () => {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';
  const made: Record<string, string> = {
    [`ghp_${alphabet}`]: '<github-token>',
    [`ghp_${'A'.repeat(36)}`]: '<github-token>',
    [`sk-${alphabet}`]: '<openai-key>',
    'xoxb-1234567890-abcdefghijklmnop': '<slack-token>',
    AKIAABCDEFGHIJKLMNOP: '<aws-access-key>',
    'glpat-aBcDeFgHiJkLmNoPqRsT': '<gitlab-token>',
  };
  for (const [token, wanted] of Object.entries(made))
    verifies('TRU-08', `counts like a real one: ${token.slice(0, 20)}`, () => {
      expect(shown(`use ${token} now`)).toBe(`use ${wanted} now`);
    });

  verifies('TRU-08', 'is no placeholder: those stay', () => {
    const placeholders = [
      `ghp_${'x'.repeat(36)}`,
      'AKIAIOSFODNN7EXAMPLE',
      'sk-...',
      'xoxb-your-token',
      `glpat-${'x'.repeat(20)}`,
    ];
    expect(placeholders.map((text) => shown(text))).toEqual(placeholders);
  });
});

describe('a value under a telling name', () => {
  const cases: Record<string, string> = {
    '{"name":"DB_PASSWORD","value":"correct horse"}': '{"name":"DB_PASSWORD","value":"<password>"}',
    '<add key="ClearTextPassword" value="S3cret-pw" />': '<add key="ClearTextPassword" value="<password>" />',
    'DB_PASS=hunter2!': 'DB_PASS=<password>',
    '"required":["username","password","email"]': '"required":["username","password","email"]',
    '"enum":["none","private","secret","public"]': '"enum":["none","private","secret","public"]',
    '"selector":"#password","value":"correct horse"': '"selector":"#password","value":"correct horse"',
    'password: URLPatternComponentResult;': 'password: URLPatternComponentResult;',
    'password="my_password"': 'password="my_password"',
    'http://user:pwd@proxy.example': 'http://user:pwd@proxy.example',
    'api_key: the-production-cluster2-of-europe': 'api_key: the-production-cluster2-of-europe',
    'ReactNativeCameraKit: f15a5a04b0f6dc6073e6db0296e6ef2d8b8d2522':
      'ReactNativeCameraKit: f15a5a04b0f6dc6073e6db0296e6ef2d8b8d2522',
    'meraki: f15a5a04b0f6dc6073e6db0296e6ef2d8b8d2522': 'meraki: <service-key>',
  };
  for (const [given, wanted] of Object.entries(cases))
    verifies('TRU-08', `${given === wanted ? 'stays' : 'is replaced'}: ${given.slice(0, 44)}`, () => {
      expect(shown(given)).toBe(wanted);
    });
});

test('the time is linear in the text, whatever it holds', () => {
  const worst = ['a=q7Xk2Lp9Zt4Vb8Nw ', 'q7Xk2Lp9Zt4Vb8./', 'a1B2c3D4e5F6g7=', 'ab_pat_q7Xk2Lp9Zt4Vb8Nw '];
  for (const piece of worst) {
    const text = piece.repeat(50_000);
    const begun = process.cpuUsage().user;
    findSecrets(text);
    expect((process.cpuUsage().user - begun) / 1_000).toBeLessThan(5_000);
  }
});

test('a long text is searched with pauses, and the same is found', () => {
  const token = `acme_pat_${'q7Rz2LmX9vKc'.repeat(3)}`;
  const text = `${'plain words of a page. '.repeat(50_000)}${token} ${'more of the same. '.repeat(50_000)}`;
  const work = generatedInSlices(text, () => false);
  const steps: number[] = [];
  for (let step = work.next(); ; step = work.next()) {
    if (step.done) {
      expect(step.value.map(({ start, end }) => text.slice(start, end))).toEqual([token]);
      break;
    }
    steps.push(step.value);
  }
  expect(steps.length).toBe(Math.floor(text.length / STEP_UNITS));
  expect(Math.max(...steps)).toBeLessThan(STEP_UNITS + 1_000);
});
