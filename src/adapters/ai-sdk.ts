// Owns the public surface of "plexus/ai-sdk": the tools as the AI SDK takes them, followed from step to step. Plain objects, as its
// `dynamicTool` and `jsonSchema` make them: nothing of the package `ai` is imported.

import type { JsonObject } from '../kernel/json.ts';
import { checkFramework } from './framework-version.ts';
import {
  type AdapterModel,
  type AdapterOptions,
  createToolset,
  type KeptOutcome,
  keptOutcome,
  type ModelStep,
  type ShownTool,
  type ToolSource,
  type Toolset,
} from './toolset.ts';

export type { AdapterModel, AdapterOptions, KeptOutcome, ToolSource };

/** The fleet for `generateText`, `streamText` or an agent. Take a new one for each run, or one for an agent. */
export interface AiTools {
  /** Always the same object, so that the framework sees what `prepareStep` changes. Add tools of the host's own to it. */
  readonly tools: Record<string, AiTool>;
  /** Brings `tools` up to date before each step: servers come up, tools change, and found ones join. It changes nothing else. */
  readonly prepareStep: () => Record<string, never>;
  /** For the system prompt, behind the host's own text: what the mark around results means, and the instructions of servers. */
  readonly systemPrompt: string;
}

export interface AiTool {
  readonly type: 'dynamic';
  readonly description: string;
  /** The tool's schema as `jsonSchema()` returns it. Its type is one of the framework's own, which has no name here. */
  // biome-ignore lint/suspicious/noExplicitAny: both majors of the framework have their own type for it
  readonly inputSchema: any;
  /** Never rejects: a tool that fails, is denied or does not exist has an output that says so. */
  readonly execute: (input: unknown, options: AiCallOptions) => Promise<KeptOutcome>;
  readonly toModelOutput: (result: { readonly output: KeptOutcome }) => AiModelOutput;
  /** Absent with `approve`: then no person is asked by the framework. */
  readonly needsApproval?: (input: unknown) => Promise<boolean>;
}

export interface AiCallOptions {
  readonly toolCallId: string;
  readonly abortSignal?: AbortSignal | undefined;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

export type AiModelOutput =
  | { type: 'text' | 'error-text'; value: string }
  | {
      type: 'content';
      value: ({ type: 'text'; text: string } | { type: 'image-data'; data: string; mediaType: string })[];
    };

/** Calls that no rule allows or denies are asked about by the framework (`needsApproval`), unless `approve` is given. */
export function aiTools(source: ToolSource, options: AdapterOptions = {}): AiTools {
  checkFramework('ai', ['6', '7']);
  const toolset = createToolset(source, options);
  const tools: Record<string, AiTool> = {};
  let shown: ModelStep | undefined;
  let ours: ReadonlyMap<string, AiTool> = new Map();
  const update = () => {
    const step = toolset.step();
    if (step === shown) return;
    const isOurs = (name: string) => ours.has(name) && tools[name] === ours.get(name);
    // A tool of the host's own keeps its name.
    const free = step.tools.filter(({ name }) => !Object.hasOwn(tools, name) || isOurs(name));
    const asks = options.approve === undefined;
    const next = new Map(free.map((tool) => [tool.name, aiTool(tool, { step, toolset, asks })]));
    for (const name of ours.keys()) if (isOurs(name) && !next.has(name)) delete tools[name];
    // A name that stays keeps its place, so that a provider's prompt cache holds up to the first new tool.
    for (const [name, tool] of next) tools[name] = tool;
    ours = next;
    shown = step;
  };
  update();
  return {
    tools,
    prepareStep: () => {
      update();
      return {};
    },
    get systemPrompt() {
      return toolset.step().systemPrompt;
    },
  };
}

interface ToolContext {
  readonly step: ModelStep;
  readonly toolset: Toolset;
  /** The framework asks people. */
  readonly asks: boolean;
}

function aiTool({ name, description, inputSchema }: ShownTool, { step, toolset, asks }: ToolContext): AiTool {
  return {
    type: 'dynamic',
    description,
    inputSchema: schemaOf(inputSchema),
    execute: async (input, { toolCallId, abortSignal, messages }) => {
      const hasYes = asks && isApproved(toolCallId, messages);
      const call = { name, arguments: input, callId: toolCallId, signal: abortSignal, isApproved: hasYes };
      return keptOutcome(await step.run(call));
    },
    toModelOutput: ({ output }) => modelOutput(output, toolset),
    ...(asks && { needsApproval: (input: unknown) => step.requiresApproval({ name, arguments: input }) }),
  };
}

/** Without `validate`: Plexus checks arguments itself, repairs what it can, and tells the model what is wrong. */
const schemaOf = (jsonSchema: JsonObject) => ({
  [Symbol.for('vercel.ai.schema')]: true,
  _type: undefined,
  jsonSchema,
  validate: undefined,
});

function modelOutput(output: KeptOutcome, toolset: Toolset): AiModelOutput {
  const { text, isError } = output;
  const images = toolset.imagesOf(output);
  if (images.length === 0) return { type: isError ? 'error-text' : 'text', value: text };
  const parts = images.map(({ data, mimeType }) => ({ type: 'image-data' as const, data, mediaType: mimeType }));
  return { type: 'content', value: [{ type: 'text', text }, ...parts] };
}

/** Whether a person said yes to this call: the framework then runs it first, with the answer in the last message. */
function isApproved(toolCallId: string, messages: AiCallOptions['messages']): boolean {
  const isYes = ({ type, approved }: MessagePart) => type === 'tool-approval-response' && approved === true;
  const answers = partsOf(messages.at(-1)).filter(isYes);
  if (answers.length === 0) return false;
  const answered = new Set(answers.map(({ approvalId }) => approvalId));
  const isAnswered = ({ type, toolCallId: asked, approvalId }: MessagePart) =>
    type === 'tool-approval-request' && asked === toolCallId && approvalId !== undefined && answered.has(approvalId);
  return messages.flatMap(partsOf).some(isAnswered);
}

interface MessagePart {
  readonly type?: string;
  readonly toolCallId?: string;
  readonly approvalId?: string;
  readonly approved?: boolean;
}

const partsOf = (message: { readonly content: unknown } | undefined): readonly MessagePart[] =>
  Array.isArray(message?.content) ? message.content : [];
