// Owns the tests of the shapes of `plexus/anthropic` without its package; `test/frameworks/anthropic.test.ts` has the real loops.

import { expect } from 'vitest';
import { messagesTools, runnerTools } from '../../../src/adapters/anthropic.ts';
import { createFakeServer } from '../../../src/testing/fake-server.ts';
import { createFolder, start } from '../../e2e/runtimes.ts';
import { verifies } from '../../verifies.ts';

const input_schema = { type: 'object', properties: { a: { enum: ['x', 'y'], default: 'x' } } };
const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' };
const fails = { content: [{ type: 'text', text: 'out of paper' }, image], isError: true };

const open = () => {
  const server = createFakeServer({
    print: { run: () => fails },
    draw: { description: 'Draws.', inputSchema: input_schema, run: () => ({ content: [image] }) },
  });
  return start(createFolder(), { servers: { s: server.entry } });
};
const draw = 'mcp__s__draw';
const print = 'mcp__s__print';
const options = { model: { vision: true } };
const drawn = [
  { type: 'text', text: expect.any(String) },
  { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
];

verifies('INT-03', 'messages of Anthropic get tools in an order that stays, results and images in them', async () => {
  const runtime = await open();
  const mcp = messagesTools(runtime, options);
  const shown = mcp.tools();
  expect(shown).toContainEqual({ name: draw, description: 'Draws.', input_schema });
  expect(JSON.stringify(messagesTools(await open()).tools())).toBe(JSON.stringify(shown));
  expect(mcp.systemPrompt()).toContain('tool');
  const results = await mcp.run([
    { type: 'text' },
    { type: 'tool_use', id: 'c1', name: draw, input: { a: 'y' } },
    { type: 'tool_use', id: 'c2', name: print, input: {} },
    { type: 'tool_use', id: 'c3', name: 'other', input: '{"a' },
  ]);
  expect(results).toEqual([
    { type: 'tool_result', tool_use_id: 'c1', content: drawn },
    { type: 'tool_result', tool_use_id: 'c2', content: expect.stringContaining('out of paper'), is_error: true },
    { type: 'tool_result', tool_use_id: 'c3', content: expect.stringContaining('TOOL_UNKNOWN'), is_error: true },
  ]);
});

verifies('INT-03', 'the tool runner of Anthropic gets tools that run, and a failure as an exception', async () => {
  const mcp = runnerTools(await open(), options);
  const byName = (wanted: string) => mcp.tools().find(({ name }) => name === wanted) ?? expect.fail(wanted);
  expect(byName(draw)).toMatchObject({ description: 'Draws.', input_schema });
  expect(byName(draw).parse({ a: 'x' })).toEqual({ a: 'x' });
  expect(await byName(draw).run({}, { toolUse: { id: 'c1' }, signal: null })).toEqual(drawn);
  await expect(byName(print).run({})).rejects.toThrow('out of paper');
  await expect(byName(draw).run({}, { signal: AbortSignal.abort() })).rejects.toThrow('CALL_CANCELLED');
});
