// Owns the public surface of "plexus/anthropic": the tools as Anthropic's messages API takes them with the results of the calls in an
// answer, and the same tools for the SDK's tool runner. Plain objects: nothing of the package `@anthropic-ai/sdk` is imported.

import type { ToolOutcome } from '../model/tool.ts';
import { checkFramework } from './framework-version.ts';
import { createToolList, type RunOptions } from './tool-list.ts';
import {
  type AdapterModel,
  type AdapterOptions,
  createToolset,
  type FrameworkTraits,
  type ImagePart,
  type ShownTool,
  type ToolSource,
} from './toolset.ts';

export type { AdapterModel, AdapterOptions, RunOptions, ToolSource };

/** The fleet as tools of `client.messages` and `client.beta.messages`, for a loop of the host's own. */
export interface MessagesTools {
  /** The tools of the next request. Ask anew for each: servers come up, tools change, and found ones join. */
  tools(): MessagesTool[];
  /** For `system`, behind the host's own text: what the mark around results means, and the instructions of servers. */
  systemPrompt(): string;
  /**
   * Runs the calls in the content of an answer at the same time, and gives what the next message of the user has to hold for them.
   * Never rejects: a tool that fails, is denied or does not exist has a result that says so.
   */
  run(content: readonly MessagesBlock[], options?: RunOptions): Promise<MessagesResult[]>;
}

/** The fleet as tools of `client.beta.messages.toolRunner`, which keeps the tools that it begins with. */
export interface RunnerTools {
  tools(): RunnableTool[];
  /** For `system`, behind the host's own text: what the mark around results means, and the instructions of servers. */
  systemPrompt(): string;
}

export interface MessagesTool {
  name: string;
  description: string;
  input_schema: { type: 'object'; [key: string]: unknown };
}

/** A tool that the runner calls by itself. */
export interface RunnableTool extends MessagesTool {
  /** Throws where the tool failed: the runner tells the model so. */
  run(input: unknown, context?: RunContext): Promise<string | ResultPart[]>;
  parse(input: unknown): unknown;
}

/** The part of the runner's context that names the call. */
export interface RunContext {
  readonly toolUse?: { readonly id: string };
  readonly signal?: AbortSignal | null | undefined;
}

/** One of `message.content`; those that are no `tool_use` are left out. */
export interface MessagesBlock {
  readonly type: string;
  readonly id?: string | null;
  readonly name?: string | null;
  readonly input?: unknown;
}

export interface MessagesResult {
  type: 'tool_result';
  tool_use_id: string;
  content: string | ResultPart[];
  is_error?: true;
}

export type ResultPart =
  | { type: 'text'; text: string }
  | { type: 'image'; source: { type: 'base64'; media_type: ImagePart['mimeType']; data: string } };

/** For `client.messages`. */
export function messagesTools(source: ToolSource, options: AdapterOptions = {}): MessagesTools {
  const toolset = openToolset(source, options);
  const { step, ...list } = createToolList(toolset, messagesTool);
  return {
    ...list,
    run(content, { signal } = {}) {
      const shown = step();
      const calls = content.filter(({ type }) => type === 'tool_use');
      return Promise.all(
        calls.map(async ({ id, name, input }): Promise<MessagesResult> => {
          const callId = id ?? '';
          const outcome = await shown.run({ name: name ?? '', arguments: input, callId, signal });
          return {
            type: 'tool_result',
            tool_use_id: callId,
            // The API refuses the whole request where an image stands in a result that is an error.
            ...(outcome.isError
              ? { content: outcome.text, is_error: true }
              : { content: contentOf(outcome, toolset.imagesOf(outcome)) }),
          };
        }),
      );
    },
  };
}

/** For `client.beta.messages.toolRunner`. */
export function runnerTools(source: ToolSource, options: AdapterOptions = {}): RunnerTools {
  const toolset = openToolset(source, options, { keepsTools: true });
  const { step, ...list } = createToolList(
    toolset,
    (tool): RunnableTool => ({
      ...messagesTool(tool),
      parse: (input) => input,
      async run(input, { toolUse, signal } = {}) {
        const call = { name: tool.name, arguments: input, callId: toolUse?.id, signal: signal ?? undefined };
        const outcome = await step().run(call);
        // A failure is an exception for the runner, which makes `is_error` of it. Only the text of one is passed on.
        if (outcome.isError) throw new Error(outcome.text);
        return contentOf(outcome, toolset.imagesOf(outcome));
      },
    }),
  );
  return list;
}

function openToolset(source: ToolSource, options: AdapterOptions, traits: FrameworkTraits = {}) {
  checkFramework('@anthropic-ai/sdk', ['1']);
  return createToolset(source, options, { provider: 'anthropic', ...traits });
}

const messagesTool = ({ name, description, inputSchema }: ShownTool): MessagesTool => ({
  name,
  description,
  input_schema: inputSchema as MessagesTool['input_schema'],
});

function contentOf({ text }: ToolOutcome, images: readonly ImagePart[]): string | ResultPart[] {
  if (images.length === 0) return text;
  const parts = images.map(({ mimeType, data }): ResultPart => {
    return { type: 'image', source: { type: 'base64', media_type: mimeType, data } };
  });
  return [{ type: 'text', text }, ...parts];
}
