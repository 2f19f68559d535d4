// Owns the proof that every command in the pages exists: verbs and options of `plexus`, scripts of npm. Blocks with `$` are run by
// test/e2e/docs.test.ts; this is about the commands that stand within sentences.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Command } from '../../../src/cli/command.ts';
import { commands } from '../../../src/cli/commands.ts';
import { blocksOf, linkedPages, pages, proseOf, textOf } from './pages.ts';
import { root } from './program.ts';

const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const contributors = ['AGENTS.md', 'CONTRIBUTING.md'].filter((page) => linkedPages.includes(page));

/** In backticks, and the lines of blocks; a block's lines may begin with `$`. */
function commandsIn(text: string): string[] {
  const inline = [...proseOf(text).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  const lines = blocksOf(text)
    .filter(({ language }) => ['', 'console', 'sh'].includes(language))
    .flatMap(({ body }) => body.split('\n'));
  return [...inline, ...lines.map((line) => line.replace(/^\$ /, '').replace(/^.* \| (?=plexus )/, ''))]
    .map((line) => line.replace(/\s{2,}#.*$/, '').trim())
    .filter((line) => /^(?:plexus [a-z-]|npm )/.test(line));
}

const loaded = new Map<string, Command>();
for (const [verb, { load }] of Object.entries(commands)) loaded.set(verb, await load());

const npmVerbs = ['start', 'test', 'install', 'pack', 'exec', 'config'];
const everywhere = ['json', 'config', 'cwd', 'help', 'version', 'quiet', 'verbose'];

function problemOf(command: string): string | undefined {
  const [program, verb = '', ...words] = command.split(/\s+/);
  if (program === 'npm') return problemOfScript(verb, words);
  if (verb === 'help' || verb.startsWith('--')) return undefined;
  const known = loaded.get(verb);
  if (known === undefined) return `${command}: there is no command "${verb}"`;
  const end = words.indexOf('--');
  const options = (end < 0 ? words : words.slice(0, end)).filter((word) => word.startsWith('--'));
  const strange = options
    .map((word) => word.slice(2).replace(/[=,.;].*$/, ''))
    .filter((name) => !Object.hasOwn(known.options, name) && !everywhere.includes(name));
  return strange.length > 0 ? `${command}: there is no option ${strange.join(', ')}` : undefined;
}

function problemOfScript(verb: string, [name = '']: readonly string[]): string | undefined {
  if (verb !== 'run') return npmVerbs.includes(verb) ? undefined : `npm ${verb}: there is no such command`;
  // `npm run mcp` is a script of the reader's own project.
  return name === 'mcp' || Object.hasOwn(scripts, name) ? undefined : `npm run ${name}: there is no such script`;
}

test('a verb, an option and a script that do not exist are found', () => {
  const wrong = ['plexus lisst', 'plexus list --lively', 'npm run nothing'];
  expect(wrong.map(problemOf).every((problem) => problem !== undefined)).toBe(true);
  expect(commandsIn('`plexus list` and `plexus.lock`\n```\nplexus scan x   # all\n```')).toEqual([
    'plexus list',
    'plexus scan x',
  ]);
});

test.each([...pages, ...contributors])('%s: every command exists', (page) => {
  expect(commandsIn(textOf(page)).flatMap((command) => problemOf(command) ?? [])).toEqual([]);
});
