// Owns the proof of how a command line is read for its completion: an option's value is no word of its own.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { wordsAfter } from '../../../src/cli/completion-words.ts';
import { createTestContext } from './context.ts';

test('the value of an option is neither a verb nor a server', async () => {
  const { context } = createTestContext();
  writeFileSync(join(context.cwd, 'a.toml'), '[mcp_servers.one]\ncommand = "x"\n');
  expect(await wordsAfter(['--cwd', 'get', 'reco'], context)).toEqual(['reconnect']);
  expect(await wordsAfter(['--config', 'a.toml', 'get', ''], context)).toEqual(['one']);
  expect(await wordsAfter(['get', '--config', 'a.toml', ''], context)).toEqual(['one']);
  expect(await wordsAfter(['get', '--config', ''], context)).toEqual([]);
  expect(await wordsAfter(['add', 'x', '-s', 'l'], context)).toEqual(['local']);
  expect(await wordsAfter(['chat', '--provider', 'l'], context)).toEqual(['llama.cpp', 'lm-studio']);
});

test('a configuration that cannot be read offers no servers, and no error', async () => {
  const { context } = createTestContext();
  writeFileSync(join(context.cwd, 'torn.toml'), '[mcp_servers');
  expect(await wordsAfter(['--config', 'torn.toml', 'get', ''], context)).toEqual([]);
});
