// Owns the proof that the compiled signals are those of the rules.

import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { buildLetters } from '../../../../src/shaping/signals/build-letters.ts';
import { compileSignals } from '../../../../src/shaping/signals/compile-signals.ts';
import { letters } from '../../../../src/shaping/signals/letters.ts';

const file = new URL('../../../../src/shaping/signals/compiled.json', import.meta.url);
const text = `${JSON.stringify(compileSignals(), null, 2)}\n`;
if (process.env['UPDATE_DOCS']) writeFileSync(file, text);

test('the compiled signals are those of the rules', () => {
  expect(readFileSync(file, 'utf8'), 'run: npm run docs').toBe(text);
});

test('every character stands for the letter that Unicode and the look-alikes say', () => {
  expect(Buffer.from(letters()).equals(Buffer.from(buildLetters()))).toBe(true);
});
