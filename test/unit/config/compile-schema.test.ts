// Owns the proof that `checks.json`, which runs, is what `schema.ts` compiles to; `npm run docs` has it write the file.

import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { checksText } from '../../../src/config/compile-schema.ts';
import { verifies } from '../../verifies.ts';

const file = new URL('../../../src/config/checks.json', import.meta.url);

verifies('EXT-44', 'what checks a configuration is generated from the schema', () => {
  if (process.env['UPDATE_DOCS']) writeFileSync(file, checksText());
  expect(readFileSync(file, 'utf8'), 'run: npm run docs').toBe(checksText());
});
