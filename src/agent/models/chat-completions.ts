// Owns a model behind OpenAI's chat completions, which most other providers and all local model servers speak too.

import { type Clock, systemClock } from '../../kernel/clock.ts';
import { isObject, type JsonObject, parseJson } from '../../kernel/json.ts';
import type { ChatAnswer, ChatMessage, ChatModel, ChatModelTool, RequestedCall, TokenUsage } from '../chat-model.ts';
import { type AnswerReader, type EventProblem, problemIn, requestAnswer } from './model-http.ts';

export interface ModelOptions extends Pick<ChatModel, 'contextWindow' | 'vision'> {
  /** The model, as its provider names it. */
  readonly model: string;
  /** The address before `/chat/completions` or `/v1/messages`. Default: that of OpenAI or Anthropic. */
  readonly url?: string;
  /** Absent for a model server that asks for none. */
  readonly key?: string;
  /** How long one answer may become. */
  readonly maxOutputTokens?: number;
  readonly clock?: Clock;
}

export const OPENAI_URL = 'https://api.openai.com/v1';

/** Any endpoint that is compatible with OpenAI: OpenAI itself, Ollama, llama.cpp, vLLM, LM Studio and many others. */
export function chatCompletionsModel(options: ModelOptions): ChatModel {
  const { model, url = OPENAI_URL, key, contextWindow, vision, maxOutputTokens, clock = systemClock } = options;
  const endpoint = {
    model,
    url: `${url.replace(/\/+$/, '')}/chat/completions`,
    headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) },
    key,
    clock,
  };
  return {
    name: model,
    provider: 'openai',
    ...(contextWindow !== undefined && { contextWindow }),
    ...(vision !== undefined && { vision }),
    answer({ system, messages, tools }, asked) {
      const body = {
        model,
        messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...messagesOf(messages)],
        ...(tools.length > 0 && { tools: tools.map(toolOf) }),
        ...(maxOutputTokens !== undefined && { max_completion_tokens: maxOutputTokens }),
        stream: true,
        stream_options: { include_usage: true },
      };
      return requestAnswer(endpoint, body, { ...asked, createReader: () => new ChatReader(asked.onText) });
    },
  };
}

const toolOf = ({ name, description, inputSchema }: ChatModelTool) => ({
  type: 'function',
  function: { name, description, parameters: inputSchema },
});

/** Images come in a message of their own behind all results of a step: a result can only hold text there. */
function messagesOf(messages: readonly ChatMessage[]): readonly JsonObject[] {
  return messages.flatMap((message, at): readonly JsonObject[] => {
    if (message.role === 'user') return [{ role: 'user', content: message.text }];
    if (message.role === 'assistant') return assistantOf(message);
    const result = { role: 'tool', tool_call_id: message.callId, content: message.text };
    return messages[at + 1]?.role === 'tool' ? [result] : [result, ...imagesBefore(messages, at)];
  });
}

function assistantOf({ text, calls }: Extract<ChatMessage, { role: 'assistant' }>): readonly JsonObject[] {
  if (text === '' && calls.length === 0) return [];
  const tool_calls = calls.map(({ id, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: sentArguments(args) },
  }));
  return [{ role: 'assistant', content: text === '' ? null : text, ...(calls.length > 0 && { tool_calls }) }];
}

/** Some model servers refuse a conversation that holds arguments which are no JSON; the call's result says what was wrong. */
const sentArguments = (written: string): string => {
  const parsed = parseJson(written);
  return parsed.ok && isObject(parsed.value) ? written : '{}';
};

function imagesBefore(messages: readonly ChatMessage[], last: number): readonly JsonObject[] {
  const first = messages.findLastIndex(({ role }, at) => at <= last && role !== 'tool') + 1;
  const content = messages.slice(first, last + 1).flatMap((message) => {
    if (message.role !== 'tool' || message.images === undefined || message.images.length === 0) return [];
    const urls = message.images.map(({ mimeType, data }) => ({
      type: 'image_url',
      image_url: { url: `data:${mimeType};base64,${data}` },
    }));
    return [{ type: 'text', text: `Images in the result of ${message.name} (${message.callId}):` }, ...urls];
  });
  return content.length === 0 ? [] : [{ role: 'user', content }];
}

interface OpenCall {
  id: string;
  name: string;
  arguments: string;
}

class ChatReader implements AnswerReader {
  readonly #onText: (text: string) => void;
  readonly #calls: OpenCall[] = [];
  /** The call that a part without an id belongs to, by the index that the parts have. */
  readonly #open = new Map<unknown, OpenCall>();
  #text = '';
  #usage: TokenUsage | undefined;
  isComplete = false;

  constructor(onText: (text: string) => void) {
    this.#onText = onText;
  }

  get hasCalls(): boolean {
    return this.#calls.length > 0;
  }

  get hasBegun(): boolean {
    return this.hasCalls || this.#text !== '';
  }

  readEvent(data: JsonObject): EventProblem | undefined {
    return this.#read(data, 'delta');
  }

  readWhole(body: JsonObject): EventProblem | undefined {
    const problem = this.#read(body, 'message');
    if (problem === undefined && !this.isComplete) return { reason: 'its answer holds no message', isPassing: false };
    return problem;
  }

  answer(): ChatAnswer {
    const calls = this.#calls.map((call, at): RequestedCall => ({ ...call, id: call.id || `call-${at + 1}` }));
    return { text: this.#text, calls, ...(this.#usage && { usage: this.#usage }) };
  }

  #read(data: JsonObject, part: 'delta' | 'message'): EventProblem | undefined {
    const problem = problemIn(data);
    if (problem !== '') return { reason: `it reported: ${problem}`, isPassing: true };
    this.#count(data['usage']);
    const [choice] = Array.isArray(data['choices']) ? data['choices'] : [];
    if (!isObject(choice)) return undefined;
    const { [part]: said, finish_reason: finished } = choice;
    if (isObject(said)) this.#take(said);
    if (typeof finished === 'string' || part === 'message') this.isComplete = isObject(said) || this.hasBegun;
    return undefined;
  }

  #take({ content, tool_calls: calls }: JsonObject): void {
    if (typeof content === 'string' && content !== '') {
      this.#text += content;
      this.#onText(content);
    }
    if (Array.isArray(calls)) for (const call of calls) if (isObject(call)) this.#takeCall(call);
  }

  /** Some servers give every call the index 0, and some none at all: an id, or a name of its own, begins a new call. */
  #takeCall({ index, id, function: called }: JsonObject): void {
    const { name, arguments: args } = isObject(called) ? called : {};
    const known = this.#open.get(index);
    const isNew = known === undefined || (typeof id === 'string' && id !== '' && id !== known.id);
    const call = isNew ? { id: typeof id === 'string' ? id : '', name: '', arguments: '' } : known;
    if (isNew) this.#calls.push(call);
    this.#open.set(index, call);
    if (typeof name === 'string' && call.name === '') call.name = name;
    if (typeof args === 'string') call.arguments += args;
    else if (isObject(args)) call.arguments = JSON.stringify(args);
  }

  #count(usage: unknown): void {
    if (!isObject(usage)) return;
    const { prompt_tokens: input, completion_tokens: output } = usage;
    if (typeof input === 'number' && typeof output === 'number')
      this.#usage = { inputTokens: input, outputTokens: output };
  }
}
