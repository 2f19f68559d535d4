// Owns OpenAI's responses as the scripted model speaks them.

import type { JsonObject } from '../../../src/kernel/json.ts';
import { openAiError, openAiRefusal } from './chat-completions.ts';
import { argumentsText, halvesOf, type ModelApi, type NumberedReply, type ServerSentEvent } from './script.ts';

const CREATED = 1_700_000_000;

export const responses: ModelApi = {
  name: 'responses',
  serves: (path) => path === '/v1/responses',
  isStream: (_path, body) => body['stream'] === true,
  refusal: openAiRefusal,
  whole: (reply) => responseOf(reply, 'completed', outputOf(reply)),
  events: (reply) => {
    const output = outputOf(reply);
    const events: readonly JsonObject[] = [
      { type: 'response.created', response: responseOf(reply, 'in_progress', []) },
      { type: 'response.in_progress', response: responseOf(reply, 'in_progress', []) },
      ...output.flatMap(itemEvents),
      { type: 'response.completed', response: responseOf(reply, 'completed', output) },
    ];
    return events.map(
      (event, at): ServerSentEvent => ({ event: String(event['type']), data: { ...event, sequence_number: at } }),
    );
  },
  error: openAiError,
};

type OutputItem =
  | { readonly type: 'message'; readonly id: string; readonly content: readonly [{ readonly text: string }] }
  | { readonly type: 'function_call'; readonly id: string; readonly arguments: string };

function outputOf({ number, text, calls }: NumberedReply): readonly OutputItem[] {
  const message = {
    type: 'message' as const,
    id: `msg_${number}`,
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text: text ?? '', annotations: [], logprobs: [] }] as const,
  };
  const called = calls.map((call, at) => ({
    type: 'function_call' as const,
    id: `fc_${number}_${at}`,
    call_id: call.id,
    name: call.name,
    arguments: argumentsText(call),
    status: 'completed',
  }));
  return text === undefined ? called : [message, ...called];
}

function itemEvents(item: OutputItem, output_index: number): readonly JsonObject[] {
  const place = { item_id: item.id, output_index };
  const empty = { status: 'in_progress', ...(item.type === 'message' ? { content: [] } : { arguments: '' }) };
  const added = { type: 'response.output_item.added', output_index, item: { ...item, ...empty } };
  const done = { type: 'response.output_item.done', output_index, item };
  if (item.type === 'function_call') {
    const name = 'response.function_call_arguments';
    const deltas = halvesOf(item.arguments).map((delta) => ({ type: `${name}.delta`, ...place, delta }));
    return [added, ...deltas, { type: `${name}.done`, ...place, arguments: item.arguments }, done];
  }
  const [part] = item.content;
  const inPart = { ...place, content_index: 0 };
  return [
    added,
    { type: 'response.content_part.added', ...inPart, part: { ...part, text: '' } },
    ...halvesOf(part.text).map((delta) => ({ type: 'response.output_text.delta', ...inPart, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...inPart, text: part.text, logprobs: [] },
    { type: 'response.content_part.done', ...inPart, part },
    done,
  ];
}

function responseOf({ number, model, usage }: NumberedReply, status: string, output: readonly OutputItem[]) {
  const { input, output: written } = usage;
  return {
    id: `resp_${number}`,
    object: 'response',
    created_at: CREATED,
    status,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model,
    output,
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    usage:
      status === 'completed'
        ? {
            input_tokens: input,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens: written,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: input + written,
          }
        : null,
  };
}
