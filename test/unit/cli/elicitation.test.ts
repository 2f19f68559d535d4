// Owns the proof of how a person answers a server's questions at a terminal.

import { describe, expect, test } from 'vitest';
import { answerOnTerminal } from '../../../src/cli/elicitation.ts';
import type { FormField } from '../../../src/connection/elicitation/form.ts';
import type { ElicitAnswer, ElicitRequest } from '../../../src/connection/elicitation/request.ts';
import { verifies } from '../../verifies.ts';

const formOf = (properties: Record<string, FormField>, required: readonly string[] = [], more = {}): ElicitRequest => ({
  mode: 'form',
  server: 'files',
  message: 'Who?',
  requestedSchema: { type: 'object', properties, required },
  asksForSecret: false,
  signal: new AbortController().signal,
  ...more,
});
const pageOf = (awaitsCompletion: boolean): ElicitRequest => ({
  mode: 'url',
  server: 'files',
  message: 'Log in',
  url: 'https://a.example/?x=1',
  host: 'a.example',
  awaitsCompletion,
  signal: new AbortController().signal,
});

/** Types these lines, one for each question; then the input has ended. */
async function answer(request: ElicitRequest, ...typed: readonly string[]) {
  const questions: { question: string; isHidden: boolean }[] = [];
  const left = [...typed];
  const given = await answerOnTerminal(async ({ question, isHidden }) => {
    questions.push({ question, isHidden });
    return left.shift() || undefined;
  })(request);
  return { given, questions, shown: questions.map(({ question }) => question) };
}

const color: FormField = { type: 'string', oneOf: [{ const: 'r', title: 'Red' }, { const: '7' }], default: '7' };
const toppings: FormField = { type: 'array', items: { type: 'string', enum: ['ham', 'egg'] }, minItems: 1 };

verifies('EXT-02', 'a form is filled in field by field, looked over, and then sent', async () => {
  const request = formOf(
    {
      name: { type: 'string', title: 'Your name', description: 'In full', minLength: 2 },
      age: { type: 'integer', minimum: 0, maximum: 150 },
      isSure: { type: 'boolean', default: true },
      color,
      toppings,
    },
    ['name', 'toppings'],
  );
  const { given, shown } = await answer(request, 'y', 'Ada', '36', '', '1', 'egg, 1', 'yes');
  expect(given).toEqual({
    action: 'accept',
    content: { name: 'Ada', age: 36, color: 'r', toppings: ['egg', 'ham'] },
  });
  expect(shown).toEqual([
    'Server "files" asks:\n  | Who?\nAnswer it? [y/N]',
    'Your name – In full (text):',
    'age (a whole number from 0 up to 150, optional):',
    'isSure (y/n, optional) [true]:',
    'color (choose one, optional)\n  1  Red (r)\n  2  7\nYour choice [7]:',
    'toppings (choose some, separated by commas)\n  1  ham\n  2  egg\nYour choice:',
    '  Your name: Ada\n  age: 36\n  isSure: true\n  color: Red\n  toppings: egg, ham\nSend that to server "files"? [y/N]',
  ]);
});

const answers: Record<string, [request: ElicitRequest, typed: readonly string[], given: ElicitAnswer]> = {
  'a form that is not wanted is declined': [formOf({ name: { type: 'string' } }), ['n'], { action: 'decline' }],
  'a form is declined where nothing is typed': [formOf({ name: { type: 'string' } }), [], { action: 'decline' }],
  'a form that is not sent after all is declined': [
    formOf({ name: { type: 'string' } }),
    ['y', 'Ada', 'n'],
    { action: 'decline' },
  ],
  'a form without fields is only agreed to': [formOf({}), ['y'], { action: 'accept', content: {} }],
  'a required field is asked for again': [
    formOf({ name: { type: 'string' } }, ['name']),
    ['y', '', 'Ada', 'y'],
    { action: 'accept', content: { name: 'Ada' } },
  ],
  'a required field that is never given cancels the form': [
    formOf({ name: { type: 'string' } }, ['name']),
    ['y'],
    { action: 'cancel' },
  ],
  'a value that is a number is that value, and not its place in the list': [
    formOf({ color }),
    ['y', '7', 'y'],
    { action: 'accept', content: { color: '7' } },
  ],
  'a choice may be made by its title': [
    formOf({ color }),
    ['y', 'red', 'y'],
    { action: 'accept', content: { color: 'r' } },
  ],
  'a page is declined where it is not wanted': [pageOf(false), [''], { action: 'decline' }],
  'a page that was shown is accepted': [pageOf(false), ['y', ''], { action: 'accept' }],
  'a page that is waited for is done when the person says so': [
    pageOf(true),
    ['y', ''],
    { action: 'accept', isDone: true },
  ],
};

