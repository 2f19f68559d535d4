// Owns Anthropic's messages as the scripted model speaks them.

import type { JsonObject } from '../../../src/kernel/json.ts';
import { argumentsText, argumentsValue, halvesOf, type ModelApi, type NumberedReply } from './script.ts';

export const messages: ModelApi = {
  name: 'messages',
  serves: (path) => path === '/v1/messages',
  isStream: (_path, body) => body['stream'] === true,
  refusal: (body) =>
    blocksIn(body['messages']).some(isErrorWithOthers)
      ? 'all content must be type "text" if "is_error" is true'
      : undefined,
  whole: (reply) => ({
    ...messageOf(reply),
    content: [
      ...textBlocks(reply),
      ...reply.calls.map((call) => ({
        type: 'tool_use',
        id: call.id,
        name: call.name,
        input: argumentsValue(call),
      })),
    ],
    stop_reason: stopReason(reply),
    usage: { input_tokens: reply.usage.input, output_tokens: reply.usage.output },
  }),
  events: (reply) => {
    const usage = { input_tokens: reply.usage.input, output_tokens: 1 };
    const blocks = [
      ...textBlocks(reply).map(({ text }) => ({
        start: { type: 'text', text: '' },
        deltas: halvesOf(text).map((half) => ({ type: 'text_delta', text: half })),
      })),
      ...reply.calls.map((call) => ({
        start: { type: 'tool_use', id: call.id, name: call.name, input: {} },
        deltas: halvesOf(argumentsText(call)).map((half) => ({ type: 'input_json_delta', partial_json: half })),
      })),
    ];
    const events: readonly JsonObject[] = [
      { type: 'message_start', message: { ...messageOf(reply), content: [], stop_reason: null, usage } },
      { type: 'ping' },
      ...blocks.flatMap(({ start, deltas }, index) => [
        { type: 'content_block_start', index, content_block: start },
        ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]),
      {
        type: 'message_delta',
        delta: { stop_reason: stopReason(reply), stop_sequence: null },
        usage: { output_tokens: reply.usage.output },
      },
      { type: 'message_stop' },
    ];
    return events.map((data) => ({ event: String(data['type']), data }));
  },
  error: (status, message) => ({ type: 'error', error: { type: errorTypes[status] ?? 'api_error', message } }),
};

interface SentBlock {
  readonly type?: string;
  readonly content?: unknown;
  readonly is_error?: boolean;
}

const listOf = (value: unknown): readonly SentBlock[] => (Array.isArray(value) ? value : []);
const blocksIn = (messages: unknown) => listOf(messages).flatMap(({ content }) => listOf(content));
const isErrorWithOthers = ({ type, content, is_error }: SentBlock) =>
  type === 'tool_result' && is_error === true && listOf(content).some((part) => part.type !== 'text');

const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  429: 'rate_limit_error',
};

const messageOf = ({ number, model }: NumberedReply) => ({
  id: `msg_${number}`,
  type: 'message',
  role: 'assistant',
  model,
  stop_sequence: null,
});

const textBlocks = ({ text }: NumberedReply) => (text === undefined ? [] : [{ type: 'text', text }]);

const stopReason = ({ calls }: NumberedReply) => (calls.length > 0 ? 'tool_use' : 'end_turn');
