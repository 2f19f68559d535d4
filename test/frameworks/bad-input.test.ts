// Owns the proof that what is wrong with servers, models and hosts stays bounded and clear through every adapter: one table for all of
// them.

import { readdirSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { createFakeServer, type FakeTools } from '../../src/testing/fake-server.ts';
import { createFolder, start } from '../e2e/runtimes.ts';
import { withDefaultStore } from '../runtime.ts';
import { faulty } from '../servers/faulty.ts';
import { everyDoor, id, type OpenDoor, type OpenedDoor, textOf } from '../unit/adapters/every-door.ts';
import { verifies } from '../verifies.ts';
import { describeInstalled } from './installed.ts';

const MB = 1_048_576;
const tools: FakeTools = {
  'read / all of it, please (now)': { run: () => 'have read it' },
  [`long_${'name_'.repeat(40)}`]: { run: () => 'a long name' },
  strict: {
    inputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '^(?=x)' } } },
    run: () => 'ok',
  },
  huge: { run: () => 'x'.repeat(20 * MB) },
};
const open = () => start(createFolder(), { servers: { 'my server.v2': createFakeServer(tools).entry } });
const toolOf = async (door: OpenedDoor, part: string) =>
  (await door.tools()).find(({ name }) => name.includes(part)) ?? expect.fail(`no ${part}`);
const callOf = async (door: OpenedDoor, part: string, args: unknown = {}) =>
  textOf(await door.call((await toolOf(door, part)).name, args));

describeInstalled('an adapter', async () => {
  const { langchainTools, mcpMiddleware } = await import('../../src/adapters/langchain.ts');
  const langchain: OpenDoor = (source, options) => {
    const { tools: given } = langchainTools(source, options);
    return {
      tools: () => given.map(({ name, schema }) => ({ name, schema })),
      call: async (name, args) => {
        const message = await given.find((tool) => tool.name === name)?.invoke({ type: 'tool_call', id, name, args });
        return { read: message.content, kept: message.artifact };
      },
    };
  };

  describe.each(Object.entries({ ...everyDoor, LangChain: langchain }))('%s', (_title, openDoor) => {
    verifies('INT-03', 'names that providers refuse are made fit, and the calls still reach their tools', async () => {
      const door = openDoor(await open());
      for (const { name } of await door.tools()) expect(name).toMatch(/^[\w-]{1,64}$/);
      expect(await callOf(door, 'please')).toContain('have read it');
      expect(await callOf(door, 'long')).toContain('a long name');
    });

    test('a schema that a provider refuses is made fit for it, and arguments are checked against the server’s', async () => {
      const mcp = await open();
      const strictFor = (provider: string) => toolOf(openDoor(mcp, { model: { provider } }), 'strict');
      expect(JSON.stringify((await strictFor('openai')).schema)).not.toContain('?=');
      expect(JSON.stringify((await strictFor('another')).schema)).toContain('?=');
      expect(await callOf(openDoor(mcp), 'strict', { a: 'y' })).toContain('ARGUMENTS_BAD');
    });

    verifies('INT-03', 'of more tools than OpenAI or Google take, the model is shown fewer and searches', async () => {
      const none = { type: 'object', properties: {} };
      const many = Object.fromEntries(
        Array.from({ length: 450 }, (_, at) => [`t${at}`, { inputSchema: none, run: () => '' }]),
      );
      const mcp = await start(createFolder(), { servers: { s: createFakeServer(many).entry } });
      const shown = async (provider: string) => (await openDoor(mcp, { model: { provider } }).tools()).length;
      expect(await Promise.all(['openai', 'google', 'anthropic'].map(shown))).toEqual([2, 2, 450]);
    });

    test('a huge result is cut for the model, and is not kept in the messages', async () => {
      const handed = await callOf(openDoor(await open()), 'huge');
      expect(handed).toContain('xxx');
      expect(handed.length).toBeLessThan(MB / 2);
    });

    test('arguments of any shape are told, never thrown', async () => {
      const door = openDoor(await open());
      for (const args of [[1], 'text', 7, { a: 1 }]) expect(await callOf(door, 'strict', args)).toContain('MCP error');
    });

    test('a host whose functions throw gets a result that says so', async () => {
      const fail = () => {
        throw new Error('the host is wrong');
      };
      const permissions = [{ tool: 'mcp__*', action: 'ask' as const }];
      const servers = { s: createFakeServer(tools).entry };
      const mcp = await start(createFolder(), { servers, permissions });
      const door = openDoor(mcp, { approve: fail, onProgress: fail });
      expect(await callOf(door, 'strict')).toContain('APPROVAL_REFUSED');
    });

    test('an adapter subscribes to nothing: a loop that forgets it leaves nothing behind', async () => {
      const mcp = await open();
      const on = vi.spyOn(mcp, 'on');
      await openDoor(mcp).tools();
      mcpMiddleware(mcp);
      expect(on).not.toHaveBeenCalled();
    });
  });

  test('a result of 200 MB is dropped as it comes, is told to the model, and leaves its server usable', async () => {
    const folder = createFolder();
    const mcp = await start(folder, { ...withDefaultStore, servers: { s: faulty() } });
    const files = () =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /result/.test(file));
    for (const openDoor of [everyDoor['the AI SDK'], langchain]) {
      const door = openDoor?.(mcp) ?? expect.fail('no door');
      const text = await callOf(door, 'big', { bytes: 200 * MB });
      expect(text).toMatch(/MESSAGE_TOO_LARGE(.|\n)*Ask for less/);
      expect(text.length).toBeLessThan(10_000);
      expect(await callOf(door, 'echo', { text: 'still here' })).toContain('still here');
    }
    expect(files(), 'no file holds it').toEqual([]);
    // On a busy machine 400 MB take a minute.
  }, 180_000);
});
