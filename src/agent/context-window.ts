// Owns keeping a conversation within its model's window: the oldest results of tools are replaced by a note. Many at once, and for
// good: each change of what was sent before makes the provider read everything behind it anew.

import { estimateTokens } from '../kernel/tokens.ts';
import { limits } from '../model/limits.ts';
import type { ChatMessage, ResultMessage } from './chat-model.ts';

export const REMOVED = '[This result was removed to save space. Call the tool again if you need it.]';

export interface ContextWindow {
  /** The messages to send. The results of the last step always stay. */
  fit(messages: readonly ChatMessage[], otherTokens: number): FittedMessages;
}

export interface FittedMessages {
  readonly messages: readonly ChatMessage[];
  readonly tokens: number;
  /** How many results were removed this time. */
  readonly removed: number;
}

export function createContextWindow(windowTokens: number = limits.context.window): ContextWindow {
  const most = windowTokens * (1 - limits.context.answerShare);
  const notes = new Map<ChatMessage, ChatMessage>();
  /** Counted once for each message: a conversation is read again in every step. It goes with the conversation. */
  const counted = new WeakMap<ChatMessage, number>();
  const tokensOf = (message: ChatMessage): number => {
    const known = counted.get(message);
    if (known !== undefined) return known;
    const tokens = tokensIn(message);
    counted.set(message, tokens);
    return tokens;
  };
  const sentOf = (message: ChatMessage) => notes.get(message) ?? message;
  const sum = (messages: readonly ChatMessage[]) =>
    messages.reduce((total, message) => total + tokensOf(sentOf(message)), 0);
  return {
    fit(messages, otherTokens) {
      let tokens = otherTokens + sum(messages);
      const before = notes.size;
      if (tokens > most) {
        for (const message of removableIn(messages)) {
          if (tokens <= most * limits.context.keptShare) break;
          const note: ResultMessage = { ...message, text: REMOVED, images: [] };
          const saved = tokensOf(message) - tokensOf(note);
          if (notes.has(message) || saved <= 0) continue;
          notes.set(message, note);
          tokens -= saved;
        }
      }
      return { messages: messages.map(sentOf), tokens, removed: notes.size - before };
    },
  };
}

/** The model has to read the results of its last step at least once. */
function removableIn(messages: readonly ChatMessage[]): readonly ResultMessage[] {
  const lastAnswer = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages.slice(0, Math.max(0, lastAnswer)).filter((message) => message.role === 'tool');
}

function tokensIn(message: ChatMessage): number {
  const calls = message.role === 'assistant' ? message.calls : [];
  const images = message.role === 'tool' ? (message.images?.length ?? 0) : 0;
  return (
    estimateTokens(message.text) +
    calls.reduce((sum, call) => sum + estimateTokens(call.name) + estimateTokens(call.arguments), 0) +
    images * limits.context.imageTokens
  );
}
