// Owns the proof that a large result is read, redacted and written in steps of which none is long, with the same outcome as at once.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readResult } from '../../../src/call/result.ts';
import { Cancellation } from '../../../src/kernel/cancellation.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { stringifyInSlices } from '../../../src/kernel/sliced-json-text.ts';
import { atOnce, inSlices, SLICE_UNITS, STEP_UNITS } from '../../../src/kernel/slices.ts';
import { createRedactor, KnownSecrets } from '../../../src/shaping/redact.ts';
import { readInSlices } from '../../../src/shaping/text.ts';
import { createArtifacts } from '../../../src/store/artifacts.ts';
import { temporaryFile } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';
import { stepsOf } from '../slices.ts';

const SIZE = 16 * 1024 * 1024;
const filled = (piece: string) => piece.repeat(Math.ceil(SIZE / piece.length));
const listOf = (piece: unknown) => Array.from({ length: SIZE / (JSON.stringify(piece).length + 1) }, () => piece);

const KNOWN = 'bench-0123456789abcdef';
const TOKEN = 'ghp_TZKxveMY13jxVGweQIXFHtIBX8dSQOP6MKWa';
const secrets = new KnownSecrets();
secrets.set('it', { NAME: KNOWN });
const redactor = createRedactor(secrets);

const texts: Record<string, string> = {
  'plain text': filled('The quick brown fox jumps over the lazy dog.\n'),
  'two-byte text': filled('Съешь же ещё этих мягких булок. '),
  emoji: filled('👩‍👩‍👧‍👦 😀'),
  'known secrets': filled(`the token is ${KNOWN}, really\n`),
  'what looks like secrets': filled(`password = "kD93hs8Kw2mPq7" token: ${TOKEN}\n`),
  'what nearly looks like secrets': filled('password secret token= api_key: bearer xxxx ghp_xxxx key\n'),
};

describe('16 MB', () => {
  test.each(Object.entries(texts))('of %s are redacted in short steps, as if at once', (_, text) => {
    const { steps, value } = stepsOf(redactor.textInSlices(text));
    expect(Math.max(...steps)).toBeLessThan(2 * STEP_UNITS);
    expect(value === redactor.text(text)).toBe(true);
  });

  const values: Record<string, unknown> = {
    'small objects': { rows: listOf({ id: 1, name: 'a', tags: ['x', 'y'] }) },
    numbers: { rows: listOf(7) },
    keys: Object.fromEntries(Array.from({ length: 300_000 }, (_, at) => [`key ${at}`, { a: at }])),
    texts: { rows: listOf('some text of a row') },
  };
  test.each(Object.entries(values))(
    'of structured content (%s) are written in short steps, as if at once',
    (_, value) => {
      const { steps, value: read } = stepsOf(readInSlices([], value));
      expect(Math.max(...steps)).toBeLessThan(2 * STEP_UNITS);
      const [shown] = read.parts;
      const isEndless = typeof shown === 'string' && shown.startsWith('[structured content with too many parts');
      expect(isEndless || shown === JSON.stringify(value)).toBe(true);
    },
  );

  test('whose nesting is looked at are not looked at in one go', async () => {
    const id = { server: 'files', tool: 'read' };
    const how = { attempts: 1 };
    const small = readResult({ content: [], structuredContent: { a: 1 } }, id, how);
    const large = readResult({ content: [], structuredContent: values['small objects'] }, id, how);
    expect([small instanceof Promise, large instanceof Promise]).toEqual([false, true]);
    expect((await large).structured).toBe(values['small objects']);
    let deep: unknown = 1;
    for (let level = 0; level < 501; level++) deep = [deep];
    const tooDeep = readResult({ content: [], structuredContent: [...listOf({ id: 1 }), deep] }, id, how);
    await expect(tooDeep).rejects.toMatchObject({ code: 'RESULT_BROKEN' });
  });
});

test('any value is written in slices as by JSON.stringify', () => {
  const value = fc.tuple(fc.jsonValue({ maxDepth: 5 }), fc.array(fc.jsonValue(), { maxLength: 5 }), fc.string());
  fc.assert(
    fc.property(value, ([one, some, text]) => {
      const large = { one, ['__proto__']: some, many: Array.from({ length: 3_000 }, () => some), text };
      expect(atOnce(stringifyInSlices(large))).toBe(JSON.stringify(large));
    }),
    { numRuns: 50 },
  );
});

verifies('OUT-03', 'base64 is kept out of large structured content too, by what stands beside it', () => {
  const data = Buffer.from('some bytes').toString('base64');
  const rows = Array.from({ length: 5_000 }, (_, at) => at);
  const { parts } = atOnce(
    readInSlices([], { mimeType: 'image/png', data, rows, nested: [{ mimeType: 'image/png', data }] }),
  );
  expect(parts).toHaveLength(1);
  expect(parts[0]).toContain('"data":"[base64, 10 bytes]"');
  expect(parts[0]).not.toContain(data);
});

verifies(
  'OUT-06',
  'a large text is written piece by piece, whole, without its secrets and without splitting a character',
  async () => {
    const folder = join(temporaryFile('cache'), 'results');
    const artifacts = createArtifacts({ folder, clock: systemClock, redact: redactor.textInSlices });
    const text = `${'x'.repeat(STEP_UNITS - 1)}😀${'y'.repeat(STEP_UNITS)}${KNOWN}${'é'.repeat(STEP_UNITS)}`;
    const kept = await artifacts.keep({ name: 'a', extension: 'txt', data: text });
    const written = readFileSync('file' in kept ? kept.file : '', 'utf8');
    expect(written === text.replace(KNOWN, '[NAME]')).toBe(true);
  },
);

test('work in slices lets the event loop run in between, and stops where it is cancelled', async () => {
  let [steps, turns] = [0, 0];
  function* work() {
    for (; steps < 100; steps++) yield SLICE_UNITS / 2;
    return 'done';
  }
  const count = () => {
    turns += 1;
    if (steps < 100) setImmediate(count);
  };
  setImmediate(count);
  expect(await inSlices(work())).toBe('done');
  expect(turns).toBeGreaterThanOrEqual(49);
  steps = 0;
  const cancellation = new Cancellation();
  const cancelled = inSlices(work(), cancellation);
  cancellation.cancel('enough');
  await expect(cancelled).rejects.toBe('enough');
  expect(steps).toBeLessThan(4);
});
