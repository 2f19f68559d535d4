// Owns the public surface of "plexus/langchain": the tools as LangChain's own class, a fixed list of them for a graph, and a
// middleware for `createAgent` that follows the fleet from step to step. Of LangChain only `@langchain/core` is imported.

import { ToolMessage } from '@langchain/core/messages';
import { StructuredTool } from '@langchain/core/tools';
import type { JsonObject } from '../kernel/json.ts';
import { checkFramework } from './framework-version.ts';
import {
  type AdapterModel,
  type AdapterOptions,
  createToolset,
  type KeptOutcome,
  keptOutcome,
  type ModelStep,
  type ToolSource,
  type Toolset,
} from './toolset.ts';

export type { AdapterModel, AdapterOptions, KeptOutcome, ToolSource };

/** The fleet for a graph, an agent or a loop that keeps the tools it began with. */
export interface LangChainTools {
  /** In a large fleet the model finds the others with `mcp_search`, and calls them with `mcp_call`. */
  readonly tools: McpTool[];
  /** For the system prompt, behind the host's own text: what the mark around results means, and the instructions of servers. */
  readonly systemPrompt: string;
}

/** For `middleware` of `createAgent`: before each step of the model it brings the tools and the system prompt up to date. */
export interface McpMiddleware {
  name: string;
  // biome-ignore lint/suspicious/noExplicitAny: the types of requests belong to the package `langchain`, which is not needed here
  wrapModelCall(request: any, handler: (request: any) => any): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  wrapToolCall(request: any, handler: (request: any) => any): Promise<any>;
}

/** Content of a message: a text, or a text with images. */
export type McpContent =
  | string
  | ({ type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } })[];

export function langchainTools(source: ToolSource, options: AdapterOptions = {}): LangChainTools {
  const toolset = open(source, options, { keepsTools: true });
  const step = toolset.step();
  return { tools: toolsOf(step, toolset), systemPrompt: step.systemPrompt };
}

/** Servers come up, tools change, and found ones join. Also tells the model of a tool that does not exist, and of arguments that are no JSON. */
export function mcpMiddleware(source: ToolSource, options: AdapterOptions = {}): McpMiddleware {
  const toolset = open(source, options);
  let shown: { readonly step: ModelStep; readonly tools: readonly McpTool[] } | undefined;
  const latest = () => {
    const step = toolset.step();
    if (shown?.step !== step) shown = { step, tools: toolsOf(step, toolset) };
    return shown;
  };
  return {
    name: 'plexus',
    async wrapModelCall(request: ModelRequest, handler) {
      const { step, tools } = latest();
      const own = new Set(request.tools?.map(({ name }) => name));
      const shownTools = [...(request.tools ?? []), ...tools.filter(({ name }) => !own.has(name))];
      const prompt = withSystemPrompt(request, step.systemPrompt);
      const message: ModelMessage = await handler({ ...request, ...prompt, tools: shownTools });
      keepInvalidCalls(message, own);
      return message;
    },
    wrapToolCall(request: ToolRequest, handler) {
      if (request.tool !== undefined) return handler(request);
      const { name, args } = request.toolCall;
      const { step, tools } = shown ?? latest();
      const tool = tools.find((each) => each.name === name) ?? new McpTool({ name }, { step, toolset });
      const text = args?.[NO_JSON];
      return handler({
        ...request,
        tool,
        ...(text !== undefined && { toolCall: { ...request.toolCall, args: text } }),
      });
    },
  };
}

function open(...[source, options, traits]: Parameters<typeof createToolset>): Toolset {
  checkFramework('@langchain/core', ['1.2']);
  return createToolset(source, options, traits);
}

const toolsOf = (step: ModelStep, toolset: Toolset) => step.tools.map((tool) => new McpTool(tool, { step, toolset }));

interface ToolContext {
  readonly step: ModelStep;
  readonly toolset: Toolset;
}

interface NamedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: JsonObject;
}

/** The configuration that LangChain hands to a tool beside its arguments. */
interface ToolConfig {
  readonly signal?: AbortSignal;
  readonly toolCall?: { readonly id?: string };
}

