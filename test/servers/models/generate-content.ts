// Owns Google's generateContent as the scripted model speaks it.

import { isObject, type JsonObject } from '../../../src/kernel/json.ts';
import { argumentsValue, halvesOf, type ModelApi, type NumberedReply } from './script.ts';

export const generateContent: ModelApi = {
  name: 'generate-content',
  serves: (path) => /^\/v1(beta)?\/models\/[^/]+:(stream)?[gG]enerateContent$/.test(path),
  isStream: (path) => path.includes(':streamGenerateContent'),
  refusal: ({ tools }) =>
    Array.isArray(tools) && tools.some(isTooLong)
      ? `tools[0].function_declarations: [FIELD_INVALID] At most ${MOST_DECLARATIONS} function declarations can be specified.`
      : undefined,
  whole: (reply) => chunk(reply, [...textParts(reply.text ?? ''), ...callParts(reply)], true),
  events: (reply) => [
    ...halvesOf(reply.text ?? '').map((half) => ({ data: chunk(reply, textParts(half), false) })),
    { data: chunk(reply, callParts(reply), true) },
  ],
  error: (status, message) => ({ error: { code: status, message, status: statusWords[status] ?? 'INTERNAL' } }),
};

const MOST_DECLARATIONS = 512;

const isTooLong = (tool: unknown) =>
  isObject(tool) &&
  Array.isArray(tool['functionDeclarations']) &&
  tool['functionDeclarations'].length > MOST_DECLARATIONS;

const statusWords: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  429: 'RESOURCE_EXHAUSTED',
};

const textParts = (text: string): readonly JsonObject[] => (text === '' ? [] : [{ text }]);

const callParts = ({ calls }: NumberedReply): readonly JsonObject[] =>
  calls.map((call) => ({ functionCall: { id: call.id, name: call.name, args: argumentsValue(call) } }));

function chunk({ number, model, usage }: NumberedReply, parts: readonly JsonObject[], isLast: boolean): JsonObject {
  return {
    candidates: [{ index: 0, content: { role: 'model', parts }, ...(isLast && { finishReason: 'STOP' }) }],
    ...(isLast && {
      usageMetadata: {
        promptTokenCount: usage.input,
        candidatesTokenCount: usage.output,
        totalTokenCount: usage.input + usage.output,
      },
    }),
    modelVersion: model,
    responseId: `response-${number}`,
  };
}
