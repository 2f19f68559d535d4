// Owns the proof that the words and options of a call name a server, a tool and arguments, or a server that is not configured; and
// that a tool is found as a call of it would find it.

import { expect, onTestFinished, test } from 'vitest';
import { callLine, optionsFor, readAskedTool, toolsLine } from '../../../src/cli/asked-tool.ts';
import type { Context } from '../../../src/cli/command.ts';
import { findTool, unknownOn } from '../../../src/cli/find-tool.ts';
import { argumentsFor, withSpelling } from '../../../src/cli/typed-arguments.ts';
import { unconfiguredServer } from '../../../src/cli/unconfigured-server.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import { createFakeServer } from '../../../src/testing/fake-server.ts';
import { openRuntime } from '../../runtime.ts';

const contextOf = (positionals: readonly string[], values: Context['values'] = {}) =>
  ({
    positionals,
    values,
    cwd: '/work',
    home: '/home/ada',
    signal: new AbortController().signal,
  }) as unknown as Context;

test('the words before the first argument name the server and the tool', async () => {
  const asked = (...words: readonly string[]) => readAskedTool(contextOf(words));
  expect(await asked('files', 'read', 'path=a', 'b')).toMatchObject({
    server: 'files',
    tool: 'read',
    words: ['path=a', 'b'],
  });
  expect(await asked('mcp__files__read', 'path=a')).toEqual({
    tool: 'mcp__files__read',
    words: ['path=a'],
    unconfigured: undefined,
  });
  expect(await asked('files', 'read', 'notes.txt')).toMatchObject({ tool: 'read', words: ['notes.txt'] });
  await expect(asked()).rejects.toThrow('name a server and a tool');
  const given = await readAskedTool(contextOf(['add', 'a=1'], { stdio: 'npx -y x' }));
  expect(given).toMatchObject({ server: 'npx -y x', tool: 'add', words: ['a=1'] });
  expect(optionsFor(given)).toMatchObject({ only: ['npx -y x'], logs: false });
});

test('lines to copy keep the options without which they would find another configuration', async () => {
  const context = contextOf(['files', 'my tool'], { config: 'my fleet.toml' });
  const asked = await readAskedTool(context);
  expect(callLine(asked, ['path=a'], context)).toBe("plexus call files 'my tool' path=a --config 'my fleet.toml'");
  expect(toolsLine(asked, context)).toBe("plexus tools files --config 'my fleet.toml'");
});

test('a server that is not configured is named by its address or command, and keeps its secrets', async () => {
  const of = (values: Context['values']) => unconfiguredServer(contextOf([], values));
  expect(await of({})).toBeUndefined();
  expect(await of({ url: 'https://example.com/mcp?key=1', header: ['Authorization=Bearer x'] })).toMatchObject({
    name: 'https://example.com/mcp',
    options: { servers: { 'https://example.com/mcp': { headers: { Authorization: 'Bearer x' } } } },
    words: expect.arrayContaining(['--header', 'Authorization=…']),
  });
  expect(await of({ stdio: 'node "my server.js"', env: ['A=b=c'] })).toMatchObject({
    name: "node 'my server.js'",
    origin: "your command line, which runs: node 'my server.js'",
    options: {
      servers: { "node 'my server.js'": { command: 'node', args: ['my server.js'], cwd: '/work', env: { A: 'b=c' } } },
    },
    words: ['--stdio', 'node "my server.js"', '--env', 'A=…'],
  });
});

test('a tool is found in each spelling that a call takes, on its own server only, with its suggestions', async () => {
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
  const [one, two] = [
    createFakeServer({ get_sum: { inputSchema: schema, run: () => '' } }),
    createFakeServer({ other: { run: () => '' } }),
  ];
  const runtime = await openRuntime('/', { servers: { one: one.entry, two: two.entry } });
  onTestFinished(() => runtime.close());
  const context = contextOf([]);
  const find = async (server: string, tool: string) => (await findTool(runtime, { server, tool }, context)).tool;
  for (const name of ['get_sum', 'get-sum', 'Get_Sum', 'mcp__one__get_sum'])
    expect((await find('one', name))?.id.tool).toBe('get_sum');
  expect(await find('two', 'get_sum')).toBeUndefined();
  const { turn, name } = await findTool(runtime, { server: 'one', tool: 'get_sun' }, context);
  const failure = unknownOn(
    runtime,
    { server: 'one', tool: 'get_sun' },
    'plexus tools one',
    await turn.call(name).catch((error) => error),
  );
  expect(String(failure)).toContain('Did you mean get_sum? See all tools with: plexus tools one');

  const tool = await find('one', 'get-sum');
  if (tool === undefined) throw new Error('there is no tool');
  const asked = { server: 'one', tool: 'get_sum', words: [], unconfigured: undefined };
  expect(await argumentsFor(tool, { fromOption: { n: 1, more: 2 }, words: ['n=3'], asked, context })).toEqual({
    n: 3,
    more: 2,
  });
  await expect(argumentsFor(tool, { fromOption: {}, words: ['m=3'], asked, context })).rejects.toThrow(
    'Write: n=3. All parameters: plexus call one get_sum --help',
  );
  const refused = await turn.call('mcp__one__get_sum', { n: 'x' }).catch((error) => error);
  expect(String(withSpelling(refused, { tool, args: { n: 'x' }, asked, context }))).toContain('Write: n=1. ');
  const other = new RuntimeError('CALL_CANCELLED', {});
  expect(withSpelling(other, { tool, args: {}, asked, context })).toBe(other);
});