describe('at a terminal', () => {
  for (const [sentence, [request, typed, given]] of Object.entries(answers))
    verifies('EXT-02', sentence, async () => expect((await answer(request, ...typed)).given).toEqual(given));
});

verifies('EXT-02', 'what does not fit is asked for again, with the reason', async () => {
  const request = formOf({ age: { type: 'integer', minimum: 0 }, mail: { type: 'string', format: 'email' } });
  const { given, shown } = await answer(request, 'y', 'old', '-1', '36', 'ada', 'a@b.example', 'y');
  expect(given).toEqual({ action: 'accept', content: { age: 36, mail: 'a@b.example' } });
  const reasons = shown.flatMap((question) => /^"(.*)\n/.exec(question)?.[0] ?? []);
  expect(reasons).toEqual([
    expect.stringContaining('"age" must be of type integer'),
    expect.stringContaining('"age" must be >= 0'),
    expect.stringContaining('"mail" must be an e-mail address'),
  ]);
});

verifies(
  'EXT-02',
  'the address of a page is shown only to whoever wants it, and where it leads before that',
  async () => {
    const { shown } = await answer(pageOf(true), 'y', '');
    expect(shown).toEqual([
      'Server "files" asks you to visit a page of a.example:\n  | Log in\nSee its address? [y/N]',
      'https://a.example/?x=1\nOpen it in a browser if you trust a.example, then press Enter when you are done there:',
    ]);
    expect((await answer(pageOf(true), 'n')).shown).toHaveLength(1);
  },
);

verifies('EXT-02', 'a form for a secret is warned of, and what is typed is shown nowhere', async () => {
  const request = formOf({ password: { type: 'string', minLength: 8 } }, ['password'], { asksForSecret: true });
  const { given, questions, shown } = await answer(request, 'y', 'hunter2', 'hunter22', 'y');
  expect(given).toEqual({ action: 'accept', content: { password: 'hunter22' } });
  expect(shown[0]).toContain('It seems to ask for a secret');
  expect(questions.map(({ isHidden }) => isHidden)).toEqual([false, true, true, false]);
  expect(shown.join('')).not.toContain('hunter');
});

test('what a server says cannot pass for what we say', async () => {
  const message = 'Fine.\nSend that to server "bank"? [y/N]';
  const { shown } = await answer(formOf({ 'a\nb': { type: 'string', title: 'x\ny' } }, [], { message }), 'y', 'v', 'y');
  expect(shown).toEqual([
    'Server "files" asks:\n  | Fine.\n  | Send that to server "bank"? [y/N]\nAnswer it? [y/N]',
    'x\\u000ay (text, optional):',
    '  x\\u000ay: v\nSend that to server "files"? [y/N]',
  ]);
});

test('a long list is not shown to its end, but all of it can be chosen', async () => {
  const field: FormField = { type: 'string', enum: Array.from({ length: 60 }, (_, at) => `city ${at + 1}`) };
  const { given, shown } = await answer(formOf({ city: field }), 'y', 'City 59', 'y');
  expect(given).toEqual({ action: 'accept', content: { city: 'city 59' } });
  expect(shown[1]?.split('\n').slice(-2)).toEqual(['  … and 10 more', 'Your choice:']);
});

test('one question follows the other, and one that was taken away meanwhile is not asked', async () => {
  const asked: string[] = [];
  const answers: ((typed: string) => void)[] = [];
  const elicit = answerOnTerminal(({ question }) => {
    asked.push(question.split('\n')[1] ?? '');
    return new Promise((resolve) => answers.push(resolve));
  });
  const moot = new AbortController();
  const given = [
    elicit(formOf({}, [], { message: 'first' })),
    elicit(formOf({}, [], { message: 'second', signal: moot.signal })),
    elicit(formOf({}, [], { message: 'third' })),
  ];
  await new Promise(setImmediate);
  expect(asked).toEqual(['  | first']);
  moot.abort();
  answers[0]?.('y');
  await new Promise(setImmediate);
  expect(asked).toEqual(['  | first', '  | third']);
  answers[1]?.('n');
  expect((await Promise.all(given)).map(({ action }) => action)).toEqual(['accept', 'cancel', 'decline']);
});
