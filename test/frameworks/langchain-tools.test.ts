// Owns the tests of LangChain's own class as `plexus/langchain` fills it; `langchain.test.ts` has the real loop.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ToolMessage as Message } from '@langchain/core/messages';
import { expect, test } from 'vitest';
import { createFakeServer, type FakeTools } from '../../src/testing/fake-server.ts';
import { createFolder, start } from '../e2e/runtimes.ts';
import { image, mixed, wide } from '../unit/adapters/wide-schema.ts';
import { root } from '../unit/docs/program.ts';
import { verifies } from '../verifies.ts';
import { describeInstalled } from './installed.ts';

const draw = 'mcp__s__draw';
const tools: FakeTools = {
  draw: { description: 'Draws.', inputSchema: wide, run: () => mixed },
  fail: { run: () => ({ content: [{ type: 'text', text: 'out of paper' }], isError: true }) },
};
const open = () => start(createFolder(), { servers: { s: createFakeServer(tools).entry } });
const call = { type: 'tool_call' as const, id: 'c1', args: {} };

describeInstalled('LangChain', async () => {
  const { AIMessage, SystemMessage, ToolMessage } = await import('@langchain/core/messages');
  const { StructuredTool } = await import('@langchain/core/tools');
  const { convertToOpenAITool } = await import('@langchain/core/utils/function_calling');
  const { langchainTools, mcpMiddleware } = await import('../../src/adapters/langchain.ts');

  verifies(
    'INT-01',
    'LangChain gets tools of its own class with the schema as the server sent it, and messages with an artifact',
    async () => {
      const { tools: shown, systemPrompt } = langchainTools(await open(), { model: { vision: true } });
      const tool = shown.find(({ name }) => name === draw) ?? expect.fail('no tool');
      expect(tool).toBeInstanceOf(StructuredTool);
      expect(convertToOpenAITool(tool).function).toEqual({ name: draw, description: 'Draws.', parameters: wide });
      expect(systemPrompt).toContain('tool');
      const message: Message = await tool.invoke({ ...call, name: draw });
      expect(message).toBeInstanceOf(ToolMessage);
      expect(message).toMatchObject({
        tool_call_id: 'c1',
        status: 'success',
        artifact: { structured: { n: 1 }, isError: false },
      });
      const url = `data:image/png;base64,${image.data}`;
      expect(message.content).toEqual([
        { type: 'text', text: message.artifact.text },
        { type: 'image_url', image_url: { url } },
      ]);
      expect(message.artifact).not.toHaveProperty('content');
    },
  );

  test('a tool that fails, or is called with wrong arguments, has a message that says so', async () => {
    const { tools: shown } = langchainTools(await open());
    const [drawing, failing] = ['draw', 'fail'].map((name) => shown.find((tool) => tool.name === `mcp__s__${name}`));
    const failed: Message = await failing?.invoke({ ...call, name: 'mcp__s__fail' });
    expect(failed).toMatchObject({ status: 'error', content: expect.stringContaining('out of paper') });
    const wrong: Message = await drawing?.invoke({ ...call, name: draw, args: { size: 'large' } });
    expect(wrong).toMatchObject({ status: 'error', content: expect.stringContaining('ARGUMENTS_BAD') });
    expect(await drawing?.invoke({})).toContain('"n"');
  });

  test('the middleware adds tools and prompt to those of the host, whose tools keep their names', async () => {
    const { wrapModelCall, wrapToolCall } = mcpMiddleware(await open());
    const own = { name: draw };
    const request = { tools: [own], systemPrompt: 'Be brief.' };
    const seen = await wrapModelCall(request, async (given) => given);
    expect(seen.tools.map((tool: { name: string }) => tool.name)).toEqual([draw, 'mcp__s__fail']);
    expect(seen.tools[0]).toBe(own);
    expect(seen.systemPrompt).toMatch(/^Be brief\.\n\n/);
    const toolCall = { ...call, name: draw };
    const handler = async (given: { tool: unknown }) => given.tool;
    expect(await wrapToolCall({ tool: own, toolCall }, handler)).toBe(own);
    const unknown = await wrapToolCall({ toolCall: { ...call, name: 'mcp__s__other' } }, handler);
    expect((await unknown.invoke({ ...call, name: 'mcp__s__other' })).content).toContain('TOOL_UNKNOWN');
  });

  test('the middleware keeps the blocks of the host’s system message', async () => {
    const { wrapModelCall } = mcpMiddleware(await open());
    const cached = { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } };
    const request = { systemPrompt: 'Be brief.', systemMessage: new SystemMessage({ content: [cached] }) };
    const seen = await wrapModelCall(request, async (given) => given);
    expect(seen.systemMessage.content).toEqual([cached, { type: 'text', text: expect.stringContaining('tool') }]);
    expect(seen.systemPrompt).toBe('Be brief.');
  });

  verifies('INT-01', 'arguments that are no JSON become a call that tells the model so', async () => {
    const runtime = await open();
    const { wrapModelCall } = mcpMiddleware(runtime);
    const ofHost = { name: 'mine', id: 'c2', args: '{"kind":' };
    const message = new AIMessage({
      content: '',
      invalid_tool_calls: [{ name: draw, id: 'c1', args: '{"kind":' }, ofHost],
    });
    await wrapModelCall({ tools: [{ name: 'mine' }] }, async () => message);
    expect(message.tool_calls).toMatchObject([{ name: draw, id: 'c1' }]);
    expect(message.invalid_tool_calls).toEqual([ofHost]);
    // A run may go on in another process, from a checkpoint.
    const [toolCall] = JSON.parse(JSON.stringify(message.tool_calls));
    const { wrapToolCall } = mcpMiddleware(runtime);
    const told = await wrapToolCall({ toolCall }, ({ tool, toolCall: given }) => tool.invoke(given));
    expect(told.content).toMatch(/ARGUMENTS_BAD(.|\n)*no JSON/);
  });
});

verifies('INT-01', 'LangChain is an optional peer that one file of the sources imports', () => {
  const { dependencies, peerDependenciesMeta } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  expect([dependencies, peerDependenciesMeta['@langchain/core']]).toEqual([undefined, { optional: true }]);
  const sources = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const importing = sources.filter((file) => readFileSync(`${root}src/${file}`, 'utf8').includes("from '@langchain/"));
  expect(importing).toEqual([join('adapters', 'langchain.ts')]);
});
