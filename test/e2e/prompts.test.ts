// Owns the proof, with real servers of both eras, that prompts are listed, called by their commands, filled in and completed.

import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { everything } from '../servers/everything.ts';
import { verifies } from '../verifies.ts';
import { Sandbox } from './plexus.ts';
import { createFolder, start } from './runtimes.ts';

const program = fileURLToPath(new URL('../servers/offering.mjs', import.meta.url));
const offering = (...flags: readonly string[]) => ({ command: process.execPath, args: [program, ...flags] });
const message = (text: string) => ({ role: 'user', content: { type: 'text', text } });

for (const era of ['legacy', 'modern'])
  describe(`a ${era} server with prompts`, () => {
    const connect = async () => {
      const runtime = await start(createFolder(), { servers: { muse: offering('--era', era) } });
      await runtime.ready();
      return runtime;
    };

    verifies('RES-03', 'has them listed, called by a line, filled in and completed', async () => {
      const { prompts } = await connect();
      expect(await prompts.list()).toMatchObject([
        {
          ...{ server: 'muse', name: 'poem', description: 'Asks for a poem', command: '/mcp__muse__poem' },
          arguments: [
            { name: 'topic', description: 'What it is about', required: true },
            { name: 'tone', required: false },
          ],
        },
      ]);
      const call = prompts.find('/mcp__muse__poem "black cats" tone=dark');
      expect(call).toEqual({ server: 'muse', name: 'poem', args: { topic: 'black cats', tone: 'dark' } });
      const { messages } = await prompts.get('muse', 'poem', call?.args);
      expect(messages).toEqual([message('A dark poem about black cats')]);
      const { values } = await prompts.complete('muse', 'poem', { name: 'topic', value: 'ca' });
      expect(values).toEqual(['cats', 'cars']);
      await expect(prompts.get('muse', 'peom')).rejects.toMatchObject({
        ...{ code: 'PROMPT_UNKNOWN', data: { nearest: ['poem'] } },
      });
    });

    verifies('RES-03', 'has them filled in by a model with its own tools', async () => {
      const runtime = await connect();
      await runtime.prompts.list();
      const call = (name: string, args = {}) => runtime.turn().call(name, args);
      expect((await call('ListMcpPrompts')).text).toContain(
        '- poem (server "muse"): Asks for a poem\n    topic (required)',
      );
      const filled = await call('GetMcpPrompt', { server: 'muse', name: 'poem', arguments: { topic: 'dogs' } });
      expect(filled.text).toMatch(
        /^<mcp_tool_output server="muse" tool="GetMcpPrompt"[^>]*>\nA plain poem about dogs\n<\//,
      );
    });
  });

verifies('RES-03', 'the reference server has an argument completed in the light of another', async () => {
  const { prompts, ready } = await start(createFolder(), { servers: { every: await everything('stdio') } });
  await ready();
  const complete = (department: string) =>
    prompts.complete('every', 'completable-prompt', { name: 'name', value: '' }, { context: { department } });
  const [sales, marketing] = await Promise.all([complete('Sales'), complete('Marketing')]);
  expect(sales.values.length).toBeGreaterThan(0);
  expect(sales.values).not.toEqual(marketing.values);
});

describe('the command line', () => {
  let sandbox: Sandbox;
  beforeAll(() => {
    sandbox = new Sandbox();
    sandbox.write('~/.config/plexus/mcp.json', { mcpServers: { muse: offering() } });
  });
  afterAll(() => sandbox.remove());

  verifies('RES-03', 'lists prompts and fills them in', async () => {
    expect((await sandbox.plexus('prompts')).out).toBe(
      ['SERVER  NAME  ARGUMENTS     DESCRIPTION', 'muse    poem  topic [tone]  Asks for a poem', ''].join('\n'),
    );
    expect((await sandbox.plexus('prompt', 'muse', 'poem', 'topic=big cats')).out).toBe(
      'A plain poem about big cats\n',
    );
    expect(await sandbox.json('prompt', 'muse', 'poem', 'topic=x')).toMatchObject({
      ...{ server: 'muse', name: 'poem', messages: [message('A plain poem about x')] },
    });
    expect((await sandbox.json('prompts', 'muse')).prompts).toMatchObject([{ command: '/mcp__muse__poem' }]);
  });

  test('says what is wrong', async () => {
    const ends = async (...args: readonly string[]) => {
      const { code, err } = await sandbox.plexus(...args);
      return [code, err];
    };
    expect(await ends('prompt', 'muse')).toEqual([1, expect.stringContaining('give a server and a prompt')]);
    expect(await ends('prompt', 'muse', 'poem')).toEqual([1, expect.stringContaining('"topic" is missing')]);
    expect(await ends('prompt', 'muse', 'poem', 'cats')).toEqual([1, expect.stringContaining('write key=value')]);
    expect(await ends('prompt', 'muse', 'peom')).toEqual([2, expect.stringContaining('Did you mean poem?')]);
  });
});
