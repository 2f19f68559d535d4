// Owns the proof that docs/environment.md names every environment variable that the sources name, and no other.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { failures } from '../../../src/model/errors.ts';
import { readSources, type Source } from '../../sources.ts';
import { root } from './program.ts';

/** Names that look like a variable and are none: our failures, and those of Node and OpenSSL. */
const isFailureName = (name: string, path: string) =>
  Object.hasOwn(failures, name) || /^(?:WS_)?ERR_/.test(name) || path.endsWith('/network-failure.ts');

/** `env['X']`, `variable(env, 'x')`, and every text that is written like a variable. */
const READ = /\benv\['(\w+)'\]|\(env, '(\w+)'\)|'([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)'/g;

function variablesIn({ path, text }: Source): string[] {
  const found = [...text.matchAll(READ)].map(([, read, passed, named]) => read ?? passed ?? named ?? '');
  return found.filter((name) => !isFailureName(name, path));
}

const page = readFileSync(`${root}docs/environment.md`, 'utf8');
const named = new Set([...page.matchAll(/`(\w+(?:\(X86\))?)`/g)].map(([, name = '']) => name));

test('a variable that the source reads is found, whatever way it is read', () => {
  const text = `env['lower']; host.env['MIXED']; variable(env, 'some_proxy'); const LIST = ['A_B']; f('CALL_DENIED')`;
  expect(variablesIn({ path: 'made-up.ts', text })).toEqual(['lower', 'MIXED', 'some_proxy', 'A_B']);
});

test('every variable that the sources name is on the page', () => {
  const read = readSources().flatMap((source) => variablesIn(source).map((name) => `${name}  ${source.path}`));
  expect(read.length, 'there are some').toBeGreaterThan(40);
  expect(read.filter((line) => !named.has(line.split(' ')[0] ?? ''))).toEqual([]);
});

test('every variable on the page is in the sources', () => {
  const sources = readSources()
    .map(({ text }) => text)
    .join('\n');
  const variables = [...named].filter((name) => /^[A-Z][A-Z0-9]+(_|$)/.test(name));
  expect(variables.filter((name) => !sources.includes(name) && !sources.includes(name.toLowerCase()))).toEqual([]);
});
