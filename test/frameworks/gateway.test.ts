// Owns the proof that the MCP clients of frameworks use the gateway: the AI SDK's lists, calls, reads, gets prompts and is asked; LangChain's
// lists, calls and cancels.

import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway } from '../servers/gateway.mjs';
import { waitFor } from '../wait-for.ts';
import { describeInstalled } from './installed.ts';

const fixture = fileURLToPath(new URL('../servers/conformance-sdk.mjs', import.meta.url));
const simple = 'This is a simple text response for testing.';

describeInstalled('the gateway', async () => {
  const { createMCPClient, ElicitationRequestSchema } = await import('@ai-sdk/mcp');
  const { MultiServerMCPClient } = await import('@langchain/mcp-adapters');

  describe.each(['legacy', 'modern'])('in front of a %s server', (era) => {
    let gateway: Awaited<ReturnType<typeof startGateway>>;
    beforeAll(async () => {
      gateway = await startGateway({ servers: { it: { command: process.execPath, args: [fixture, era] } } });
    });
    afterAll(() => gateway.stop());
    const url = () => `${gateway.origin}/mcp/s/it`;

    test('the AI SDK lists, calls, reads, gets prompts and is asked', async () => {
      const client = await createMCPClient({
        transport: { type: 'http', url: url() },
        capabilities: { elicitation: {} },
      });
      client.onElicitationRequest(ElicitationRequestSchema, () => ({ action: 'accept', content: { name: 'Ada' } }));
      const tools = await client.tools();
      const call = async (name: string) => tools[name]?.execute?.({}, { toolCallId: name, messages: [] } as never);
      expect(await call('test_simple_text')).toMatchObject({ content: [{ text: simple }] });
      expect(await client.readResource({ uri: 'test://static-text' })).toMatchObject({
        contents: [{ uri: 'test://static-text' }],
      });
      expect(await client.experimental_getPrompt({ name: 'test_simple_prompt' })).toMatchObject({
        messages: [{ role: 'user' }],
      });
      expect(await call('test_input_required_result_elicitation')).toMatchObject({
        content: [{ text: 'Hello, Ada!' }],
      });
      await client.close();
    });

    test('LangChain lists, calls and cancels', async () => {
      const client = new MultiServerMCPClient({ mcpServers: { it: { transport: 'http', url: url() } } });
      const tools = await client.getTools();
      const tool = (name: string) => tools.find((each) => each.name === name) ?? expect.fail(`no tool ${name}`);
      expect(await tool('test_simple_text').invoke({})).toBe(simple);
      const before = Number(await tool('test_cancelled').invoke({}));
      // More than once: a call that is cancelled before it reaches the server is not counted there.
      await waitFor(async () => {
        const signal = AbortSignal.timeout(100);
        await expect(tool('test_cancellation').invoke({}, { signal })).rejects.toThrow();
        expect(Number(await tool('test_cancelled').invoke({}))).toBeGreaterThan(before);
      });
      await client.close();
    });
  });
});
