// Owns the tests of what `plexus/ai-sdk` hands to the framework, without its package; `test/frameworks/ai-sdk.test.ts` has the real loop.

import { expect, test } from 'vitest';
import { type AiCallOptions, aiTools } from '../../../src/adapters/ai-sdk.ts';
import { createFakeServer, type FakeTools } from '../../../src/testing/fake-server.ts';
import { createFolder, start } from '../../e2e/runtimes.ts';
import { verifies } from '../../verifies.ts';
import { waitFor } from '../../wait-for.ts';
import { image, mixed, wide } from './wide-schema.ts';

const tools: FakeTools = {
  draw: { description: 'Draws.', inputSchema: wide, run: () => mixed },
  remove: { run: () => 'removed' },
};
const permissions = [
  { tool: 'mcp__*', action: 'allow' as const },
  { tool: 'mcp__s__remove', action: 'ask' as const },
];
const draw = 'mcp__s__draw';
const remove = 'mcp__s__remove';
const call: AiCallOptions = { toolCallId: 'c1', messages: [{ role: 'user', content: 'Do it.' }] };

async function open() {
  const server = createFakeServer(tools);
  return { server, mcp: await start(createFolder(), { servers: { s: server.entry }, permissions }) };
}

verifies('INT-03', 'the AI SDK gets the schema as the server sent it, and the outcome with its images', async () => {
  const { mcp } = await open();
  const { tools: shown, systemPrompt } = aiTools(mcp, { model: { vision: true } });
  const tool = shown[draw] ?? expect.fail('no tool');
  expect(tool).toMatchObject({ type: 'dynamic', description: 'Draws.', inputSchema: { jsonSchema: wide } });
  expect(systemPrompt).toContain('tool');
  const output = await tool.execute({}, call);
  expect(output).toMatchObject({ isError: false, structured: { n: 1 }, meta: { callId: 'c1' } });
  expect(output).not.toHaveProperty('content');
  const { text } = output;
  const kept = JSON.parse(JSON.stringify(output));
  const parts = [
    { type: 'text', text },
    { type: 'image-data', data: image.data, mediaType: 'image/png' },
  ];
  expect(tool.toModelOutput({ output: kept })).toEqual({ type: 'content', value: parts });
  expect(aiTools(mcp).tools[draw]?.toModelOutput({ output })).toEqual({ type: 'text', value: text });
});

verifies('EXT-29', 'the AI SDK keeps with an output what was repaired in the arguments', async () => {
  const { mcp } = await open();
  const tool = aiTools(mcp).tools[draw] ?? expect.fail('no tool');
  const repaired = async (input: object) => (await tool.execute(input, call)).meta.repaired;
  expect(await repaired({ size: '5', tags: 'a' })).toMatchObject([{ path: ['size'] }, { path: ['tags'] }]);
  expect(await repaired({ size: 5, tags: ['a'] })).toBeUndefined();
});

verifies('INT-03', 'tools of the host keep their names, and what changes is followed in the same object', async () => {
  const { mcp, server } = await open();
  const { tools: shown, prepareStep } = aiTools(mcp);
  const own = { ...(shown[draw] ?? expect.fail('no tool')), description: 'of the host' };
  Object.assign(shown, { [draw]: own, mine: own });
  await server.setTools({ draw: { run: () => 'other' }, late: { run: () => 'late' } });
  await waitFor(() => expect(mcp.turn().find('mcp__s__late')).toBeDefined());
  expect(prepareStep()).toEqual({});
  expect(Object.keys(shown).sort()).toEqual(['mcp__s__draw', 'mcp__s__late', 'mine']);
  expect([shown[draw], shown['mine']]).toEqual([own, own]);
});

test('tools that stay keep their places when others come', async () => {
  const { mcp, server } = await open();
  const { tools: shown, prepareStep } = aiTools(mcp);
  shown['mine'] = shown[draw] ?? expect.fail('no tool');
  const before = Object.keys(shown);
  await server.setTools({ ...tools, a_late_one: { run: () => 'late' } });
  await waitFor(() => expect(mcp.turn().find('mcp__s__a_late_one')).toBeDefined());
  const first = shown[draw];
  prepareStep();
  expect(Object.keys(shown)).toEqual([...before, 'mcp__s__a_late_one']);
  expect(shown[draw]).not.toBe(first);
});

test('a person who was asked by the framework is not asked again, and only for the call that was approved', async () => {
  const { mcp } = await open();
  const tool = aiTools(mcp).tools[remove] ?? expect.fail('no tool');
  expect(await tool.needsApproval?.({})).toBe(true);
  expect(await aiTools(mcp).tools[draw]?.needsApproval?.({})).toBe(false);
  expect(await tool.execute({}, call)).toMatchObject({ isError: true });
  const asked = { role: 'assistant', content: [{ type: 'tool-approval-request', approvalId: 'a1', toolCallId: 'c1' }] };
  const answered = (approved: boolean) => ({
    role: 'tool',
    content: [{ type: 'tool-approval-response', approvalId: 'a1', approved }],
  });
  expect(await tool.execute({}, { ...call, messages: [asked, answered(true)] })).toMatchObject({ isError: false });
  for (const messages of [
    [asked, answered(false)],
    [asked, answered(true), ...call.messages],
  ])
    expect(await tool.execute({}, { ...call, messages })).toMatchObject({ isError: true });
  // The call itself is also a part with its id, and an answer may name no question.
  const part = { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1' }] };
  const stray = { role: 'tool', content: [{ type: 'tool-approval-response', approved: true }] };
  const unnamed = { role: 'assistant', content: [{ type: 'tool-approval-request', toolCallId: 'c1' }] };
  const untyped = { role: 'assistant', content: [{ type: 'text', toolCallId: 'c1', approvalId: 'a1' }] };
  for (const messages of [
    [part, stray],
    [unnamed, stray],
    [untyped, answered(true)],
  ])
    expect(await tool.execute({}, { ...call, messages })).toMatchObject({ isError: true });
  const other = { toolCallId: 'c2', messages: [asked, answered(true)] };
  expect(await tool.execute({}, other)).toMatchObject({ isError: true });
});

test('with `approve` the framework asks nobody', async () => {
  const { mcp } = await open();
  const tool = aiTools(mcp, { approve: async () => 'once' }).tools[remove];
  expect(tool).not.toHaveProperty('needsApproval');
  expect(await tool?.execute({}, call)).toMatchObject({ isError: false });
});
