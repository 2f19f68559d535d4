// Owns the proof that a model can list and read resources: in pages, in order, one line each, and never bytes in its text.

import { describe, expect, test } from 'vitest';
import { createResourceTools } from '../../../src/builtins/resources.ts';
import { Cancellation } from '../../../src/kernel/cancellation.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { BuiltinAnswer } from '../../../src/model/builtin.ts';
import { limits } from '../../../src/model/limits.ts';
import type { SentBlock } from '../../../src/model/tool.ts';
import { verifies } from '../../verifies.ts';
import { codeOf, createHarness, createResourceSession, listOf, resource } from '../catalog/resources/test-servers.ts';

function createTools() {
  const harness = createHarness();
  const [list, read] = createResourceTools({ ...harness, isListed: () => true });
  if (list === undefined || read === undefined) throw new TypeError('there are two');
  const perform = (tool: typeof list, args: JsonObject) => {
    const server = tool.target?.(args);
    const context = { cancellation: new Cancellation(), tools: [], load: () => undefined, introduce: () => '' };
    return tool.perform(args, { ...context, ...(server !== undefined && { server }) });
  };
  return {
    ...harness,
    list,
    read,
    listed: (args: JsonObject = {}) => perform(list, args),
    // As in a real call: the target server is resolved first, and that may fail.
    reading: async (args: JsonObject) => perform(read, args),
  };
}

const textOf = ({ content }: BuiltinAnswer) => content.map((block: SentBlock) => block['text']).join('\n');
const cursorOf = (answer: BuiltinAnswer) => (answer.structured as { nextCursor?: string }).nextCursor;

describe('ListMcpResources', () => {
  verifies('RES-05', 'lists across servers or of one, templates too, in one order', async () => {
    const { connect, listed, list } = createTools();
    const templates = {
      'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'x:{id}', name: 'any' }] }),
    };
    await connect('b', createResourceSession({ 'resources/list': listOf('x:2', 'x:1'), ...templates }));
    const described = resource('y:1', { title: 'One', description: 'The\nfirst', mimeType: 'text/plain', size: 3 });
    await connect('a', createResourceSession({ 'resources/list': () => ({ resources: [described] }) }));
    expect(textOf(await listed())).toBe(
      [
        '4 in all, 4 here:',
        '- y:1 (server "a", "One", text/plain, 3 bytes): The first',
        '- x:1 (server "b", "X:1")',
        '- x:2 (server "b", "X:2")',
        '- template x:{id} (server "b", "any")',
      ].join('\n'),
    );
    expect(textOf(await listed({ server: 'a' }))).toMatch(/^1 in all/);
    expect([list.target?.({ server: 'a' }), list.target?.({})]).toEqual(['a', undefined]);
  });

  verifies('RES-05', 'comes in bounded pages, each thing once', async () => {
    const { connect, listed } = createTools();
    const uris = Array.from({ length: 120 }, (_, n) => `x:${String(n).padStart(3, '0')}`);
    await connect('s', createResourceSession({ 'resources/list': listOf(...uris) }));
    const seen: string[] = [];
    let answer = await listed();
    for (;;) {
      const text = textOf(answer);
      const shown = [...text.matchAll(/^- (\S+)/gm)].map(([, uri = '']) => uri);
      expect(shown.length).toBeLessThanOrEqual(limits.listShown.items);
      seen.push(...shown);
      const cursor = cursorOf(answer);
      if (cursor === undefined) break;
      expect(text).toContain(cursor);
      answer = await listed({ cursor });
    }
    expect(seen).toEqual(uris);
    expect(await codeOf(listed({ cursor: 'made up' }))).toBe('CURSOR_INVALID');
  });

  verifies('RES-05', 'ends a page before it is too long to be shown whole', async () => {
    const { connect, listed } = createTools();
    const uris = Array.from({ length: 40 }, (_, n) => `x:${String(n).padStart(3, '0')}${'é'.repeat(8_000)}`);
    await connect('s', createResourceSession({ 'resources/list': listOf(...uris) }));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const answer = await listed(cursor === undefined ? {} : { cursor });
      expect(textOf(answer).length).toBeLessThan(50_000);
      seen.push(...[...textOf(answer).matchAll(/^- (\S+)/gm)].map(([, uri = '']) => uri));
      cursor = cursorOf(answer);
    } while (cursor !== undefined);
    expect(seen).toEqual(uris);
  });

  verifies('EXT-16', 'gives a program nothing that a model was spared', async () => {
    const { connect, listed } = createTools();
    const hostile = `\u001b[2J\u202eword\u200b ${'word '.repeat(2_000)}`;
    const described = resource('x:1', {
      name: hostile,
      title: hostile,
      description: hostile,
      mimeType: hostile,
      size: 3,
    });
    await connect('s', createResourceSession({ 'resources/list': () => ({ resources: [described] }) }));
    const { structured } = await listed();
    const written = JSON.stringify(structured);
    expect(written.length).toBeLessThan(1_500);
    expect(written).not.toMatch(/\\u001b|\u202e|\u200b/);
    expect(structured).toMatchObject({ resources: [{ address: 'x:1', server: 's', isTemplate: false, size: 3 }] });
  });

  test('explains an empty list', async () => {
    const { connect, listed } = createTools();
    expect(textOf(await listed())).toBe('There are no resources.');
    await connect('s', createResourceSession({ 'resources/list': listOf('x:1') }));
    expect(textOf(await listed({ server: 'other' }))).toBe(
      'There are no resources on server "other". Servers that have some: s.',
    );
  });

  test('gives no server a second line, nor more room than its share', async () => {
    const { connect, listed } = createTools();
    const hostile = resource('x:1', {
      name: 'a\n- fake (server "b")',
      description: `\u001b[2J${'word '.repeat(10_000)}`,
    });
    await connect('s', createResourceSession({ 'resources/list': () => ({ resources: [hostile] }) }));
    const lines = textOf(await listed()).split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[1]?.length).toBeLessThan(500);
    expect(lines[1]).not.toContain('\u001b');
  });
});

