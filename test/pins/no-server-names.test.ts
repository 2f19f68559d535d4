// Owns the pin that no server is special: whatever Plexus knows about one of them is data outside src.

import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const names = [
  'github',
  'playwright',
  'puppeteer',
  'exa',
  'chrome-devtools',
  'server-filesystem',
  'server-everything',
  'server-memory',
  'sentry',
];

/** Names that are English words too: prose may use them, code may not. */
const words = ['slack', 'linear', 'notion'];

interface Source {
  readonly path: string;
  readonly text: string;
}

/** Most files hold none of the words in any spelling, which one look at the whole file tells. */
const anyName = new RegExp([...names, ...words].join('|'), 'i');

function findNames({ path, text }: Source): string[] {
  if (!anyName.test(text)) return [];
  return text.split('\n').flatMap((line, index) => {
    const code = line.replace(/^\s*(\/\/|\/?\*).*|\s\/\/ .*$/, '');
    const found = [...names.filter((name) => mentions(line, name)), ...words.filter((word) => mentions(code, word))];
    return found.map((name) => `${path}:${index + 1} ${name}`);
  });
}

/** Sees the word in `isExa`, `EXA_KEY`, `exa-search` and `GitHub`, but not in `example`. */
function mentions(line: string, name: string): boolean {
  const spellings = [line, line.replace(/([a-z0-9])([A-Z])/g, '$1 $2')];
  const word = new RegExp(`(?<![a-z0-9])${name}(?![a-z0-9])`);
  return spellings.some((spelling) => word.test(spelling.toLowerCase()));
}

function readSources(): Source[] {
  const root = new URL('../../', import.meta.url);
  return readdirSync(new URL('src', root), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`)
    .map((path) => ({ path: path.slice(path.lastIndexOf('/src/') + 1), text: readFileSync(path, 'utf8') }));
}

test('no well-known server is named in src', () => {
  expect(readSources().flatMap(findNames), 'move what is known about a server into a data file').toEqual([]);
});

test('a name is found however it is spelled', () => {
  const text = ["const isExa = key === 'EXA_API_KEY';", '// as GitHub does', "if (name === 'linear') {"].join('\n');
  expect(findNames({ path: 'a.ts', text })).toEqual(['a.ts:1 exa', 'a.ts:2 github', 'a.ts:3 linear']);
});

test('prose and longer words are left alone', () => {
  const text = ['// Linear time; a notion of slack.', 'const example = hexadecimal(); // linear', ' * linear'].join(
    '\n',
  );
  expect(findNames({ path: 'a.ts', text })).toEqual([]);
});
