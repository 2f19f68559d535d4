// Owns the tests of what all adapters share, with a real runtime and servers in process.

import { describe, expect, test } from 'vitest';
import { createToolset, type ToolSource } from '../../../src/adapters/toolset.ts';
import type { RuntimeOptions, Turn } from '../../../src/index.ts';
import { createFakeServer, type FakeTools } from '../../../src/testing/fake-server.ts';
import { createFolder, start } from '../../e2e/runtimes.ts';
import { waitFor } from '../../wait-for.ts';

const schema = { type: 'object', properties: { a: { type: 'string', pattern: '^(?=x)' } } };
const tools: FakeTools = {
  echo: { inputSchema: schema, run: (args) => JSON.stringify(args) },
  remove: { run: () => 'removed' },
};

async function open(options: RuntimeOptions = {}) {
  const server = createFakeServer(tools);
  const permissions = [
    { tool: 'mcp__*', action: 'allow' as const },
    { tool: 'mcp__s__remove', action: 'ask' as const },
  ];
  const runtime = await start(createFolder(), { servers: { s: server.entry }, permissions, ...options });
  return { server, runtime };
}

const echo = 'mcp__s__echo';
const filtering = {
  type: 'object',
  properties: {
    filter: { type: 'object', properties: { age: { type: 'number' }, names: { type: 'array' } } },
    limit: { type: 'number' },
  },
};
const schemaOf = (source: ToolSource, ...rest: [object?, object?]) =>
  createToolset(source, ...rest)
    .step()
    .tools.find(({ name }) => name === echo)?.inputSchema;

describe('the source', () => {
  test('is a runtime, a view or a turn; a turn takes no options that were its view’s', async () => {
    const { runtime } = await open();
    for (const source of [runtime, runtime.view(), runtime.turn()]) {
      const outcome = await createToolset(source).step().run({ name: echo, arguments: '{"a":"x"}' });
      expect(outcome).toMatchObject({ isError: false, content: [{ text: '{"a":"x"}' }] });
    }
    expect(() => createToolset(runtime.turn(), { tools: [], model: { provider: 'openai' } })).toThrow(
      'A turn cannot take tools, model.provider',
    );
  });

  test('that is a promise is told apart', async () => {
    for (const source of [Promise.resolve(), undefined, null, 'mcp'])
      expect(() => createToolset(source as never)).toThrow('Was `await` forgotten');
  });

  test('gives the same step until the tools change', async () => {
    const { runtime, server } = await open();
    const toolset = createToolset(runtime, {}, { provider: 'openai' });
    const before = toolset.step();
    expect(toolset.step()).toBe(before);
    await server.setTools({ ...tools, late: { run: () => 'late' } });
    await waitFor(() => expect(runtime.turn().find('mcp__s__late')).toBeDefined());
    expect(toolset.step().tools.map(({ name }) => name)).toContain('mcp__s__late');
    expect(toolset.step().revision).not.toBe(before.revision);
    expect(await before.run({ name: 'mcp__s__late' })).toMatchObject({ isError: true });
  });

  test('is asked anew at each call by a framework that keeps its tools', async () => {
    const { runtime, server } = await open();
    const before = createToolset(runtime, {}, { keepsTools: true }).step();
    await server.setTools({ ...tools, late: { run: () => 'late' } });
    await waitFor(() => expect(runtime.turn().find('mcp__s__late')).toBeDefined());
    expect(await before.run({ name: 'mcp__s__late' })).toMatchObject({ content: [{ text: 'late' }] });
  });
});

test('an option that does not exist is refused: a host would believe that it counts', async () => {
  const { runtime } = await open();
  const problem = (options: object) => {
    try {
      createToolset(runtime, options);
      return undefined;
    } catch (error) {
      return String(error);
    }
  };
  expect(problem({ aprove: undefined, model: { vision: undefined } })).toBeUndefined();
  expect(problem({ aprove: async () => 'no' })).toBe(
    'TypeError: An adapter has no option "aprove"; did you mean "approve"?',
  );
  expect(problem({ model: { window: 1 } })).toMatch(/^TypeError: The `model` of an adapter has no option "window"/);
});

test('schemas are made fit for a provider that is known, and are as the server sent them otherwise', async () => {
  const { runtime } = await open();
  expect(schemaOf(runtime)).toEqual(schema);
  expect(schemaOf(runtime, { model: { provider: 'another' } }, { provider: 'openai' })).toEqual(schema);
  expect(schemaOf(runtime, {}, { provider: 'openai' })).not.toEqual(schema);
  expect(schemaOf(runtime, { model: { provider: 'anthropic' } }, { provider: 'openai' })).toEqual(schema);
});

