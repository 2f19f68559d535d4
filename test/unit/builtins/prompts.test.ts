// Owns the proof that a model can list prompts and fill one in.

import { describe, expect, test } from 'vitest';
import { createPromptTools } from '../../../src/builtins/prompts.ts';
import { Cancellation } from '../../../src/kernel/cancellation.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { BuiltinAnswer } from '../../../src/model/builtin.ts';
import type { SentBlock } from '../../../src/model/tool.ts';
import { verifies } from '../../verifies.ts';
import { codeOf, createHarness, createResourceSession, promptsOf } from '../catalog/resources/test-servers.ts';

function createTools() {
  const harness = createHarness();
  const [list, get] = createPromptTools({ ...harness, isListed: () => true });
  if (list === undefined || get === undefined) throw new TypeError('there are two');
  const context = { cancellation: new Cancellation(), tools: [], load: () => undefined, introduce: () => '' };
  return {
    ...harness,
    listed: (args: JsonObject = {}) => list.perform(args, context),
    getting: (args: JsonObject) => get.perform(args, { ...context, server: String(args['server']) }),
    targets: (args: JsonObject) => [list.target?.(args), get.target?.(args)],
  };
}

const textOf = ({ content }: BuiltinAnswer) => content.map((block: SentBlock) => block['text']).join('\n');
const say = (role: string, text: string) => ({ role, content: { type: 'text', text } });

describe('ListMcpPrompts', () => {
  verifies('RES-03', 'lists prompts with what they take, across servers or of one', async () => {
    const { connect, listed, targets } = createTools();
    const review = {
      name: 'review',
      description: 'Reviews',
      arguments: [{ name: 'code', required: true, description: 'it' }],
    };
    await connect('b', createResourceSession({ 'prompts/list': promptsOf(review) }));
    await connect('a', createResourceSession({ 'prompts/list': promptsOf({ name: 'hello', title: 'Say\nhello' }) }));
    expect(textOf(await listed())).toBe(
      [
        '2 in all, 2 here:',
        '- hello (server "a", "Say hello")',
        '- review (server "b"): Reviews',
        '    code (required): it',
      ].join('\n'),
    );
    expect(textOf(await listed({ server: 'none' }))).toContain('Servers that have some: a, b.');
    expect(targets({ server: 'a' })).toEqual(['a', 'a']);
  });

  verifies('RES-03', 'comes in bounded pages, each prompt once', async () => {
    const { connect, listed } = createTools();
    const names = Array.from({ length: 200 }, (_, n) => `p${String(n).padStart(3, '0')}`);
    await connect('s', createResourceSession({ 'prompts/list': promptsOf(...names.map((name) => ({ name }))) }));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const answer = await listed({ server: 's', ...(cursor !== undefined && { cursor }) });
      const shown = [...textOf(answer).matchAll(/^- (\S+)/gm)].map(([, name = '']) => name);
      expect(shown).toHaveLength(50);
      seen.push(...shown);
      cursor = (answer.structured as { nextCursor?: string }).nextCursor;
      expect(textOf(answer).includes('There are more')).toBe(cursor !== undefined);
    } while (cursor !== undefined);
    expect(seen).toEqual(names);
    expect(await codeOf(listed({ cursor: 'made up' }))).toBe('CURSOR_INVALID');
  });

  verifies('EXT-16', 'gives a program nothing that a model was spared', async () => {
    const { connect, listed } = createTools();
    const hostile = `\u001b[2J\u202eword\u200b ${'word '.repeat(2_000)}`;
    const prompt = {
      name: 'p',
      title: hostile,
      description: hostile,
      arguments: [{ name: 'code\u200b', description: hostile, required: true }],
    };
    await connect('s', createResourceSession({ 'prompts/list': promptsOf(prompt) }));
    const { structured } = await listed();
    const written = JSON.stringify(structured);
    expect(written.length).toBeLessThan(1_000);
    expect(written).not.toMatch(/\\u001b|\u202e|\u200b/);
    expect(structured).toMatchObject({ prompts: [{ name: 'p', server: 's', arguments: [{ name: 'code' }] }] });
  });
});

describe('GetMcpPrompt', () => {
  test('gives one message as it is, and says who speaks where there are several', async () => {
    const { connect, getting } = createTools();
    const messages: JsonObject[] = [say('user', 'one\n')];
    const session = createResourceSession({ 'prompts/get': () => ({ messages }) });
    await connect('s', session);
    const call = { server: 's', name: 'p', arguments: { n: 7, yes: true } };
    expect(await getting(call)).toEqual({ content: [{ type: 'text', text: 'one\n' }] });
    expect(session.asked.at(-1)?.params).toEqual({ name: 'p', arguments: { n: '7', yes: 'true' } });
    const image = { type: 'image', data: 'aGVsbG8=', mimeType: 'image/png' };
    messages.push({ role: 'assistant', content: image }, { role: 'nobody' });
    expect(await getting(call)).toEqual({
      content: [
        ...[
          { type: 'text', text: '[user]' },
          { type: 'text', text: 'one\n' },
          { type: 'text', text: '[assistant]' },
          image,
        ],
        { type: 'text', text: '[message 3 was left out: it has no role or no content]' },
      ],
    });
    messages.splice(0);
    expect(textOf(await getting(call))).toBe('[the prompt is empty]');
  });

  test('takes nothing but texts', async () => {
    const { getting } = createTools();
    for (const given of ['x', [], { a: {} }, { a: null }])
      expect(await codeOf(getting({ server: 's', name: 'p', arguments: given }))).toBe('ARGUMENTS_BAD');
  });
});
