// Owns the proof that what is wrong with servers, models and hosts stays bounded and clear through adapters whose objects the
// framework calls: one table for all of them.

import { describe, expect, test, vi } from 'vitest';
import { type AiTool, aiTools } from '../../src/adapters/ai-sdk.ts';
import type { AdapterOptions, KeptOutcome, ToolSource } from '../../src/adapters/toolset.ts';
import { createFakeServer, type FakeTools } from '../../src/testing/fake-server.ts';
import { createFolder, start } from '../e2e/runtimes.ts';
import { verifies } from '../verifies.ts';
import { describeInstalled } from './installed.ts';

interface OpenedTool {
  readonly name: string;
  readonly schema: unknown;
  readonly call: (args: unknown) => Promise<{ readonly read: unknown; readonly kept: KeptOutcome }>;
}

type Open = (source: ToolSource, options?: AdapterOptions) => readonly OpenedTool[];

const MB = 1_048_576;
const tools: FakeTools = {
  'read / all of it, please (now)': { run: () => 'read' },
  [`long_${'name_'.repeat(40)}`]: { run: () => 'long' },
  strict: {
    inputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '^(?=x)' } } },
    run: () => 'ok',
  },
  huge: { run: () => 'x'.repeat(20 * MB) },
};
const open = () => start(createFolder(), { servers: { 'my server.v2': createFakeServer(tools).entry } });
const named = (all: readonly OpenedTool[], part: string) =>
  all.find(({ name }) => name.includes(part)) ?? expect.fail(`no ${part} among ${all.map(({ name }) => name)}`);

describeInstalled('an adapter', async () => {
  const { langchainTools, mcpMiddleware } = await import('../../src/adapters/langchain.ts');
  const openers: Readonly<Record<string, Open>> = {
    'the AI SDK': (source, options) =>
      Object.entries<AiTool>(aiTools(source, options).tools).map(([name, tool]) => ({
        name,
        schema: tool.inputSchema.jsonSchema,
        call: async (args) => {
          const kept = await tool.execute(args, { toolCallId: 'c1', messages: [] });
          return { read: tool.toModelOutput({ output: kept }), kept };
        },
      })),
    LangChain: (source, options) =>
      langchainTools(source, options).tools.map((tool) => ({
        name: tool.name,
        schema: tool.schema,
        call: async (args) => {
          const message = await tool.invoke({ type: 'tool_call', id: 'c1', name: tool.name, args });
          return { read: message.content, kept: message.artifact };
        },
      })),
  };

  describe.each(Object.entries(openers))('%s', (_title, openTools) => {
    verifies('INT-03', 'names that providers refuse are made fit, and the calls still reach their tools', async () => {
      const shown = openTools(await open());
      for (const { name } of shown) expect(name).toMatch(/^[\w-]{1,64}$/);
      expect((await named(shown, 'please').call({})).kept).toMatchObject({ isError: false });
      expect((await named(shown, 'long').call({})).kept).toMatchObject({ isError: false });
    });

    test('a schema that a provider refuses is made fit for it, and arguments are checked against the server’s', async () => {
      const mcp = await open();
      const strict = named(openTools(mcp, { model: { provider: 'openai' } }), 'strict');
      expect(JSON.stringify(strict.schema)).not.toContain('?=');
      expect(JSON.stringify(named(openTools(mcp), 'strict').schema)).toContain('?=');
      expect((await strict.call({ a: 'y' })).kept).toMatchObject({ isError: true });
    });

    test('a huge result is cut for the model, and is not kept in the messages', async () => {
      const { read, kept } = await named(openTools(await open()), 'huge').call({});
      expect(JSON.stringify(read).length).toBeLessThan(MB / 4);
      expect(JSON.stringify(kept).length).toBeLessThan(MB / 2);
      expect(kept.truncated?.totalChars).toBeGreaterThanOrEqual(20 * MB);
    });

    test('arguments of any shape are told, never thrown', async () => {
      const strict = named(openTools(await open()), 'strict');
      for (const args of [[1], 'text', 7, { a: 1 }])
        expect((await strict.call(args)).kept).toMatchObject({ isError: true });
    });

    test('a host whose functions throw gets a result that says so', async () => {
      const fail = () => {
        throw new Error('the host is wrong');
      };
      const permissions = [{ tool: 'mcp__*', action: 'ask' as const }];
      const mcp = await start(createFolder(), { servers: { s: createFakeServer(tools).entry }, permissions });
      const { kept } = await named(openTools(mcp, { approve: fail, onProgress: fail }), 'strict').call({});
      expect(kept).toMatchObject({ isError: true });
    });

    test('an adapter subscribes to nothing: a loop that forgets it leaves nothing behind', async () => {
      const mcp = await open();
      const on = vi.spyOn(mcp, 'on');
      openTools(mcp);
      mcpMiddleware(mcp);
      expect(on).not.toHaveBeenCalled();
    });
  });
});
