// Owns the proof that docs/lifecycle.md shows the arrows of the code; `npm run docs` writes them.

import { readFile, writeFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { arrows } from '../../../src/connection/state.ts';
import { verifies } from '../../verifies.ts';

const page = new URL('../../../docs/lifecycle.md', import.meta.url);
const between = /(<!-- arrows: [^>]*-->\n)[\s\S]*?(<!-- \/arrows -->)/;

function table(): string {
  const rows = arrows.map(({ from, on, when = '', to }) => [from.join(', '), on, when, to]);
  const lines = [['from', 'input', 'when', 'to'], ['---', '---', '---', '---'], ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

verifies(['LIF-01', 'LIF-03'], 'the page shows the arrows of the table', async () => {
  const text = await readFile(page, 'utf8');
  const written = text.replace(between, (_, begin: string, end: string) => `${begin}\n${table()}\n${end}`);
  // `npm run docs` runs this test to write the page: Node cannot load the sources without a build.
  if (process.env['UPDATE_DOCS']) await writeFile(page, written);
  expect(await readFile(page, 'utf8')).toBe(written);
  expect(text, 'there is a place for them').toMatch(between);
});