const anything: JsonObject = {};

/** A tool of the fleet. Its message has the outcome as `artifact`; it never rejects. */
export class McpTool extends StructuredTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  // biome-ignore lint/suspicious/noExplicitAny: LangChain derives the type of the arguments from it, which nobody knows here
  readonly schema: any;
  private readonly context: ToolContext;
  private readonly unchecked: this;

  constructor({ name, description = '', inputSchema = anything }: NamedTool, context: ToolContext) {
    super({ responseFormat: 'content_and_artifact' });
    this.name = name;
    this.description = description;
    this.schema = inputSchema;
    this.context = context;
    this.unchecked = Object.create(this, { schema: { value: anything } });
  }

  /** Without LangChain's check of the arguments: Plexus has its own, repairs what it can, and tells the model what is wrong. */
  override call(...args: Parameters<StructuredTool['call']>) {
    return super.call.apply(this.unchecked, args);
  }

  protected override async _call(
    sent: unknown,
    _manager: unknown,
    { signal, toolCall }: ToolConfig = {},
  ): Promise<[McpContent | ToolMessage, KeptOutcome]> {
    const { step, toolset } = this.context;
    const { name } = this;
    const callId = toolCall?.id;
    const artifact = keptOutcome(await step.run({ name, arguments: sent, callId, signal }));
    const content = contentOf(artifact, toolset);
    if (!artifact.isError || callId === undefined) return [content, artifact];
    return [new ToolMessage({ status: 'error', content, artifact, tool_call_id: callId, name }), artifact];
  }
}

function contentOf(outcome: KeptOutcome, toolset: Toolset): McpContent {
  const { text } = outcome;
  const images = toolset.imagesOf(outcome).map(({ mimeType, data }) => ({
    type: 'image_url' as const,
    image_url: { url: `data:${mimeType};base64,${data}` },
  }));
  return images.length === 0 ? text : [{ type: 'text', text }, ...images];
}

interface ModelRequest {
  readonly tools?: readonly { readonly name: string }[];
  readonly systemPrompt?: string;
  readonly systemMessage?: SystemMessage;
}

interface SystemMessage {
  readonly text: string;
  concat(text: string): SystemMessage;
}

/** Behind the host's own text, whose blocks stay as they are. LangChain refuses a request in which both fields are others. */
function withSystemPrompt({ systemPrompt, systemMessage }: ModelRequest, ours: string) {
  const behind = (text: string | undefined) => (text ? `\n\n${ours}` : ours);
  if (systemMessage) return { systemMessage: systemMessage.concat(behind(systemMessage.text)) };
  return { systemPrompt: `${systemPrompt ?? ''}${behind(systemPrompt)}` };
}

interface ToolRequest {
  readonly tool?: unknown;
  readonly toolCall: { readonly name: string; readonly args?: Readonly<Record<string, unknown>> };
}

/** The message of the model. A step that ends otherwise has no calls. */
interface ModelMessage {
  readonly tool_calls?: { name: string; id: string; args: object; type: 'tool_call' }[];
  invalid_tool_calls?: { readonly name?: string; readonly id?: string; readonly args?: string }[];
}

/** The one argument of a call whose arguments are no JSON: their text, which stays with the message wherever that is kept. */
const NO_JSON = 'plexus_arguments_that_are_no_json';

/**
 * An agent ends at a call whose arguments are no JSON, without a word to the model: such a call is run, and refused, like any other.
 * Those of the host's own tools stay as they are.
 */
function keepInvalidCalls(message: ModelMessage, own: ReadonlySet<string>): void {
  const { tool_calls, invalid_tool_calls = [] } = message;
  if (tool_calls === undefined) return;
  const isOwn = ({ name = '' }) => own.has(name);
  for (const { name = '', id = '', args = '' } of invalid_tool_calls.filter((call) => !isOwn(call)))
    tool_calls.push({ name, id, args: { [NO_JSON]: args }, type: 'tool_call' });
  message.invalid_tool_calls = invalid_tool_calls.filter(isOwn);
}
