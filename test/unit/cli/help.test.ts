// Owns the proof that help names every command once, under a heading, and fits the terminal.

import { expect, test } from 'vitest';
import { commands } from '../../../src/cli/commands.ts';
import { unknownCommand } from '../../../src/cli/failure.ts';
import { generalHelp } from '../../../src/cli/help.ts';
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
  expect(verbs).toEqual(['import', 'add', 'tools', 'call', 'call', 'tools']);
  for (const verb of verbs) expect(Object.keys(commands)).toContain(verb);
});
