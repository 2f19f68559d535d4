// Owns the tests of the shapes of `plexus/openai-agents` without its package; `test/frameworks/openai-agents.test.ts` has the real loops.

import { describe, expect, test } from 'vitest';
import { agentsServer, agentsTools } from '../../../src/adapters/openai-agents.ts';
import type { RuntimeOptions } from '../../../src/index.ts';
import { createFakeServer, type FakeTools } from '../../../src/testing/fake-server.ts';
import { createFolder, start } from '../../e2e/runtimes.ts';
import { verifies } from '../../verifies.ts';
import { waitFor } from '../../wait-for.ts';
import { manyTools } from './many-tools.ts';

const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' };
const tools: FakeTools = {
  draw: { run: () => ({ content: [image] }) },
  'a-b': { run: () => 'with a dash' },
  a_b: { run: () => 'with a line' },
};

const open = async (more: RuntimeOptions = {}, others: RuntimeOptions['servers'] = {}) => {
  const server = createFakeServer(tools);
  const permissions = [
    { tool: 'mcp__*', action: 'allow' as const },
    { tool: 'mcp__s__draw', action: 'ask' as const },
  ];
  const runtime = await start(createFolder(), {
    servers: { s: server.entry, ...others },
    permissions,
    approve: async () => 'no',
    ...more,
  });
  return { server, runtime };
};
const vision = { model: { vision: true } };

describe('an MCP server', () => {
  test('has names that stay different when the SDK rewrites them, and calls the right tool', async () => {
    const { runtime } = await open();
    const mcp = agentsServer(runtime);
    const names = (await mcp.listTools()).map(({ name }) => name);
    const dashed = expect.stringMatching(/^mcp__s__a_b_[0-9a-f]{8,}$/);
    expect(names.toSorted()).toEqual(['mcp__s__a_b', dashed, 'mcp__s__draw']);
    const texts = await Promise.all(names.map(async (name) => (await mcp.callTool(name, {}))[0]));
    const said = texts.map((part) => (part?.type === 'text' ? /with a (dash|line)/.exec(part.text)?.[1] : undefined));
    expect(names.map((name, at) => [name, said[at]])).toEqual(
      expect.arrayContaining([
        ['mcp__s__a_b', 'line'],
        [dashed, 'dash'],
      ]),
    );
  });

  verifies('EXT-30', 'hands on the `_meta` of a call', async () => {
    const { runtime, server } = await open();
    const mcp = agentsServer(runtime);
    await mcp.callTool('mcp__s__a_b', {}, { trace: 't1' });
    await mcp.callTool('mcp__s__a_b', {}, null);
    expect(server.calls.map(({ meta }) => meta?.['trace'])).toEqual(['t1', undefined]);
  });

  test('keeps its list until the tools change, and hands on images and failures', async () => {
    const { runtime, server } = await open();
    const mcp = agentsServer(runtime, { ...vision, approve: async () => 'once' });
    await mcp.connect();
    const [first] = await mcp.listTools();
    expect((await mcp.listTools())[0]).toBe(first);
    await server.setTools({ ...tools, late: { run: () => 'late' } });
    await waitFor(() => expect(runtime.turn().find('mcp__s__late')).toBeDefined());
    expect((await mcp.listTools()).map(({ name }) => name)).toContain('mcp__s__late');
    const drawn = await mcp.callTool('mcp__s__draw', null);
    expect([[...drawn], drawn.isError]).toEqual([
      [
        { type: 'text', text: expect.any(String) },
        { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      ],
      false,
    ]);
    expect((await mcp.callTool('other', {})).isError).toBe(true);
    await mcp.invalidateToolsCache();
    await mcp.close();
    expect([mcp.name, mcp.cacheToolsList, (await mcp.callTool('mcp__s__late', {})).isError]).toEqual([
      'plexus',
      false,
      false,
    ]);
  });
});

describe('function tools', () => {
  const toolOf = async (name: string) => {
    const { runtime, server } = await open();
    const tool = agentsTools(runtime, vision)
      .tools()
      .find((each) => each.name === name);
    return { tool: tool ?? expect.fail(name), server };
  };
  const said = (answer: boolean | undefined) => ({ isToolApproved: () => answer });
  const details = { toolCall: { callId: 'c1' } };

  test('ask where a rule asks, and take the approval of the run for the one call', async () => {
    const { tool, server } = await toolOf('mcp__s__draw');
    expect(await tool.needsApproval({}, {})).toBe(true);
    for (const context of [said(undefined), said(false), undefined])
      expect(await tool.invoke(context, '{}', details)).toContain('APPROVAL_REFUSED');
    expect(server.calls).toEqual([]);
    expect(await tool.invoke(said(true), '{}', details)).toEqual([
      { type: 'text', text: expect.any(String) },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
    ]);
    expect(server.calls).toHaveLength(1);
  });

  test('do not ask where a rule allows, and keep their names', async () => {
    const { tool } = await toolOf('mcp__s__a-b');
    expect([await tool.needsApproval({}, {}), await tool.isEnabled()]).toEqual([false, true]);
    expect(await tool.invoke(said(undefined), '', details)).toContain('with a dash');
  });

  test('take no yes to every `mcp_call`: it would be one to every tool', async () => {
    const asked: string[] = [];
    const approve: RuntimeOptions['approve'] = async ({ kind }) => {
      asked.push(kind);
      return 'no';
    };
    const { runtime, server } = await open({ approve }, { many: manyTools() });
    const tool = agentsTools(runtime)
      .tools()
      .find(({ name }) => name === 'mcp_call');
    const input = JSON.stringify({ name: 'mcp__s__draw', arguments: {} });
    const invoke = (run: object) => (tool ?? expect.fail('no mcp_call')).invoke(run, input, details);
    expect(await invoke(said(true))).toContain('APPROVAL_REFUSED');
    expect([asked, server.calls]).toEqual([['tool'], []]);
    const exact = { isToolApproved: ({ callId }: { callId: string }) => callId === 'c1' || undefined };
    expect(await invoke(exact)).not.toContain('APPROVAL_REFUSED');
    expect([asked, server.calls.length]).toEqual([['tool'], 1]);
  });
});
