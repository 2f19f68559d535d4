// Owns the client's own model as the agent's: a served agent asks for each answer over MCP sampling. Only clients of the older era
// that declare `sampling.tools` can answer so.

import { isObject, type JsonObject, parseJson } from '../../kernel/json.ts';
import { RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { type Peer, ProtocolError, type ServedCall } from '../../serving/door.ts';
import type { ChatAnswer, ChatMessage, ChatModel, RequestedCall } from '../chat-model.ts';

const NAME = 'sampling';

/** The model of the client that a served agent talks to. */
export const samplingModel: ChatModel = {
  name: NAME,
  answer: () => Promise.reject(unreachable('it is the model of a client, and no client has asked')),
};

const unreachable = (reason: string, cause?: unknown) =>
  new RuntimeError('MODEL_UNAVAILABLE', { model: NAME, reason }, { cause });

export function canSample({ era, capabilities }: Peer): boolean {
  const { sampling } = capabilities;
  return era === 'legacy' && isObject(sampling) && isObject(sampling['tools']);
}

/** `current`: the call that the agent works for. */
export function sampledFrom(current: () => ServedCall | undefined): ChatModel {
  return {
    name: NAME,
    async answer({ system, messages, tools }, { signal, onText }) {
      signal.throwIfAborted();
      const call = current();
      if (call === undefined || !canSample(call.peer))
        throw unreachable(
          'it is the model of the client, which must declare `sampling.tools` in a session of the older era',
        );
      const params = {
        messages: messagesOf(messages),
        maxTokens: limits.model.outputTokens,
        ...(system !== '' && { systemPrompt: system }),
        tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
      };
      const answer = answerIn(await askFor(call, params));
      if (answer.text !== '') onText(answer.text);
      return answer;
    },
  };
}

async function askFor(call: ServedCall, params: JsonObject): Promise<JsonObject> {
  try {
    return await call.ask('sampling/createMessage', params);
  } catch (error) {
    if (error instanceof ProtocolError) throw unreachable(error.message, error);
    throw error;
  }
}

/** Results stand together in one message of the user, with nothing else in it. */
function messagesOf(messages: readonly ChatMessage[]): readonly JsonObject[] {
  const sent: { readonly role: string; readonly content: JsonObject[] }[] = [];
  for (const [at, message] of messages.entries()) {
    if (message.role === 'user') sent.push({ role: 'user', content: [textBlock(message.text)] });
    else if (message.role === 'assistant') sent.push({ role: 'assistant', content: blocksOf(message) });
    else if (messages[at - 1]?.role === 'tool') sent.at(-1)?.content.push(resultBlock(message));
    else sent.push({ role: 'user', content: [resultBlock(message)] });
  }
  return sent.filter(({ content }) => content.length > 0);
}

const textBlock = (text: string): JsonObject => ({ type: 'text', text });

const blocksOf = ({ text, calls }: Extract<ChatMessage, { role: 'assistant' }>): JsonObject[] => [
  ...(text === '' ? [] : [textBlock(text)]),
  ...calls.map(({ id, name, arguments: args }) => ({ type: 'tool_use', id, name, input: inputOf(args) })),
];

/** Arguments that are no JSON cannot be told; the call's result says what was wrong. */
function inputOf(args: string): JsonObject {
  const parsed = parseJson(args);
  return parsed.ok && isObject(parsed.value) ? parsed.value : {};
}

const resultBlock = ({ callId, text, isError }: Extract<ChatMessage, { role: 'tool' }>): JsonObject => ({
  ...{ type: 'tool_result', toolUseId: callId, content: [textBlock(text)] },
  ...(isError && { isError }),
});

/** A client's answer has one block or several. */
function answerIn({ content }: JsonObject): ChatAnswer {
  const blocks = [content].flat().filter(isObject);
  const text = blocks.flatMap((block) =>
    block['type'] === 'text' && typeof block['text'] === 'string' ? block['text'] : [],
  );
  const calls = blocks.filter((block) => block['type'] === 'tool_use').map(callOf);
  return { text: text.join(''), calls };
}

function callOf({ id, name, input }: JsonObject): RequestedCall {
  if (typeof id !== 'string' || typeof name !== 'string')
    throw unreachable('its answer calls a tool without saying which');
  return { id, name, arguments: JSON.stringify(input ?? {}) };
}
