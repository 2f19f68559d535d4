// Owns a model behind Anthropic's messages.

import { systemClock } from '../../kernel/clock.ts';
import { isObject, type JsonObject, parseJson } from '../../kernel/json.ts';
import { limits } from '../../model/limits.ts';
import type { ChatAnswer, ChatMessage, ChatModel, ChatModelTool, RequestedCall } from '../chat-model.ts';
import type { ModelOptions } from './chat-completions.ts';
import { type AnswerReader, type EventProblem, problemIn, requestAnswer } from './model-http.ts';

export const ANTHROPIC_URL = 'https://api.anthropic.com';
export const ANTHROPIC_VERSION = '2023-06-01';

export function anthropicModel(options: ModelOptions): ChatModel {
  const { model, url = ANTHROPIC_URL, key, contextWindow, vision, clock = systemClock } = options;
  const { maxOutputTokens = limits.model.outputTokens } = options;
  const endpoint = {
    model,
    url: `${url.replace(/\/+$/, '')}/v1/messages`,
    headers: {
      'content-type': 'application/json',
      'anthropic-version': ANTHROPIC_VERSION,
      ...(key && { 'x-api-key': key }),
    },
    key,
    clock,
  };
  return {
    name: model,
    provider: 'anthropic',
    ...(contextWindow !== undefined && { contextWindow }),
    ...(vision !== undefined && { vision }),
    answer({ system, messages, tools }, asked) {
      const body = {
        model,
        max_tokens: maxOutputTokens,
        ...(system !== '' && { system: [{ type: 'text', text: system, ...CACHED }] }),
        messages: withCacheMark(messagesOf(messages)),
        ...(tools.length > 0 && { tools: tools.map(toolOf) }),
        stream: true,
      };
      return requestAnswer(endpoint, body, { ...asked, createReader: () => new MessageReader(asked.onText) });
    },
  };
}

/** Everything up to a block with this mark is kept by the provider, and read again for a tenth of the price. */
const CACHED = { cache_control: { type: 'ephemeral' } };

const toolOf = ({ name, description, inputSchema }: ChatModelTool) => ({
  name,
  description,
  input_schema: inputSchema,
});

interface SentMessage {
  readonly role: 'user' | 'assistant';
  readonly content: readonly JsonObject[];
}

/** Roles alternate there: results and the text behind them are one message of the user. */
function messagesOf(messages: readonly ChatMessage[]): readonly SentMessage[] {
  const sent: { role: SentMessage['role']; content: JsonObject[] }[] = [];
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = blocksOf(message);
    const last = sent.at(-1);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) sent.push({ role, content });
  }
  return sent;
}

function blocksOf(message: ChatMessage): JsonObject[] {
  if (message.role === 'tool') return [resultOf(message)];
  // A text of nothing but white space is refused there.
  const text = message.text.trim() === '' ? [] : [{ type: 'text', text: message.text }];
  if (message.role === 'user') return text;
  const calls = message.calls.map(({ id, name, arguments: args }) => {
    const parsed = parseJson(args);
    return { type: 'tool_use', id, name, input: parsed.ok && isObject(parsed.value) ? parsed.value : {} };
  });
  return [...text, ...calls];
}

function resultOf({ callId, text, isError, images = [] }: Extract<ChatMessage, { role: 'tool' }>): JsonObject {
  // The API refuses the whole request where an image stands in a result that is an error.
  const shown = (isError ? [] : images).map(({ mimeType, data }) => ({
    type: 'image',
    source: { type: 'base64', media_type: mimeType, data },
  }));
  const content = [...(text.trim() === '' ? [] : [{ type: 'text', text }]), ...shown];
  return { type: 'tool_result', tool_use_id: callId, ...(isError && { is_error: true }), content };
}

function withCacheMark(messages: readonly SentMessage[]): readonly SentMessage[] {
  const last = messages.at(-1);
  const block = last?.content.at(-1);
  if (last === undefined || block === undefined) return messages;
  return [...messages.slice(0, -1), { ...last, content: [...last.content.slice(0, -1), { ...block, ...CACHED }] }];
}

class MessageReader implements AnswerReader {
  readonly #onText: (text: string) => void;
  readonly #calls = new Map<unknown, RequestedCall>();
  #text = '';
  #inputTokens = 0;
  #outputTokens = 0;
  isComplete = false;

  constructor(onText: (text: string) => void) {
    this.#onText = onText;
  }

  get hasCalls(): boolean {
    return this.#calls.size > 0;
  }

  get hasBegun(): boolean {
    return this.hasCalls || this.#text !== '';
  }

  readEvent(data: JsonObject): EventProblem | undefined {
    const { type, index, message, content_block: block, delta, usage } = data;
    if (type === 'error') return { reason: `it reported: ${problemIn(data) || 'an error'}`, isPassing: true };
    if (type === 'message_start' && isObject(message)) this.#count(message['usage']);
    if (type === 'content_block_start' && isObject(block)) this.#begin(index, block);
    if (type === 'content_block_delta' && isObject(delta)) this.#extend(index, delta);
    if (type === 'message_delta') this.#count(usage);
    if (type === 'message_stop') this.isComplete = true;
    return undefined;
  }

  readWhole(body: JsonObject): EventProblem | undefined {
    const { content, usage } = body;
    if (!Array.isArray(content)) return { reason: problemIn(body) || 'its answer holds no message', isPassing: false };
    for (const [index, block] of content.entries()) if (isObject(block)) this.#begin(index, block);
    this.#count(usage);
    this.isComplete = true;
    return undefined;
  }

  answer(): ChatAnswer {
    const usage = { inputTokens: this.#inputTokens, outputTokens: this.#outputTokens };
    return { text: this.#text, calls: [...this.#calls.values()], usage };
  }

  #begin(index: unknown, { type, id, name, input, text }: JsonObject): void {
    if (type === 'text' && typeof text === 'string') this.#say(text);
    if (type !== 'tool_use') return;
    const hasInput = isObject(input) && Object.keys(input).length > 0;
    this.#calls.set(index, {
      id: String(id),
      name: String(name),
      arguments: hasInput ? JSON.stringify(input) : '',
    });
  }

  #extend(index: unknown, { type, text, partial_json: part }: JsonObject): void {
    if (type === 'text_delta' && typeof text === 'string') this.#say(text);
    const call = this.#calls.get(index);
    if (type === 'input_json_delta' && typeof part === 'string' && call !== undefined)
      this.#calls.set(index, { ...call, arguments: call.arguments + part });
  }

  #say(text: string): void {
    if (text === '') return;
    this.#text += text;
    this.#onText(text);
  }

  /** What is read from the cache, or written to it, is not part of `input_tokens`. */
  #count(usage: unknown): void {
    if (!isObject(usage)) return;
    const number = (key: string) => (typeof usage[key] === 'number' ? usage[key] : 0);
    const input = number('input_tokens') + number('cache_read_input_tokens') + number('cache_creation_input_tokens');
    this.#inputTokens = Math.max(this.#inputTokens, input);
    this.#outputTokens = Math.max(this.#outputTokens, number('output_tokens'));
  }
}
