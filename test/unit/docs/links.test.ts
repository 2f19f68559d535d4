// Owns the proof that every link in the pages leads somewhere, and that every page can be reached from the README.

import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { expect, test } from 'vitest';
import { anchorsOf, blocksOf, linkedPages, pages, proseOf, textOf } from './pages.ts';
import { root } from './program.ts';

const linksOf = (text: string) =>
  [
    ...proseOf(text)
      .replace(/`[^`\n]*`/g, '')
      .matchAll(/\]\(([^)\s]+)\)/g),
  ].map(([, link = '']) => link);

function problemOf(page: string, link: string): string | undefined {
  if (/^https?:/.test(link)) return undefined;
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : posix.join(posix.dirname(page), path);
  if (!existsSync(root + target)) return `${page}: ${link} is not there`;
  if (anchor === undefined || anchorsOf(textOf(target)).has(anchor)) return undefined;
  return `${page}: ${target} has no heading #${anchor}`;
}

test('a dead link and a wrong anchor are found', () => {
  expect(problemOf('docs/calls.md', 'nowhere.md')).toMatch(/not there/);
  expect(problemOf('docs/calls.md', 'trust.md#nothing')).toMatch(/no heading/);
  expect(problemOf('docs/calls.md', 'errors.md#tool_unknown')).toBeUndefined();
});

test.each(linkedPages)('%s: every link leads somewhere', (page) => {
  expect(linksOf(textOf(page)).flatMap((link) => problemOf(page, link) ?? [])).toEqual([]);
});

test('every page can be reached from the README', () => {
  const reached = new Set(['README.md']);
  for (const page of reached)
    for (const link of linksOf(textOf(page))) {
      const target = posix.join(posix.dirname(page), link.split('#')[0] ?? '');
      if (pages.includes(target)) reached.add(target);
    }
  expect(pages.filter((page) => !reached.has(page))).toEqual([]);
});

test.each(pages)('%s: the file name of a block is where a code host shows it', (page) => {
  const blocks = blocksOf(textOf(page));
  expect(blocks.filter(({ info }) => info !== '').map(({ line, info }) => `${line}: ${info}`)).toEqual([]);
  const unnamed = blocks.filter(({ language, file }) => /^(?:toml|json|jsonc)$/.test(language) && file === '');
  expect(unnamed.map(({ line }) => line)).toEqual([]);
});

/** Of sentences that stopped a reader; plain ones took their place. */
const obscure = [
  ...[
    'is asked for unless',
    'is asked for before',
    'is told as `',
    'Whoever is none',
    'costs itself',
    'kept to be explained',
  ],
  ...[
    'What allows must',
    'What denies or asks',
    'counts more than that it',
    'not as good as none',
    'nobody can look into',
  ],
  ...['said by their text', 'out of its reach', 'who stalls', 'is not believed'],
];

test.each(pages)('%s has none of the sentences that have to be read twice', (page) => {
  const text = textOf(page).replace(/\s+/g, ' ').toLowerCase();
  expect(obscure.filter((words) => text.includes(words.toLowerCase()))).toEqual([]);
});
