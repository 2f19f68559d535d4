// Owns the proof that the MCP clients of frameworks use the gateway. The AI SDK's (`@ai-sdk/mcp` 2) does all that it can, in both eras: it
// lists, calls, reads, completes, gets prompts, is asked by forms, gets structured content and errors, cancels, and hears of apps, over HTTP,
// the oldest streams and `plexus connect`. It cannot: subscribe, hear of updates, changed lists, progress or log messages, set a log level,
// be asked for sampling, for roots or by a page; and in the older era it stops waiting for a call without cancelling it. LangChain's lists,
// calls and cancels.

import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startGateway } from '../servers/gateway.mjs';
import { waitFor } from '../wait-for.ts';
import { describeInstalled } from './installed.ts';

const fixture = fileURLToPath(new URL('../servers/conformance-sdk.mjs', import.meta.url));
const cli = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));
const simple = 'This is a simple text response for testing.';
const template = 'test://template/{id}/data';
const paris = { completion: { values: ['paris', 'park', 'party'] } };

describeInstalled('the gateway', async () => {
  const { createMCPClient, ElicitationRequestSchema, mcpAppClientCapabilities, readMCPAppResource, splitMCPAppTools } =
    await import('@ai-sdk/mcp');
  const { Experimental_StdioMCPTransport: Stdio } = await import('@ai-sdk/mcp/mcp-stdio');
  const { MultiServerMCPClient } = await import('@langchain/mcp-adapters');
  type AiSdkClient = Awaited<ReturnType<typeof createMCPClient>>;
  type Transport = Parameters<typeof createMCPClient>[0]['transport'];

  describe.each(['legacy', 'modern'])('in front of a %s server', (era) => {
    let gateway: Awaited<ReturnType<typeof startGateway>>;
    beforeAll(async () => {
      gateway = await startGateway({ servers: { it: { command: process.execPath, args: [fixture, era] } } });
    });
    afterAll(() => gateway.stop());
    const url = () => `${gateway.origin}/mcp/s/it`;

    /** `protocolVersionDiscovery`: whether it may speak the newer era. */
    async function openAiSdk(protocolVersionDiscovery: boolean, transport: Transport = { type: 'http', url: url() }) {
      const capabilities = { elicitation: {} };
      const client = await createMCPClient({ transport, capabilities, protocolVersionDiscovery });
      onTestFinished(() => client.close());
      return client;
    }

    describe.each([
      ['modern', true],
      ['legacy', false],
    ] as const)('the AI SDK as a %s client', (spoken, mayBeModern) => {
      test('introduces itself, lists, calls, reads, completes and gets prompts', async () => {
        const client = await openAiSdk(mayBeModern);
        const { serverInfo, protocolVersion } = client.initializeResult;
        expect([serverInfo.name, protocolVersion]).toEqual([
          'conformance',
          spoken === 'modern' ? '2026-07-28' : '2025-11-25',
        ]);
        const tools = await client.tools();
        const { execute } = tools['test_simple_text'] ?? expect.fail('it has no such tool');
        expect(await execute({}, { toolCallId: '1', messages: [] } as never)).toMatchObject({
          content: [{ text: simple }],
        });
        expect(await client.callTool({ name: 'test_multiple_content_types' })).toMatchObject({
          content: [{ type: 'text' }, { type: 'image' }, { type: 'resource' }],
        });
        const uris = (await client.listResources()).resources.map(({ uri }) => uri);
        expect(uris).toContain('test://static-text');
        expect(await client.readResource({ uri: 'test://static-text' })).toMatchObject({
          contents: [{ uri: 'test://static-text' }],
        });
        expect(await client.listResourceTemplates()).toMatchObject({ resourceTemplates: [{ uriTemplate: template }] });
        expect(await client.readResource({ uri: 'test://template/7/data' })).toMatchObject({
          contents: [{ text: expect.stringContaining('"id":"7"') }],
        });
        const { prompts } = await client.listPrompts();
        expect(prompts.map(({ name }) => name)).toContain('test_simple_prompt');
        const name = 'test_prompt_with_arguments';
        expect(await client.getPrompt({ name, arguments: { arg1: 'one', arg2: 'two' } })).toMatchObject({
          messages: [{ content: { text: "Prompt with arguments: arg1='one', arg2='two'" } }],
        });
        const typed = { name: 'arg1', value: 'par' };
        expect(await client.complete({ ref: { type: 'ref/prompt', name }, argument: typed })).toMatchObject(paris);
        expect(
          await client.complete({ ref: { type: 'ref/resource', uri: template }, argument: { ...typed, name: 'id' } }),
        ).toMatchObject(paris);
      });

      test('gets structured content, errors of tools and errors of the protocol', async () => {
        const client = await openAiSdk(mayBeModern);
        const { tools } = await client.listTools();
        expect(tools.find((tool) => tool.name === 'test_structured')).toMatchObject({
          outputSchema: { required: ['answer'] },
          annotations: { readOnlyHint: true },
          _meta: { 'test/kind': 'structured' },
        });
        expect(await client.callTool({ name: 'test_structured' })).toMatchObject({
          structuredContent: { answer: 42 },
          _meta: { 'test/seen': 'nothing' },
        });
        expect(await client.callTool({ name: 'test_error_handling' })).toMatchObject({ isError: true });
        await expect(client.callTool({ name: 'no_such_tool' })).rejects.toMatchObject({ code: -32602 });
        await expect(client.getPrompt({ name: 'no_such_prompt' })).rejects.toMatchObject({ code: -32602 });
        // The server of the SDK says so in both eras; of a modern server it is worded for a legacy client.
        const code = era === 'modern' && spoken === 'legacy' ? -32002 : -32602;
        await expect(client.readResource({ uri: 'test://missing' })).rejects.toMatchObject({ code });
      });

      test('is asked by a form, in a call and in a prompt, and is not asked for what it cannot do', async () => {
        const client = await openAiSdk(mayBeModern);
        const questions: string[] = [];
        client.onElicitationRequest(ElicitationRequestSchema, ({ params }) => {
          questions.push(params.message);
          return { action: 'accept', content: { name: 'Ada', context: 'a test' } };
        });
        expect(await client.callTool({ name: 'test_input_required_result_elicitation' })).toMatchObject({
          content: [{ text: 'Hello, Ada!' }],
        });
        expect(await client.getPrompt({ name: 'test_input_required_result_prompt' })).toMatchObject({
          messages: [{ content: { text: 'Context: a test' } }],
        });
        expect(questions).toHaveLength(2);
        // It declares no sampling: no question reaches it, and the call ends.
        const sampled = client.callTool({ name: 'test_missing_capability' });
        await expect(sampled).rejects.toMatchObject({ code: era === 'legacy' ? -32601 : -32021 });
      });

      test('gives a call up, by a signal or in time, and goes on', async () => {
        const client = await openAiSdk(mayBeModern);
        const cancelled = async () => Number(textOf(await client.callTool({ name: 'test_cancelled' })));
        const inTime = [(ms: number) => ({ signal: AbortSignal.timeout(ms) }), (ms: number) => ({ timeout: ms })];
        for (const optionsOf of inTime) {
          const before = await cancelled();
          const giveUp = (ms: number) => client.callTool({ name: 'test_cancellation', options: optionsOf(ms) });
          await untilReached(async (ms) => {
            await expect(giveUp(ms)).rejects.toThrow();
            if (spoken === 'modern') expect(await cancelled()).toBeGreaterThan(before);
          });
        }
        expect(await client.callTool({ name: 'test_simple_text' })).toMatchObject({ content: [{ text: simple }] });
      });
    });

    test('the AI SDK calls over the oldest streams, and through plexus connect', async () => {
      const transports: readonly Transport[] = [
        { type: 'sse', url: `${gateway.origin}/sse` },
        new Stdio({
          ...{ command: process.execPath, args: [cli, 'connect'] },
          env: { PATH: process.env['PATH'] ?? '', HOME: gateway.home },
        }),
      ];
      for (const transport of transports) {
        const client: AiSdkClient = await openAiSdk(false, transport);
        expect(await client.callTool({ name: 'it__test_simple_text' })).toMatchObject({ content: [{ text: simple }] });
      }
    });

    test('the AI SDK sees apps among all servers, and a client without apps sees no tool that only an app calls', async () => {
      const transport = { type: 'http' as const, url: `${gateway.origin}/mcp` };
      const client = await createMCPClient({ transport, capabilities: mcpAppClientCapabilities });
      onTestFinished(() => client.close());
      const { modelVisible, appVisible } = splitMCPAppTools(await client.listTools());
      const namesOf = ({ tools }: typeof modelVisible) => tools.map(({ name }) => name);
      expect(namesOf(appVisible)).toEqual(['it__test_app_refresh']);
      expect(namesOf(modelVisible)).toContain('it__test_app');
      expect(namesOf(modelVisible)).not.toContain('it__test_app_refresh');
      expect(await readMCPAppResource({ client, uri: 'ui://test/view' })).toMatchObject({ html: '<p>An app</p>' });
      const plain = namesOf(await (await openAiSdk(true, transport)).listTools());
      expect([plain.includes('it__test_app'), plain.includes('it__test_app_refresh')]).toEqual([true, false]);
    });

    test('LangChain lists, calls and cancels', async () => {
      const client = new MultiServerMCPClient({ mcpServers: { it: { transport: 'http', url: url() } } });
      const tools = await client.getTools();
      const tool = (name: string) => tools.find((each) => each.name === name) ?? expect.fail(`no tool ${name}`);
      expect(await tool('test_simple_text').invoke({})).toBe(simple);
      const before = Number(await tool('test_cancelled').invoke({}));
      await untilReached(async (ms) => {
        const signal = AbortSignal.timeout(ms);
        await expect(tool('test_cancellation').invoke({}, { signal })).rejects.toThrow();
        expect(Number(await tool('test_cancelled').invoke({}))).toBeGreaterThan(before);
      });
      await client.close();
    });
  });
});

/** Each time with twice as long: a call that is cancelled before it reaches the server is not counted there, however slow the machine is. */
function untilReached(cancelAfter: (ms: number) => Promise<void>): Promise<void> {
  let ms = 50;
  return waitFor(() => {
    ms *= 2;
    return cancelAfter(ms);
  });
}

const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text;
