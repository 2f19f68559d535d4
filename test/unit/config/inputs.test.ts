// Owns the proof that the user is asked once for an input, that the answer is stored, and that a failure is no answer.

import { describe, expect, test } from 'vitest';
import {
  type Answers,
  type AskInput,
  createInputs,
  type InputQuestion,
  inputName,
} from '../../../src/config/inputs.ts';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import { verifies } from '../../verifies.ts';

function setUp(ask?: AskInput, kept: Record<string, string> = {}) {
  const asked: Parameters<AskInput>[0][] = [];
  const errors: unknown[] = [];
  const memory = new Map(Object.entries(kept));
  const answers: Answers = {
    get: async (name) => memory.get(name),
    set: async (name, value) => void memory.set(name, value),
  };
  const recorded: AskInput | undefined =
    ask &&
    ((request, options) => {
      asked.push(request);
      return ask(request, options);
    });
  const onError = (error: unknown) => void errors.push(error);
  return { asked, errors, memory, answers, onError, answer: createInputs({ answers, ask: recorded, onError }) };
}

const question = (change: Partial<InputQuestion> = {}): InputQuestion => ({
  server: 'files',
  file: '/work/.mcp.json',
  request: { id: 'key', description: 'Your key', password: true },
  usesDefault: true,
  signal: new AbortController().signal,
  ...change,
});
const withDefault = question({ request: { id: 'key', password: false, default: 'main' } });

describe('an input', () => {
  verifies('CFG-21', 'is asked for with all that its file says of it, and remembered', async () => {
    const { asked, memory, answer } = setUp(async () => 'k1');
    expect([await answer(question()), await answer(question({ server: 'other' }))]).toEqual(['k1', 'k1']);
    expect(asked).toEqual([{ server: 'files', id: 'key', description: 'Your key', password: true }]);
    expect([...memory]).toEqual([[inputName({ file: '/work/.mcp.json' }, 'key'), 'k1']]);
  });

  test('that was answered before is not asked for again', async () => {
    const { asked, answer } = setUp(async () => 'new', { [inputName({ file: '/work/.mcp.json' }, 'key')]: 'old' });
    expect(await answer(question())).toBe('old');
    expect(asked).toEqual([]);
  });

  test('is asked for once, however many servers need it at once', async () => {
    const given = createDeferred<string>();
    const { asked, answer } = setUp(() => given.promise);
    const waiting = ['a', 'b', 'c'].map((server) => answer(question({ server })));
    given.resolve('k1');
    expect(await Promise.all(waiting)).toEqual(['k1', 'k1', 'k1']);
    expect(asked.map(({ server }) => server)).toEqual(['a']);
  });

  test('of another file or source, or with another id, is another one', async () => {
    const { asked, memory, answer } = setUp(async ({ server }) => server);
    const questions = [
      question({ server: 'a' }),
      question({ server: 'b', file: '/other/.mcp.json' }),
      question({ server: 'c', file: undefined }),
      question({ server: 'd', request: { id: 'pin', password: false } }),
      question({ server: 'e', file: undefined, provider: 'an editor' }),
      question({ server: 'f', file: undefined, provider: 'another one' }),
    ];
    for (const each of questions) expect(await answer(each)).toBe(each.server);
    expect([asked.length, memory.size]).toEqual([6, 6]);
  });

  test('may be answered with nothing, which is an answer', async () => {
    const { asked, answer } = setUp(async () => '');
    expect([await answer(withDefault), await answer(withDefault)]).toEqual(['', '']);
    expect(asked).toHaveLength(1);
  });

  test('has its default when nobody can or will answer, and is asked for again next time', async () => {
    for (const ask of [undefined, async () => undefined]) {
      const { memory, answer } = setUp(ask);
      expect([await answer(withDefault), await answer(question())]).toEqual(['main', undefined]);
      expect(memory.size).toBe(0);
    }
    const replies = [undefined, 'k1'];
    const { answer } = setUp(async () => replies.shift());
    expect([await answer(question()), await answer(question())]).toEqual([undefined, 'k1']);
  });

  verifies('TRU-06', 'is missing without an answer, whatever default a repository gives it', async () => {
    for (const ask of [undefined, async () => undefined]) {
      const { asked, answer } = setUp(ask);
      expect(await answer({ ...withDefault, usesDefault: false })).toBe(undefined);
      expect(asked.map(({ default: proposed }) => proposed)).toEqual(ask ? ['main'] : []);
    }
  });

  test('is not answered by a host that throws, at once or later, or that answers nonsense', async () => {
    const failure = new Error('no terminal');
    const throwing: AskInput[] = [
      async () => Promise.reject(failure),
      () => {
        throw failure;
      },
    ];
    for (const ask of throwing) {
      const { errors, memory, answer } = setUp(ask);
      expect([await answer(withDefault), await answer(question())]).toEqual(['main', undefined]);
      expect([errors, memory.size]).toEqual([[failure, failure], 0]);
    }
    const { memory, answer } = setUp((async () => 5) as unknown as AskInput);
    expect([await answer(question()), memory.size]).toEqual([undefined, 0]);
  });

  test('whose answer cannot be kept is answered all the same', async () => {
    const failure = new Error('the disk is full');
    const { answers, errors, onError } = setUp();
    const full: Answers = { ...answers, set: () => Promise.reject(failure) };
    const answer = createInputs({ answers: full, ask: async () => 'k1', onError });
    expect([await answer(question()), errors]).toEqual(['k1', [failure]]);
  });
});
