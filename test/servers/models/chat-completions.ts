// Owns OpenAI's chat completions as the scripted model speaks them.

import type { JsonObject } from '../../../src/kernel/json.ts';
import { argumentsText, halvesOf, type ModelApi, type NumberedReply, type ServerSentEvent } from './script.ts';

const CREATED = 1_700_000_000;

export const chatCompletions: ModelApi = {
  name: 'chat-completions',
  serves: (path) => path === '/v1/chat/completions',
  isStream: (_path, body) => body['stream'] === true,
  refusal: openAiRefusal,
  whole: (reply) => ({
    ...common(reply),
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: reply.text ?? null,
          refusal: null,
          ...(reply.calls.length > 0 && {
            tool_calls: reply.calls.map((call) => ({
              id: call.id,
              type: 'function',
              function: { name: call.name, arguments: argumentsText(call) },
            })),
          }),
        },
        logprobs: null,
        finish_reason: finishReason(reply),
      },
    ],
    usage: usageOf(reply),
  }),
  events: (reply, body) => {
    const chunk = (delta: object, finish: string | null = null): ServerSentEvent => ({
      data: {
        ...common(reply),
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      },
    });
    const options = body['stream_options'] as { readonly include_usage?: boolean } | undefined;
    const usage = { ...common(reply), object: 'chat.completion.chunk', choices: [], usage: usageOf(reply) };
    return [
      chunk({ role: 'assistant', content: reply.text === undefined ? null : '' }),
      ...halvesOf(reply.text ?? '').map((content) => chunk({ content })),
      ...reply.calls.flatMap((call, index) => [
        chunk({
          tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }],
        }),
        ...halvesOf(argumentsText(call)).map((half) =>
          chunk({ tool_calls: [{ index, function: { arguments: half } }] }),
        ),
      ]),
      chunk({}, finishReason(reply)),
      ...(options?.include_usage === true ? [{ data: usage }] : []),
      { data: '[DONE]' },
    ];
  },
  error: openAiError,
};

/** How many tools both of OpenAI's APIs take in one request. */
const MOST_TOOLS = 128;

export function openAiRefusal({ tools }: JsonObject): string | undefined {
  if (!Array.isArray(tools) || tools.length <= MOST_TOOLS) return undefined;
  return `Invalid 'tools': array too long. Expected an array with maximum length ${MOST_TOOLS}, but got an array with length ${tools.length} instead.`;
}

const common = ({ number, model }: NumberedReply) => ({ id: `chatcmpl-${number}`, created: CREATED, model });

const finishReason = ({ calls }: NumberedReply) => (calls.length > 0 ? 'tool_calls' : 'stop');

const usageOf = ({ usage: { input, output } }: NumberedReply) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
});

export function openAiError(status: number, message: string) {
  const type = status === 429 ? 'rate_limit_error' : status < 500 ? 'invalid_request_error' : 'server_error';
  return { error: { message, type, param: null, code: null } };
}