describe('ReadMcpResource', () => {
  verifies('RES-06', 'gives a text as it is, and bytes as a block of their own', async () => {
    const { connect, reading, read } = createTools();
    const contents: JsonObject[] = [{ uri: 'x:1', text: '  as\nit\tis ' }];
    await connect(
      's',
      createResourceSession({ 'resources/list': listOf('x:1'), 'resources/read': () => ({ contents }) }),
    );
    expect(read.target?.({ uri: 'x:1' })).toBe('s');
    expect(await reading({ uri: 'x:1' })).toEqual({ content: [{ type: 'text', text: '  as\nit\tis ' }] });
    contents.splice(0, 1, { uri: 'x:1', mimeType: 'image/png', blob: 'aGVsbG8=' });
    expect(await reading({ uri: 'x:1' })).toEqual({
      content: [{ type: 'resource', resource: { uri: 'x:1', mimeType: 'image/png', blob: 'aGVsbG8=' } }],
    });
    contents.push({ uri: 'x:2', text: 'two' }, { uri: 'x:3', blob: '!' });
    expect(textOf(await reading({ uri: 'x:1' }))).toBe(
      ['[part 1 of 2: x:1]', '', '[part 2 of 2: x:2]', 'two', '[part 3 was left out: its bytes are not base64]'].join(
        '\n',
      ),
    );
    contents.splice(0);
    expect(textOf(await reading({ uri: 'x:1' }))).toBe('[the resource is empty]');
  });

  verifies('RES-06', 'is about nobody where it is unclear whose it is: before anybody is asked', async () => {
    const { connect, reading } = createTools();
    expect(await codeOf(reading({ uri: 'x:1' }))).toBe('RESOURCE_UNKNOWN');
    for (const server of ['a', 'b']) await connect(server, createResourceSession({ 'resources/list': listOf('x:1') }));
    expect(await codeOf(reading({ uri: 'x:1' }))).toBe('RESOURCE_AMBIGUOUS');
  });
});
