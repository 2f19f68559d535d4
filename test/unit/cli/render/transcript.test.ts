// Owns the proof of how a conversation is drawn: text as it comes, calls and results folded to a line each, mishaps told.

import { expect, test } from 'vitest';
import type { RunEvent } from '../../../../src/agent/agent.ts';
import { plain } from '../../../../src/cli/render/text.ts';
import { createTranscript } from '../../../../src/cli/render/transcript.ts';
import { createDeferred } from '../../../../src/kernel/deferred.ts';

/** What a terminal shows: both streams together. */
function open(toTerminal = true) {
  let screen = '';
  const transcript = createTranscript({
    print: (text) => {
      screen += text(plain);
    },
    warn: (text) => {
      screen += `${text({ ...plain, width: 60 })}\n`;
    },
    toTerminal,
  });
  const show = (...events: readonly RunEvent[]) => {
    for (const event of events) transcript.show({ ...event, conversationId: 'c' });
  };
  return { transcript, show, screen: () => screen };
}

function draw(events: readonly RunEvent[], toTerminal = true) {
  const { transcript, show, screen } = open(toTerminal);
  show(...events);
  transcript.endLine();
  return { screen: screen(), calls: transcript.calls };
}

const requested = (callId: string, args = '{}'): RunEvent => ({
  ...{ type: 'call.requested', callId, name: 'mcp__s__t', arguments: args },
});
const answered = (callId: string, text: string, more = {}): RunEvent => ({
  ...{ type: 'call.answered', callId, name: 'mcp__s__t', text, isError: false, tookMs: 10 },
  ...more,
});

test('text comes piece by piece, and a line of its own follows it', () => {
  const { screen } = draw([
    { type: 'text.received', text: 'Let m' },
    { type: 'text.received', text: 'e see.' },
    requested('a'),
    { type: 'text.received', text: 'Done.\n' },
  ]);
  expect(screen).toBe('Let me see.\n[1] mcp__s__t {}\nDone.\n');
});

test('a character that comes in two pieces is one', () => {
  const pieces = ['Hi \ud83d', '\udc69', '! \ud83d'];
  const events = pieces.map((text): RunEvent => ({ type: 'text.received', text }));
  for (const toTerminal of [true, false]) expect(draw(events, toTerminal).screen).toMatch(/^Hi 👩! /u);
});

test('parallel calls are told apart, and what is long is folded to one line', () => {
  const { screen, calls } = draw([
    requested('a', `{"text":\n"${'x'.repeat(100)}"}`),
    requested('b'),
    answered('b', '<mcp_tool_output server="s" nonce="1">\n\none\ntwo\n</mcp_tool_output nonce="1">', {
      tookMs: 1_500,
    }),
    answered('a', 'server: s\nwhat happened: It went away.\nnext step: none', { isError: true }),
    answered('b', ''),
  ]);
  expect(screen.split('\n')).toEqual([
    `[1] mcp__s__t {"text": "${'x'.repeat(35)}…`,
    '[2] mcp__s__t {}',
    '[2] done after 1.5 s: (2 lines) one',
    '[1] failed: It went away.',
    '[2] done: nothing',
    '',
  ]);
  expect(calls.map(({ text }) => text?.split('\n')[0])).toEqual(['server: s', '']);
});

test('a question stands on lines of its own, and what happens meanwhile is told behind the last one', async () => {
  const { transcript, show, screen } = open();
  const answers = [createDeferred<string>(), createDeferred<string>()];
  const ask = transcript.beside(async (question: number) => {
    transcript.say(() => `${question}?`);
    return answers[question]?.promise;
  });
  show({ type: 'text.received', text: 'Let me.' });
  const asked = [ask(0), ask(1)];
  show(answered('a', 'done meanwhile'));
  answers[0]?.resolve('yes');
  await asked[0];
  expect(screen()).toBe('Let me.\n0?\n1?\n');
  answers[1]?.resolve('no');
  expect([await asked[0], await asked[1], screen()]).toEqual([
    ...['yes', 'no', 'Let me.\n0?\n1?\n[1] done: done meanwhile\n'],
  ]);
  show(answered('a', 'later'));
  expect(screen()).toMatch(/later\n$/);
});

test('the time in which a person reads a question is not the time of the tool', async () => {
  const { transcript, show, screen } = open();
  show(requested('a'));
  await transcript.beside(async () => 'yes')();
  show(requested('b'), answered('a', 'one', { tookMs: 40_000 }), answered('b', 'two', { tookMs: 2_000 }));
  expect(screen()).toContain('[1] done: one\n[2] done after 2.0 s: two\n');
});

test('control characters of a model or a server do not reach a terminal', () => {
  const { screen } = draw([
    { type: 'text.received', text: 'a\u001b[2Jb' },
    requested('a', '{"x":"\u001b]0;title\u0007"}'),
    answered('a', '\u001b[31mred'),
  ]);
  expect(screen).not.toContain('\u001b');
  expect(draw([{ type: 'text.received', text: 'a\u001bb' }], false).screen).toBe('a\u001bb\n');
});

test('every mishap is told', () => {
  const { screen } = draw([
    { type: 'step.interrupted', reason: 'it hung up', isRepeated: true },
    { type: 'model.delayed', reason: 'HTTP 429', waitMs: 1_500 },
    { type: 'context.reduced', results: 3 },
    { type: 'conversation.unsaved', reason: 'The disk is full.' },
    { type: 'step.finished', step: 1, calls: 0, usage: { inputTokens: 1, outputTokens: 1 } },
  ]);
  expect(screen.split('\n')).toEqual([
    'The answer broke off: it hung up. Asking again.',
    'The model is asked again in 2 s: HTTP 429.',
    "Old results were taken out, because the model's window is full: 3.",
    'The conversation cannot be kept: The disk is full.',
    '',
  ]);
});
