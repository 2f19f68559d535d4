// Owns the proof that a question is answered only by what comes after it was shown. `test/e2e/terminal.test.ts` proves it on a real one.

import { PassThrough } from 'node:stream';
import { afterEach, expect, test, vi } from 'vitest';
import type { TextQuestion } from '../../../src/cli/command.ts';
import { askText, yesOrNo } from '../../../src/cli/terminal.ts';
import { verifies } from '../../verifies.ts';

afterEach(() => {
  vi.useRealTimers();
});

const question: TextQuestion = { question: 'Sure?', isHidden: false, isDecision: true };

function openScreen(input: PassThrough = new PassThrough(), marksPastes = false) {
  const output = new PassThrough();
  let shown = '';
  output.setEncoding('utf8').on('data', (text) => {
    shown += text;
  });
  const screen = { input, output, marksPastes, signal: new AbortController().signal, interrupt: () => undefined };
  return {
    input,
    screen,
    shows: (text: string) => vi.waitFor(() => expect(shown).toContain(text)),
    shown: () => shown,
  };
}

async function type(input: PassThrough, ...keys: readonly string[]) {
  for (const key of keys) {
    input.write(key);
    // Each key is read before the next is pressed.
    await vi.waitFor(() => expect(input.readableLength).toBe(0));
    await new Promise(setImmediate);
  }
}

verifies('PER-08', 'what was typed before a question was shown does not answer it', async () => {
  const { input, screen, shows } = openScreen();
  input.write('y');
  input.write('\r');
  const answer = yesOrNo('Sure?', screen);
  await shows('Sure? [y/N]');
  await type(input, 'n', '\r');
  expect(await answer).toBe(false);
  // Nor does what is left of one question answer the next.
  input.write('y');
  input.write('\r');
  const next = yesOrNo('Really?', screen);
  await shows('Really? [y/N]');
  await type(input, 'y', '\r');
  expect(await next).toBe(true);
});

verifies(
  'PER-08',
  'a pasted block does not answer it, and the terminal is told to mark pastes only meanwhile',
  async () => {
    const { input, screen, shows, shown } = openScreen(new PassThrough(), true);
    const answer = askText(question, screen);
    await shows('\u001b[?2004h');
    await shows('Sure?');
    await type(input, 'a\r');
    await shows('Pasted text does not answer this question.');
    await type(input, 'n', '\r');
    expect(await answer).toBe('n');
    await shows('\u001b[?2004l');
    expect(shown().indexOf('\u001b[?2004l')).toBeGreaterThan(shown().indexOf('Pasted'));
  },
);

verifies('PER-08', 'where a system cannot throw keys away, those of the first moment do not count', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  // No such descriptor: opening its terminal fails, as it does on Windows.
  const { input, screen, shown } = openScreen(Object.assign(new PassThrough(), { isTTY: true, fd: 987_654 }));
  const answer = askText(question, screen);
  while (!shown().includes('Sure?')) await new Promise(setImmediate);
  for (const key of ['y', '\r']) {
    input.write(key);
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  }
  vi.advanceTimersByTime(200);
  for (const key of ['n', '\r']) {
    input.write(key);
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  }
  expect(await answer).toBe('n');
});

test('the end of the input is no answer', async () => {
  const { input, screen, shows } = openScreen();
  const answer = askText(question, screen);
  await shows('Sure?');
  input.end();
  expect(await answer).toBeUndefined();
});

test('a prompt of several lines is pasted with its lines, and comes back with an arrow key', async () => {
  const { input, screen, shows } = openScreen(new PassThrough(), true);
  const ask = (question: string, earlier: readonly string[]) => askText({ question, isHidden: false, earlier }, screen);
  const pasted = ask('1>', []);
  await shows('1> ');
  await type(input, 'S', 'o', ':', '\u001b[200~ one\r\n\r\ntwo\r\n\u001b[201~', '!', '\r');
  const text = 'So: one\n\ntwo!';
  expect(await pasted).toBe(text);
  const again = ask('2>', ['newest', text]);
  await shows('2> ');
  await type(input, '\u001b[A', '\u001b[A', '?', '\r');
  expect(await again).toBe(`${text}?`);
});
