// Owns the proof that a prompt is found by its command, filled in and completed as promised, whatever its server answers.

import { describe, expect, test } from 'vitest';
import type { RequestOutcome } from '../../../../src/connection/session.ts';
import { verifies } from '../../../verifies.ts';
import { codeOf, createHarness, createResourceSession, promptsOf, refuse } from './test-servers.ts';

const review = {
  name: 'review',
  description: 'Reviews code',
  arguments: [{ name: 'code', required: true }, { name: 'style' }, { name: 'note' }],
};
const answering = {
  'prompts/list': promptsOf(review, { name: 'hello' }, { name: 'odd name ✨' }),
  'prompts/get': () => ({ description: 'd', messages: [{ role: 'user', content: { type: 'text', text: 'Do it' } }] }),
};
const failureOf = async (work: Promise<unknown>) =>
  work.then(
    () => expect.fail('it was answered'),
    (error: unknown) => error,
  );

async function createPrompted() {
  const harness = createHarness();
  const session = createResourceSession(answering);
  await harness.connect('code', session);
  await harness.connect('other', createResourceSession({ 'prompts/list': promptsOf({ name: 'hello' }) }));
  return { ...harness, session };
}

describe('prompts', () => {
  verifies('RES-03', 'are listed by server and name, each with its own command', async () => {
    const { prompts } = await createPrompted();
    const listed = await prompts.list();
    expect(listed.map(({ server, name }) => `${server} ${name}`)).toEqual([
      ...['code hello', 'code odd name ✨', 'code review', 'other hello'],
    ]);
    expect(listed.map(({ command }) => command)).toEqual([
      ...['/mcp__code__hello', expect.stringMatching(/^\/mcp__code__odd_name_[0-9a-f]+$/), '/mcp__code__review'],
      '/mcp__other__hello',
    ]);
    expect(await prompts.list({ server: 'other' })).toEqual(listed.slice(3));
  });

  verifies('RES-03', 'are filled in by their server, with their arguments', async () => {
    const { prompts, session } = await createPrompted();
    expect(await prompts.get('code', 'review', { code: 'x' })).toEqual({
      server: 'code',
      name: 'review',
      description: 'd',
      problems: [],
      signals: [],
      messages: [{ role: 'user', content: { type: 'text', text: 'Do it' } }],
    });
    expect(session.asked.at(-1)).toEqual({
      method: 'prompts/get',
      params: { name: 'review', arguments: { code: 'x' } },
    });
  });

  test('whose required argument is missing are not even asked for', async () => {
    const { prompts, session } = await createPrompted();
    const before = session.asked.length;
    expect(await failureOf(prompts.get('code', 'review', { style: 'x' }))).toMatchObject({
      code: 'ARGUMENTS_BAD',
      data: { problems: ['"code" is missing'] },
    });
    expect(session.asked.length).toBe(before);
  });

  test('that are refused say why: unknown, wrong arguments, or not offered at all', async () => {
    const harness = createHarness();
    const refusing = { ...answering, 'prompts/get': () => refuse(-32602, 'bad') };
    await harness.connect('s', createResourceSession(refusing));
    expect(await failureOf(harness.prompts.get('s', 'reveiw'))).toMatchObject({
      code: 'PROMPT_UNKNOWN',
      data: { nearest: ['review'], because: 'bad' },
    });
    expect(await codeOf(harness.prompts.get('s', 'review', { code: '' }))).toBe('ARGUMENTS_BAD');
    await harness.connect('t', createResourceSession(answering, { capabilities: { tools: {} } }));
    expect(await codeOf(harness.prompts.get('t', 'review', { code: '' }))).toBe('NOT_OFFERED');
  });

  const broken: Record<string, unknown> = {
    'no object': [],
    'no messages': { messages: { a: 1 } },
    'broken messages': {
      messages: [null, { role: 'system', content: { type: 'text' } }, { role: 'user', content: 'x' }],
    },
  };
  for (const [name, result] of Object.entries(broken))
    test(`answered with ${name} are a broken answer`, async () => {
      const harness = createHarness();
      await harness.connect(
        's',
        createResourceSession({ 'prompts/get': (): RequestOutcome => ({ kind: 'result', result }) }),
      );
      expect(await codeOf(harness.prompts.get('s', 'p'))).toBe('ANSWER_BROKEN');
    });

  test('keep the messages that are sound', async () => {
    const harness = createHarness();
    const messages = [{ role: 'user', content: { type: 'text', text: 'a' } }, 'x'];
    await harness.connect('s', createResourceSession({ 'prompts/get': () => ({ messages }) }));
    expect(await harness.prompts.get('s', 'p')).toMatchObject({
      messages: messages.slice(0, 1),
      problems: ['message 2 was left out: it has no role or no content'],
    });
  });

  verifies('RES-03', 'have their arguments completed by their server', async () => {
    const harness = createHarness();
    const session = createResourceSession({
      'completion/complete': () => ({ completion: { values: ['a', 'b'], hasMore: true } }),
    });
    await harness.connect('s', session);
    const completion = await harness.prompts.complete('s', 'review', { name: 'code', value: 'x' });
    expect(completion).toEqual({ values: ['a', 'b'], hasMore: true });
    expect(session.asked.at(-1)?.params).toEqual({
      ref: { type: 'ref/prompt', name: 'review' },
      argument: { name: 'code', value: 'x' },
    });
  });
});

describe('a line that calls a prompt', () => {
  const lines: Record<string, Record<string, string>> = {
    '': {},
    ' one': { code: 'one' },
    ' one two three': { code: 'one', style: 'two', note: 'three' },
    ' one two and all the rest': { code: 'one', style: 'two', note: 'and all the rest' },
    ' "one word" style="two words" three': { code: 'one word', style: 'two words', note: 'three' },
    " style='it is' don't": { style: 'it is', code: "don't" },
    ' note="a \\"b\\" \\\\ c" x=1': { note: 'a "b" \\ c', code: 'x=1' },
    ' style= "" x': { style: '', code: '', note: 'x' },
    ' code="never closed': { code: 'never closed' },
    ' code=a=b\n style=c': { code: 'a=b', style: 'c' },
    ' "style=quoted" x': { code: 'style=quoted', style: 'x' },
  };
  for (const [rest, args] of Object.entries(lines))
    verifies('RES-03', `takes${rest || ' nothing'} apart into its arguments`, async () => {
      const { prompts } = await createPrompted();
      expect(prompts.find(`/mcp__code__review${rest}`)).toEqual({ server: 'code', name: 'review', args });
    });

  verifies('RES-03', 'with words that no argument takes is told what it takes', async () => {
    const { prompts } = await createPrompted();
    const find = (line: string) => codeOf((async () => prompts.find(line))());
    expect(await find('/mcp__code__hello you')).toBe('ARGUMENTS_BAD');
    expect(await find('/mcp__code__review code=a style=b note=c d')).toBe('ARGUMENTS_BAD');
    expect(await failureOf((async () => prompts.find('/mcp__code__helo'))())).toMatchObject({
      code: 'PROMPT_UNKNOWN',
      data: { nearest: ['/mcp__code__hello'] },
    });
  });

  test('that is none of ours is left alone', async () => {
    const { prompts } = await createPrompted();
    for (const line of ['', 'hello', '/help', 'mcp__code__review', 'say /mcp__code__review'])
      expect(prompts.find(line)).toBeUndefined();
  });
});
