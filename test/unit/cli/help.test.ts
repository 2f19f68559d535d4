// Owns the proof that help names every command once, under a heading, and fits the terminal, and that the help of each command
// says what its options take.

import { expect, test } from 'vitest';
import { commands } from '../../../src/cli/commands.ts';
import { unknownCommand } from '../../../src/cli/failure.ts';
import { commandHelp, generalHelp } from '../../../src/cli/help.ts';
import { plain } from '../../../src/cli/render/text.ts';

test('every command stands in help once', () => {
  const lines = generalHelp(commands, plain).split('\n');
  for (const verb of Object.keys(commands))
    expect(
      lines.filter((line) => line.startsWith(`  ${verb} `)),
      verb,
    ).toHaveLength(1);
});

test('summaries are wrapped to the terminal', () => {
  const text = generalHelp(commands, { ...plain, width: 60 });
  const [, own = ''] = /Use servers\n([\s\S]*?)\n\nConfigure/.exec(text) ?? [];
  expect(Math.max(...own.split('\n').map((line) => line.length))).toBeLessThanOrEqual(60);
});

test('every word of another program leads to a command that exists', () => {
  for (const word of ['ls', 'rm', 'run', 'show', 'cat', 'trust', 'doctor', 'completions']) {
    const [, named = ''] = /did you mean "([\w-]+)/.exec(unknownCommand(word, []).message) ?? [];
    expect(Object.keys(commands), word).toContain(named);
  }
});

test('the first steps are commands that exist', () => {
  const [, steps = ''] = /First steps\n([\s\S]*?)\n\n/.exec(generalHelp(commands, plain)) ?? [];
  const verbs = steps.split('\n').map((line) => /^ {2}plexus (\w+)/.exec(line)?.[1]);
  expect(verbs).toEqual(['import', 'add', 'tools', 'call', 'call', 'chat', 'tools']);
  for (const verb of verbs) expect(Object.keys(commands)).toContain(verb);
});

test.each(Object.entries(commands))('the help of %s is whole', async (verb, { summary, load }) => {
  const command = await load();
  const text = commandHelp(summary, command, plain);
  const parts = text.split('\n\n').map((each) => each.split('\n'));
  const part = (title: string) => parts.find(([first]) => first === title)?.slice(1) ?? [];
  for (const line of [...part('Usage'), ...part('Examples')]) expect(line).toMatch(new RegExp(`^  plexus ${verb}\\b`));
  expect(part('Examples')).not.toEqual([]);
  for (const line of part('Options')) expect(line, 'it says what it does').toMatch(/^ {2}-.*? {2,}\S|^ {6}/);
  const named = Object.keys(command.help ?? {}).map((each) => each.split(' '));
  const taken = Object.entries(command.options).map(([name, { type }]) => [name, type === 'string']);
  expect(named.map(([name, value]) => [name, value !== undefined]).sort()).toEqual(taken.sort());
  expect(text.includes('--config')).toBe(!command.takesNoConfig);
});
