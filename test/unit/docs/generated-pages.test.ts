// Owns the proof that the generated pages say what the sources say; `npm run docs` has it write them.

import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { apiMarkdown } from './api-page.ts';
import { errorsMarkdown } from './errors-page.ts';
import { eventDocs, eventsMarkdown } from './events-page.ts';
import { root } from './program.ts';

const pages = { 'docs/api.md': apiMarkdown, 'docs/events.md': eventsMarkdown, 'docs/errors.md': errorsMarkdown };

test.each(Object.entries(pages))('%s is as the sources are', async (page, markdown) => {
  const written = markdown();
  // `npm run docs` runs this test to write the page: Node cannot load the sources without a build.
  if (process.env['UPDATE_DOCS']) await writeFile(root + page, written);
  expect(await readFile(root + page, 'utf8')).toBe(written);
});

test('every event says when it comes', () => {
  expect(eventDocs().filter(({ doc }) => doc === '')).toEqual([]);
});

/** What a host types every day; the names of the other types say enough. */
const documented = ['RuntimeOptions', 'Runtime', 'ReadyOptions', 'ViewOptions', 'View', 'Turn', 'TurnCallOptions'];

test.each(documented)('every option and method of %s says what it is for', (name) => {
  const section = apiMarkdown().split(`\n### ${name}\n`)[1]?.split('\n### ')[0] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  expect(rows.length, 'it has members').toBeGreaterThan(0);
  expect(rows.filter((row) => row.endsWith('|  |'))).toEqual([]);
});

test('no sentence of an error lacks one of its facts', () => {
  expect(errorsMarkdown()).not.toMatch(/\bundefined\b|\bNaN\b/);
});
