// Owns reading what a framework sent to the scripted model, alike for all four APIs: tools, results and images.

import { isObject, type JsonObject } from '../../../src/kernel/json.ts';
import type { ApiName, ModelRequest } from './script.ts';

export interface SentTool {
  readonly name: string;
  readonly schema: unknown;
}

export interface SentResult {
  /** The id of the call, or the tool's name where the API has no ids. */
  readonly callId: string;
  readonly text: string;
}

interface Reader {
  readonly tools: (body: JsonObject) => readonly SentTool[];
  readonly results: (body: JsonObject) => readonly SentResult[];
}

export const sentTools = ({ api, body }: ModelRequest): readonly SentTool[] => readers[api].tools(body);

/** The results of all calls in the conversation so far, oldest first. */
export const sentResults = ({ api, body }: ModelRequest): readonly SentResult[] => readers[api].results(body);

/** The base64 of every image, wherever in the conversation it stands. */
export function sentImages({ body }: ModelRequest): readonly string[] {
  const found: string[] = [];
  const visit = (part: unknown): void => {
    if (Array.isArray(part)) part.forEach(visit);
    else if (isObject(part)) for (const [key, value] of Object.entries(part)) look(key, value);
  };
  const look = (key: string, value: unknown): void => {
    if (typeof value !== 'string') visit(value);
    else if (value.startsWith('data:image/')) found.push(value.slice(value.indexOf(',') + 1));
    else if (key === 'data') found.push(value);
  };
  visit(body);
  return found;
}

const list = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);
const object = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** The text of a content that is a text, or a list of parts of which some are texts. */
const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : list(content)
        .flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
        .join('\n');

const readers: Readonly<Record<ApiName, Reader>> = {
  'chat-completions': {
    tools: ({ tools }) =>
      list(tools).map((tool) => ({
        name: String(object(tool['function'])['name']),
        schema: object(tool['function'])['parameters'],
      })),
    results: ({ messages }) =>
      list(messages)
        .filter(({ role }) => role === 'tool')
        .map((message) => ({ callId: String(message['tool_call_id']), text: textOf(message['content']) })),
  },
  responses: {
    tools: ({ tools }) => list(tools).map(({ name, parameters }) => ({ name: String(name), schema: parameters })),
    results: ({ input }) =>
      list(input)
        .filter(({ type }) => type === 'function_call_output')
        .map((item) => ({ callId: String(item['call_id']), text: textOf(item['output']) })),
  },
  messages: {
    tools: ({ tools }) => list(tools).map((tool) => ({ name: String(tool['name']), schema: tool['input_schema'] })),
    results: ({ messages }) =>
      list(messages)
        .flatMap(({ content }) => list(content))
        .filter(({ type }) => type === 'tool_result')
        .map((block) => ({ callId: String(block['tool_use_id']), text: textOf(block['content']) })),
  },
  'generate-content': {
    tools: ({ tools }) =>
      list(tools)
        .flatMap((tool) => list(tool['functionDeclarations']))
        .map((tool) => ({ name: String(tool['name']), schema: tool['parametersJsonSchema'] ?? tool['parameters'] })),
    results: ({ contents }) =>
      list(contents)
        .flatMap(({ parts }) => list(parts))
        .flatMap(({ functionResponse }) => (isObject(functionResponse) ? [functionResponse] : []))
        .map((answer) => ({
          callId: String(answer['id'] ?? answer['name']),
          text: JSON.stringify(answer['response']),
        })),
  },
};
