// Owns the proof that a turn is one moment: what the model saw is what it can call, whatever happens to servers meanwhile.

import { expect } from 'vitest';
import { RuntimeError } from '../../src/model/errors.ts';
import { limits } from '../../src/model/limits.ts';
import { systemPromptFragment } from '../../src/shaping/boundary.ts';
import { createRawServer } from '../e2e/runtimes.ts';
import { verifies } from '../verifies.ts';
import { createTappedServer, start } from './call/journey.ts';
import { endOf } from './call/stages.ts';

const namesOf = (turn: { readonly tools: readonly { readonly name: string }[] }) => turn.tools.map(({ name }) => name);
const oneTool = (name: string) => createTappedServer({ [name]: { run: () => 'done' } });

verifies(['EXT-12', 'NAM-12'], 'a turn keeps its tools and their order while servers come and go', async () => {
  const [early, late] = [oneTool('b'), oneTool('a')];
  late.fails = true;
  const { runtime, clock } = await start({ z: early.entry, a: late.entry });
  const before = runtime.turn();
  late.fails = false;
  await clock.advance(10_000);
  const between = runtime.turn();
  await runtime.disconnect('z');
  expect([before, between, runtime.turn()].map(namesOf)).toEqual([
    ['mcp__z__b'],
    ['mcp__a__a', 'mcp__z__b'],
    ['mcp__a__a'],
  ]);
  expect(new Set([before, between, runtime.turn()].map(({ revision }) => revision)).size).toBe(3);
});

verifies('EXT-12', 'tools of servers and of Plexus itself stand in one order, by name', async () => {
  const capabilities = { tools: {}, resources: {} };
  const { entry } = createRawServer(capabilities, { 'resources/list': () => ({ resources: [] }) });
  const { runtime } = await start({ z: entry, a: oneTool('b').entry });
  const names = namesOf(runtime.turn());
  expect(names).toEqual(['ListMcpResources', 'ReadMcpResource', 'mcp__a__b', 'mcp__z__echo']);
});

verifies('EXT-12', 'turns between which nothing changed share one frozen list', async () => {
  const server = oneTool('read');
  const { runtime, clock, events } = await start({ files: server.entry });
  const before = runtime.turn();
  await server.say({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  await clock.advance(limits.listChangedMs);
  expect(
    server.received.filter(({ method }) => method === 'tools/list'),
    'it was listed again',
  ).toHaveLength(2);
  const after = runtime.turn();
  expect(after.tools).toBe(before.tools);
  expect(after.revision).toBe(before.revision);
  expect(Object.isFrozen(after.tools)).toBe(true);
  expect(events.filter(({ type }) => type === 'catalog.changed')).toHaveLength(1);
});

verifies(
  ['REC-09', 'REC-11'],
  'a server that comes back with the same tools changes nothing that a model reads; meanwhile they are marked stale',
  async () => {
    const server = oneTool('read');
    const { runtime, clock, events } = await start({ files: server.entry });
    const before = runtime.turn();
    await server.crash();
    await clock.advance(0);
    const meanwhile = runtime.turn();
    expect([meanwhile.revision, meanwhile.tools.map(({ freshness }) => freshness)]).toEqual([
      before.revision,
      ['stale'],
    ]);
    await clock.advance(10_000);
    expect(server.starts()).toBe(2);
    expect(runtime.turn()).toMatchObject({ revision: before.revision, tools: before.tools });
    expect(events.filter(({ type }) => type === 'catalog.changed')).toHaveLength(1);
  },
);

verifies(
  'EXT-12',
  'a call resolves against what the model saw, and a server that is gone is no other one',
  async () => {
    const server = oneTool('read');
    const { runtime } = await start({ files: server.entry });
    const turn = runtime.turn();
    await runtime.disconnect('files');
    const failure: unknown = await turn.call('mcp__files__read').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RuntimeError);
    expect((failure as RuntimeError).message).not.toContain('Did you mean files?');
    expect(server.calls).toEqual([]);
  },
);

verifies('EXT-12', 'a call of an older turn reaches a server that came back', async () => {
  const server = oneTool('read');
  const { runtime, clock } = await start({ files: server.entry });
  const turn = runtime.turn();
  await server.crash();
  await clock.advance(0);
  expect(await endOf(turn.call('mcp__files__read'))).toMatchObject({ isError: false });
});

verifies('OUT-11', 'a turn says what the mark around a result means', async () => {
  const { runtime } = await start({});
  expect(runtime.turn()).toMatchObject({ tools: [], systemPrompt: systemPromptFragment() });
});

verifies(
  ['NAM-15', 'EXT-12'],
  'a view shows schemas for its provider, and without one as full as they can be',
  async () => {
    const inputSchema = { type: 'object', properties: { a: { oneOf: [{ const: 1 }, { type: 'string' }] } } };
    const { entry } = createRawServer({ tools: {} }, { 'tools/list': () => ({ tools: [{ name: 'a', inputSchema }] }) });
    const { runtime } = await start({ files: entry });
    const schemaFor = (provider?: 'any' | 'google' | 'openai' | 'anthropic') => {
      const { tools, revision } = runtime.view({ model: provider ? { provider } : {} }).turn();
      return { schema: tools[0]?.inputSchema, reduced: tools[0]?.reduced, revision };
    };
    const full = { schema: inputSchema, reduced: undefined, revision: runtime.turn().revision };
    expect(runtime.turn().tools[0]?.inputSchema).toEqual(inputSchema);
    expect([schemaFor(), schemaFor('openai'), schemaFor('anthropic')]).toEqual([full, full, full]);
    const narrow = {
      ...inputSchema,
      properties: { a: { anyOf: [{ type: 'number', description: 'Always: 1' }, { type: 'string' }] } },
    };
    for (const provider of ['any', 'google'] as const) {
      expect(schemaFor(provider).schema, provider).toEqual(narrow);
      expect(schemaFor(provider).revision, 'other bytes are another revision').not.toBe(full.revision);
    }
    expect(schemaFor(), 'one form never displaces the other').toEqual(full);
  },
);
