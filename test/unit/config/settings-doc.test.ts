// Owns the proof that docs/settings.md matches the schema; `npm run docs` has it write the page.

import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { settingsMarkdown } from '../../../src/config/settings-doc.ts';

const page = new URL('../../../docs/settings.md', import.meta.url);

test('the reference page says what the schema says', async () => {
  // `npm run docs` runs this test to write the page: Node cannot load the sources without a build.
  if (process.env['UPDATE_DOCS']) await writeFile(page, settingsMarkdown());
  expect(await readFile(page, 'utf8')).toBe(settingsMarkdown());
});