test('of the view’s model, what the options do not name stays', async () => {
  const { runtime } = await open();
  const view = runtime.view({ model: { provider: 'openai' } });
  expect(schemaOf(view, { model: { provider: 'another', contextWindow: 50_000 } })).toEqual(schema);
  expect(
    view
      .child({ model: { vision: true } })
      .turn()
      .find(echo)?.inputSchema,
  ).toEqual(view.turn().find(echo)?.inputSchema);
});

describe('a call', () => {
  test.each([
    ['nothing', undefined, '{}'],
    ['null', null, '{}'],
    ['an empty text', ' ', '{}'],
    ['JSON text', '{"a":"x"}', '{"a":"x"}'],
    ['an object', { a: 'x' }, '{"a":"x"}'],
  ])('takes %s as its arguments', async (_, given, text) => {
    const { runtime } = await open();
    const outcome = await createToolset(runtime).step().run({ name: echo, arguments: given });
    expect(outcome.content).toEqual([{ type: 'text', text }]);
  });

  test('with a text that is no JSON is refused, says why, and is seen in events', async () => {
    const { runtime, server } = await open();
    const outcome = await createToolset(runtime).step().run({ name: echo, arguments: '{"a": "x', callId: 'c1' });
    expect(outcome).toMatchObject({ isError: true, meta: { callId: 'c1', server: 's', tool: 'echo' } });
    expect(outcome.text).toMatch(/ARGUMENTS_BAD(.|\n)*the text is no JSON: Unterminated string/);
    expect(server.calls).toEqual([]);
    expect(runtime.events.filter(({ type }) => type === 'call.finished')).toHaveLength(1);
  });

  test('whose id another running call has gets one of ours', async () => {
    const { runtime, server } = await open();
    const release = server.stall();
    const step = createToolset(runtime).step();
    const both = [1, 2].map(() => step.run({ name: echo, callId: 'call_1' }));
    release();
    const [first, second] = await Promise.all(both);
    expect([first?.isError, second?.isError]).toEqual([false, false]);
    expect(first?.meta.callId).toBe('call_1');
    expect(second?.meta.callId).not.toBe('call_1');
  });

  test('that the framework’s person approved is allowed once, and no other is', async () => {
    const { runtime, server } = await open({ approve: async () => 'no' });
    const step = createToolset(runtime).step();
    const call = { name: 'mcp__s__remove' };
    expect([await step.requiresApproval(call), await step.requiresApproval({ name: echo })]).toEqual([true, false]);
    expect((await step.run({ ...call, isApproved: true })).isError).toBe(false);
    expect((await step.run(call)).text).toContain('APPROVAL_REFUSED');
    expect(server.calls).toHaveLength(1);
  });

  describe('that the framework’s person approved is put to the runtime’s `approve`', () => {
    const remove = 'mcp__s__remove';
    const changed = { ...tools, remove: { description: 'Removes everything.', run: () => 'all removed' } };
    const openAsking = async (more: RuntimeOptions = {}) => {
      const asked: string[] = [];
      const approve: RuntimeOptions['approve'] = async (request) => {
        asked.push(request.kind === 'tool' ? request.name : request.server);
        return 'no';
      };
      return { ...(await open({ approve, ...more })), asked };
    };

    test.each([true, undefined])(
      'where the tool has changed since it was shown, in a list that is kept: %s',
      async (kept) => {
        const { runtime, server, asked } = await openAsking();
        const step = createToolset(runtime, {}, kept ? { keepsTools: kept } : {}).step();
        await server.setTools(changed);
        await waitFor(() => expect(runtime.turn().find(remove)?.description).toContain('everything'));
        expect((await step.run({ name: remove, isApproved: true })).isError).toBe(true);
        expect(server.calls).toEqual([]);
        expect(asked).toEqual([remove]);
      },
    );

    test('where it has changed since the framework asked about it, and not where it only joined late', async () => {
      const permissions = [{ tool: 'mcp__*', action: 'ask' as const }];
      const { runtime, server, asked } = await openAsking({ permissions });
      const step = createToolset(runtime, {}, { keepsTools: true }).step();
      const call = { name: 'mcp__s__late', isApproved: true };
      await server.setTools({ ...tools, late: { run: () => 'late' } });
      await waitFor(() => expect(runtime.turn().find(call.name)).toBeDefined());
      expect(await step.requiresApproval(call)).toBe(true);
      expect((await step.run(call)).isError).toBe(false);
      await server.setTools({ ...tools, late: { description: 'Other.', run: () => 'other' } });
      await waitFor(() => expect(runtime.turn().find(call.name)?.description).toContain('Other'));
      expect(await step.requiresApproval(call)).toBe(true);
      expect((await step.run(call)).text).toContain('APPROVAL_REFUSED');
      expect([asked, server.calls.length]).toEqual([[call.name], 1]);
    });

    test.each([
      ['an empty text', { filter: '' }],
      ['a word', { filter: 'none' }],
      ['an empty list', { filter: [] }],
      ['a null inside a text', { filter: '{"age":null}' }],
      ['a null beside another placeholder', { filter: '', limit: null }],
    ])('where a repair leaves out what the person saw: %s', async (_, args) => {
      const server = createFakeServer({ remove: { inputSchema: filtering, run: () => 'removed' } });
      const { runtime, asked } = await openAsking({ servers: { s: server.entry } });
      const outcome = await createToolset(runtime).step().run({ name: remove, arguments: args, isApproved: true });
      expect(outcome.text).toContain('APPROVAL_REFUSED');
      expect([asked, server.calls]).toEqual([[remove], []]);
    });
  });

  test.each([
    [
      'leaves out a null, at any depth',
      { filter: { age: null, names: ['a'] }, limit: null },
      { filter: { names: ['a'] } },
    ],
    ['spells a value as its schema wants it', { limit: '5', filter: '{"age":1}' }, { limit: 5, filter: { age: 1 } }],
  ])('that the framework’s person approved is made where a repair only %s', async (_, args, sent) => {
    const server = createFakeServer({ remove: { inputSchema: filtering, run: (given) => JSON.stringify(given) } });
    const { runtime } = await open({ servers: { s: server.entry }, approve: async () => 'no' });
    const step = createToolset(runtime).step();
    const outcome = await step.run({ name: 'mcp__s__remove', arguments: args, isApproved: true });
    expect(outcome.content).toEqual([{ type: 'text', text: JSON.stringify(sent) }]);
  });

  test('that the framework’s person approved is refused where the core knows that the tool has changed', async () => {
    const { runtime } = await open();
    const turn = runtime.turn();
    const answers: unknown[] = [];
    // In-process servers have no stored approvals that a change could end: the core's question is put by hand.
    const source: Turn = {
      ...turn,
      call: async (name, args, { approve = async () => expect.fail('nobody is asked') } = {}) => {
        const tool = turn.find(name)?.id ?? expect.fail(name);
        const told = { callId: 'c1', source: '', arguments: {}, annotations: {}, because: '', byRule: true };
        for (const changes of [undefined, ['description: added "all"']])
          answers.push(
            await approve(
              { kind: 'tool', tool, name, ...told, ...(changes && { changes }) },
              { signal: AbortSignal.timeout(1000) },
            ),
          );
        return turn.call(name, args, { approve });
      },
    };
    await createToolset(source).step().run({ name: 'mcp__s__remove', isApproved: true });
    expect(answers).toEqual(['once', 'no']);
  });

  test('is put to `approve`, and only tools that the options name can be called', async () => {
    const { runtime } = await open({ approve: async () => 'no' });
    const { tools: shown, run } = createToolset(runtime, {
      tools: ['mcp__s__remove'],
      approve: async () => 'once',
    }).step();
    expect(shown.map(({ name }) => name)).toEqual(['mcp__s__remove']);
    expect((await run({ name: 'mcp__s__remove' })).isError).toBe(false);
    expect((await run({ name: echo })).text).toContain('TOOL_UNKNOWN');
  });

  test.each(['the adapter’s', 'its own'])('is cancelled by %s signal', async (whose) => {
    const { runtime, server } = await open();
    const release = server.stall();
    const [adapter, own] = [new AbortController(), new AbortController()];
    const running = createToolset(runtime, { signal: adapter.signal }).step().run({ name: echo, signal: own.signal });
    (whose === 'its own' ? own : adapter).abort(new Error('enough'));
    expect((await running).text).toContain('CALL_CANCELLED');
    release();
  });
});

test('images are those that every provider reads, for a model that looks at them', async () => {
  const image = (mimeType: string) => ({ type: 'image', data: 'aGk=', mimeType });
  const server = createFakeServer({ draw: { run: () => ({ content: [image('image/png'), image('image/tiff')] }) } });
  const { runtime } = await open({ servers: { s: server.entry } });
  const seeing = createToolset(runtime, { model: { vision: true } });
  const outcome = await seeing.step().run({ name: 'mcp__s__draw' });
  expect(seeing.imagesOf(outcome)).toEqual([{ data: 'aGk=', mimeType: 'image/png' }]);
  expect(createToolset(runtime).imagesOf(outcome)).toEqual([]);
});
