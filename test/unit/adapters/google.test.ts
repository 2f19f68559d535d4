// Owns the tests of the shapes of `plexus/google` without its package; `test/frameworks/google.test.ts` has the real loops.

import { expect, test } from 'vitest';
import { fleetTool } from '../../../src/adapters/google.ts';
import { createFakeServer } from '../../../src/testing/fake-server.ts';
import { createFolder, start } from '../../e2e/runtimes.ts';
import { waitFor } from '../../wait-for.ts';
import { manyTools } from './many-tools.ts';

const image = (mimeType: string) => ({ type: 'image', data: 'aGk=', mimeType });

const open = () => {
  const refused = { type: 'object', properties: { a: { type: 'string', pattern: '^(?=x)' }, b: { const: 1 } } };
  const server = createFakeServer({
    draw: {
      description: 'Draws.',
      inputSchema: refused,
      run: () => ({ content: [image('image/png'), image('image/gif')] }),
    },
  });
  return start(createFolder(), { servers: { s: server.entry } });
};
const draw = 'mcp__s__draw';

test('the fleet is one callable tool: declarations that Google accepts, results, and images that it reads', async () => {
  const mcp = fleetTool(await open(), { model: { vision: true } });
  const { functionDeclarations } = await mcp.tool();
  expect(functionDeclarations.map(({ name, description }) => [name, description.split('\n')[0]])).toEqual([
    [draw, 'Draws.'],
  ]);
  expect(JSON.stringify(functionDeclarations[0]?.parametersJsonSchema)).not.toMatch(/\(\?=|const/);
  expect(mcp.systemPrompt()).toContain('tool');
  expect(await mcp.callTool([{ id: 'c1', name: draw, args: {} }, { name: 'other' }])).toEqual([
    {
      functionResponse: {
        id: 'c1',
        name: draw,
        response: { output: expect.any(String) },
        parts: [{ inlineData: { mimeType: 'image/png', data: 'aGk=' } }],
      },
    },
    { functionResponse: { name: 'other', response: { error: expect.stringContaining('TOOL_UNKNOWN') } } },
  ]);
});

test('calls of names that the fleet does not have are left to other callable tools', async () => {
  const mcp = fleetTool(await open(), { standsBesideOthers: true });
  const results = await mcp.callTool([{ name: 'other' }, { name: draw }]);
  expect(results.map(({ functionResponse }) => functionResponse.name)).toEqual([draw]);
});

test('beside other callable tools, calls of tools that are not shown or were declared before are still the fleet’s', async () => {
  const server = createFakeServer({ draw: { run: () => 'drawn' } });
  const runtime = await start(createFolder(), { servers: { s: server.entry, many: manyTools() } });
  const mcp = fleetTool(runtime, { standsBesideOthers: true });
  const { functionDeclarations } = await mcp.tool();
  expect(functionDeclarations.map(({ name }) => name)).not.toContain(draw);
  const [hidden, ...others] = await mcp.callTool([{ name: draw }, { name: 'other' }]);
  expect([hidden?.functionResponse.response, others]).toEqual([{ output: expect.stringContaining('drawn') }, []]);
  const few = await start(createFolder(), { servers: { s: server.entry } });
  const declaring = fleetTool(few, { standsBesideOthers: true });
  await declaring.tool();
  await server.setTools({});
  await waitFor(() => expect(few.turn().find(draw)).toBeUndefined());
  const gone = await declaring.callTool([{ name: draw }]);
  expect(gone.map(({ functionResponse }) => functionResponse.response)).toEqual([{ error: expect.any(String) }]);
});
