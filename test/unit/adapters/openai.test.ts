// Owns the tests of the shapes of `plexus/openai` without its package; `test/frameworks/openai.test.ts` has the real loop.

import { expect } from 'vitest';
import { chatTools, responsesTools } from '../../../src/adapters/openai.ts';
import { createFakeServer } from '../../../src/testing/fake-server.ts';
import { createFolder, start } from '../../e2e/runtimes.ts';
import { verifies } from '../../verifies.ts';

const parameters = { type: 'object', properties: { a: { enum: ['x', 'y'], default: 'x' } } };
const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' };

const open = () => {
  const server = createFakeServer({
    draw: {
      description: 'Draws.',
      inputSchema: parameters,
      run: () => ({ content: [image], structuredContent: { n: 1 } }),
    },
  });
  return start(createFolder(), { servers: { s: server.entry } });
};
const name = 'mcp__s__draw';
const options = { model: { vision: true } };

verifies('INT-03', 'chat completions of OpenAI get tools, results and images beside them', async () => {
  const mcp = chatTools(await open(), options);
  const shown = mcp.tools();
  expect(shown).toEqual([{ type: 'function', function: { name, description: 'Draws.', parameters } }]);
  expect(mcp.tools()[0]).toBe(shown[0]);
  expect(mcp.tools()).not.toBe(shown);
  expect(mcp.systemPrompt()).toContain('tool');
  const results = await mcp.run([
    { id: 'c1', function: { name, arguments: '{"a":"y"}' } },
    { id: 'c2', custom: { name: 'other', input: '' } },
  ]);
  expect(results).toEqual([
    { role: 'tool', tool_call_id: 'c1', content: expect.stringContaining('"n"') },
    { role: 'tool', tool_call_id: 'c2', content: expect.stringContaining('TOOL_UNKNOWN') },
    {
      role: 'user',
      content: [
        { type: 'text', text: `Images in the result of ${name} (c1):` },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
      ],
    },
  ]);
  expect(await mcp.run(undefined)).toEqual([]);
});

verifies('INT-03', 'responses of OpenAI get tools, results and images in them', async () => {
  const mcp = responsesTools(await open(), options);
  expect(mcp.tools()).toEqual([{ type: 'function', name, description: 'Draws.', parameters, strict: false }]);
  const results = await mcp.run([
    { type: 'reasoning' },
    { type: 'function_call', call_id: 'c1', name, arguments: '{}' },
    { type: 'function_call', call_id: 'c2', name: 'other', arguments: '' },
  ]);
  expect(results).toEqual([
    {
      type: 'function_call_output',
      call_id: 'c1',
      output: [
        { type: 'input_text', text: expect.stringContaining('"n"') },
        { type: 'input_image', image_url: 'data:image/png;base64,aGk=', detail: 'auto' },
      ],
    },
    { type: 'function_call_output', call_id: 'c2', output: expect.stringContaining('TOOL_UNKNOWN') },
  ]);
});
