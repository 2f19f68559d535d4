// Owns the tests of how a conversation is kept within its model's window.

import { expect, test } from 'vitest';
import type { ChatMessage } from '../../../src/agent/chat-model.ts';
import { createContextWindow, REMOVED } from '../../../src/agent/context-window.ts';

const result = (callId: string, words = 1_000): ChatMessage => ({
  role: 'tool',
  callId,
  name: 'echo',
  text: 'word '.repeat(words),
  isError: false,
});
const step = (id: string): readonly ChatMessage[] => [
  { role: 'assistant', text: '', calls: [{ id, name: 'echo', arguments: '{}' }] },
  result(id),
];
const prompt: ChatMessage = { role: 'user', text: 'go' };
const textsOf = (messages: readonly ChatMessage[]) =>
  messages.filter(({ role }) => role === 'tool').map(({ text }) => (text === REMOVED ? 'removed' : 'whole'));

test('nothing changes while everything fits', () => {
  const messages = [prompt, ...step('a'), ...step('b')];
  const fitted = createContextWindow(10_000).fit(messages, 100);
  expect(fitted.messages).toEqual(messages);
  expect(fitted.removed).toBe(0);
});

test('the oldest results go first, many at once, so that the next steps change nothing that was sent before', () => {
  const window = createContextWindow(6_000);
  const messages = [prompt, ...['a', 'b', 'c', 'd', 'e'].flatMap(step)];
  const first = window.fit(messages, 200);
  expect(first.removed).toBe(3);
  expect(textsOf(first.messages)).toEqual(['removed', 'removed', 'removed', 'whole', 'whole']);
  const more = [...messages, ...step('f')];
  const second = window.fit(more, 200);
  expect(second.removed).toBe(0);
  expect(second.messages.slice(0, messages.length)).toEqual(first.messages);
});

test('the results of the last step stay, however long they are', () => {
  const messages = [prompt, ...step('a'), ...step('b')];
  const fitted = createContextWindow(500).fit(messages, 0);
  expect(textsOf(fitted.messages)).toEqual(['removed', 'whole']);
});
