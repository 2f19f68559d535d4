// Owns the public surface of "plexus/openai": the tools as OpenAI's two APIs take them, and the results of the calls in an answer,
// for a loop of the host's own. Plain objects: nothing of the package `openai` is imported.

import type { ToolOutcome } from '../model/tool.ts';
import { checkFramework } from './framework-version.ts';
import { createToolList, type JsonParameters, type RunOptions } from './tool-list.ts';
import { type AdapterModel, type AdapterOptions, createToolset, type ToolSource } from './toolset.ts';

export type { AdapterModel, AdapterOptions, RunOptions, ToolSource };

/** The fleet as tools of one API. */
export interface OpenAITools<ApiTool, ApiCall, ApiResult> {
  /** The tools of the next request. Ask anew for each: servers come up, tools change, and found ones join. */
  tools(): ApiTool[];
  /** For the system prompt, behind the host's own text: what the mark around results means, and the instructions of servers. */
  systemPrompt(): string;
  /**
   * Runs the calls of an answer at the same time, and gives what the next request has to hold for them. Never rejects: a tool
   * that fails, is denied or does not exist has a result that says so.
   */
  run(calls: readonly ApiCall[] | null | undefined, options?: RunOptions): Promise<ApiResult[]>;
}

export interface ChatTool {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonParameters };
}

/** One of `message.tool_calls`. */
export interface ChatCall {
  readonly id: string;
  readonly function?: { readonly name: string; readonly arguments: string };
  readonly custom?: { readonly name: string; readonly input: string };
}

/** Images come in a message of their own behind all results: a result can only hold text there. */
export type ChatResult =
  | { role: 'tool'; tool_call_id: string; content: string }
  | { role: 'user'; content: ({ type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } })[] };

export interface ResponsesTool {
  readonly type: 'function';
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonParameters;
  /** Strict mode would need schemas that few servers have. */
  readonly strict: false;
}

/** One of `response.output`; those that are no `function_call` are left out. */
export interface ResponsesItem {
  readonly type: string;
  readonly call_id?: string | null;
  readonly name?: string | null;
  readonly arguments?: unknown;
}

export interface ResponsesResult {
  type: 'function_call_output';
  call_id: string;
  output:
    | string
    | ({ type: 'input_text'; text: string } | { type: 'input_image'; image_url: string; detail: 'auto' })[];
}

export type ChatTools = OpenAITools<ChatTool, ChatCall, ChatResult>;
export type ResponsesTools = OpenAITools<ResponsesTool, ResponsesItem, ResponsesResult>;

/** For `client.chat.completions`. */
export function chatTools(source: ToolSource, options: AdapterOptions = {}): ChatTools {
  const { step, imagesOf, ...common } = openTools<ChatTool>(source, options, ({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }));
  return {
    ...common,
    async run(calls, { signal } = {}) {
      const shown = step();
      const outcomes = await Promise.all(
        (calls ?? []).map(async ({ id, function: called, custom }) => {
          const name = called?.name ?? custom?.name ?? '';
          return {
            id,
            name,
            outcome: await shown.run({ name, arguments: called?.arguments ?? custom?.input, callId: id, signal }),
          };
        }),
      );
      const results = outcomes.map(
        ({ id, outcome: { text } }): ChatResult => ({
          role: 'tool',
          tool_call_id: id,
          content: text,
        }),
      );
      const images = outcomes.flatMap(({ id, name, outcome }) => {
        const urls = imagesOf(outcome);
        if (urls.length === 0) return [];
        const text = `Images in the result of ${name} (${id}):`;
        return [
          { type: 'text' as const, text },
          ...urls.map((url) => ({ type: 'image_url' as const, image_url: { url } })),
        ];
      });
      return images.length === 0 ? results : [...results, { role: 'user', content: images }];
    },
  };
}

/** For `client.responses`. */
export function responsesTools(source: ToolSource, options: AdapterOptions = {}): ResponsesTools {
  const { step, imagesOf, ...common } = openTools<ResponsesTool>(source, options, (tool) => ({
    type: 'function',
    ...tool,
    strict: false,
  }));
  return {
    ...common,
    run(items, { signal } = {}) {
      const shown = step();
      const calls = (items ?? []).filter(({ type }) => type === 'function_call');
      return Promise.all(
        calls.map(async ({ call_id, name, arguments: args }): Promise<ResponsesResult> => {
          const callId = call_id ?? '';
          const outcome = await shown.run({ name: name ?? '', arguments: args, callId, signal });
          const { text } = outcome;
          const images = imagesOf(outcome).map((image_url) => ({
            type: 'input_image' as const,
            image_url,
            detail: 'auto' as const,
          }));
          const output = images.length === 0 ? text : [{ type: 'input_text' as const, text }, ...images];
          return { type: 'function_call_output', call_id: callId, output };
        }),
      );
    },
  };
}

/** The part that both APIs share. */
function openTools<ApiTool>(source: ToolSource, options: AdapterOptions, toApi: (tool: NamedTool) => ApiTool) {
  checkFramework('openai', ['6', '7']);
  const toolset = createToolset(source, options, { provider: 'openai' });
  return {
    ...createToolList(toolset, ({ name, description, inputSchema }) =>
      toApi({ name, description, parameters: inputSchema as JsonParameters }),
    ),
    imagesOf: (outcome: ToolOutcome) =>
      toolset.imagesOf(outcome).map(({ mimeType, data }) => `data:${mimeType};base64,${data}`),
  };
}

interface NamedTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonParameters;
}
