// Owns the public surface of "plexus/openai-agents": the fleet as one MCP server of OpenAI's Agents SDK, and as function tools for
// those who want its approvals. Plain objects: nothing of the package `@openai/agents` is imported.

import { CALL_TOOL } from '../model/builtin.ts';
import type { ToolOutcome } from '../model/tool.ts';
import { checkFramework } from './framework-version.ts';
import { createToolList } from './tool-list.ts';
import {
  type AdapterModel,
  type AdapterOptions,
  createToolset,
  type FrameworkTraits,
  type ImagePart,
  type ModelStep,
  type ToolSource,
  type Toolset,
} from './toolset.ts';

export type { AdapterModel, AdapterOptions, ToolSource };

export interface AgentsServerOptions extends AdapterOptions {
  /** Seen in traces. Default: `plexus`. */
  readonly name?: string;
}

/** One of an agent's `mcpServers`. */
export interface AgentsServer {
  readonly name: string;
  /**
   * The SDK's own cache is one for the whole process, by name, and would miss what a search adds. `listTools` keeps its list until
   * the tools change, so that the SDK can ask before each request.
   */
  readonly cacheToolsList: false;
  /** Nothing to do: the runtime has its servers connected. */
  connect(): Promise<void>;
  /** Nothing to do: the runtime is closed by the host that opened it. */
  close(): Promise<void>;
  listTools(): Promise<AgentsMcpTool[]>;
  /** Never rejects: a tool that fails, is denied or does not exist has a content that says so. */
  callTool(
    name: string,
    args: Record<string, unknown> | null,
    meta?: Record<string, unknown> | null,
    options?: { signal?: AbortSignal },
  ): Promise<AgentsContent>;
  /** Nothing to do: a list is never older than the last change of the tools. */
  invalidateToolsCache(): Promise<void>;
  /** For `instructions`, behind the host's own text: what the mark around results means, and the instructions of servers. */
  systemPrompt(): string;
}

export interface AgentsMcpTool {
  name: string;
  description: string;
  inputSchema: {
    type: 'object';
    properties: Record<string, unknown>;
    required: string[];
    additionalProperties: boolean;
  };
}

/** Whether the tool failed stands beside the parts, as the SDK wants it. */
export type AgentsContent = AgentsPart[] & { isError?: boolean };

export type AgentsPart = { type: 'text'; text: string } | { type: 'image'; data: string; mimeType: string };

/** The fleet as an agent's function tools. The agent keeps the tools that it was made with. */
export interface AgentsFunctionTools {
  tools(): AgentsFunctionTool[];
  /** For `instructions`, behind the host's own text: what the mark around results means, and the instructions of servers. */
  systemPrompt(): string;
}

/** A question to a person is an interruption of the run: the SDK's approval counts for that one call. */
export interface AgentsFunctionTool {
  type: 'function';
  name: string;
  description: string;
  parameters: AgentsMcpTool['inputSchema'];
  /** Strict mode would need schemas that few servers have. */
  strict: false;
  needsApproval(context: unknown, input: unknown, callId?: string): Promise<boolean>;
  isEnabled(): Promise<boolean>;
  invoke(context: unknown, input: string, details?: AgentsCallDetails): Promise<string | AgentsPart[]>;
}

export interface AgentsCallDetails {
  readonly toolCall?: { readonly callId: string };
  readonly signal?: AbortSignal;
}

/** For `mcpServers` of an agent. */
export function agentsServer(source: ToolSource, options: AgentsServerOptions = {}): AgentsServer {
  const toolset = openToolset(source, options);
  let listed: ListedTools | undefined;
  const list = (): ListedTools => {
    const step = toolset.step();
    if (listed?.step !== step) listed = listTools(step);
    return listed;
  };
  return {
    name: options.name ?? 'plexus',
    cacheToolsList: false,
    connect: nothing,
    close: nothing,
    invalidateToolsCache: nothing,
    listTools: async () => [...list().tools],
    async callTool(shown, args, _meta, { signal } = {}) {
      const { step, names } = listed ?? list();
      const outcome = await step.run({ name: names.get(shown) ?? shown, arguments: args, signal });
      return Object.assign(partsOf(outcome, toolset), { isError: outcome.isError });
    },
    systemPrompt: () => toolset.step().systemPrompt,
  };
}

/** For `tools` of an agent. Takes no `approve`: the SDK asks, and the host answers with `state.approve` or `state.reject`. */
export function agentsTools(source: ToolSource, options: Omit<AdapterOptions, 'approve'> = {}): AgentsFunctionTools {
  const toolset = openToolset(source, options, { keepsTools: true });
  const { step, ...list } = createToolList(
    toolset,
    ({ name, description, inputSchema }): AgentsFunctionTool => ({
      type: 'function',
      name,
      description,
      parameters: inputSchema as AgentsFunctionTool['parameters'],
      strict: false,
      isEnabled: async () => true,
      needsApproval: (_context, input) => step().requiresApproval({ name, arguments: input }),
      async invoke(context, input, { toolCall, signal } = {}) {
        const callId = toolCall?.callId;
        const isApproved = isApprovedIn(context, name, callId);
        const outcome = await step().run({ name, arguments: input, callId, signal, isApproved });
        const parts = partsOf(outcome, toolset);
        return parts.length === 1 ? outcome.text : parts;
      },
    }),
  );
  return list;
}

function openToolset(source: ToolSource, options: AdapterOptions, traits: FrameworkTraits = {}): Toolset {
  checkFramework('@openai/agents', ['0.20']);
  return createToolset(source, options, { provider: 'openai', ...traits });
}

interface ListedTools {
  readonly step: ModelStep;
  readonly tools: readonly AgentsMcpTool[];
  /** The fleet's name for each shown one. */
  readonly names: ReadonlyMap<string, string>;
}

function listTools(step: ModelStep): ListedTools {
  const names = new Map<string, string>();
  const tools = step.tools.map(({ name, description, inputSchema }): AgentsMcpTool => {
    const shown = shownName(name, names);
    names.set(shown, name);
    return { name: shown, description, inputSchema: inputSchema as AgentsMcpTool['inputSchema'] };
  });
  return { step, tools, names };
}

/** OpenAI's API takes names of this length. */
const MOST_NAME_CHARS = 64;

/** The SDK writes `_` for every other character, and ends the run where two names then are the same. */
function shownName(name: string, taken: ReadonlyMap<string, string>): string {
  const plain = name.replace(/[^a-zA-Z0-9]/g, '_');
  let shown = plain;
  for (let number = 2; taken.has(shown); number += 1) {
    const suffix = `_${number}`;
    shown = plain.slice(0, MOST_NAME_CHARS - suffix.length) + suffix;
  }
  return shown;
}

/** What of the SDK's run context answers whether a person said yes: to this call, or to every call of this name. */
interface RunApprovals {
  isToolApproved?(call: { toolName: string; callId: string }): boolean | undefined;
}

/** An id that no call has: the answer for it is the one to every call of the name. */
const NO_CALL = 'plexus: no call';

/** Whether the run has a person's yes to this call. One to every `mcp_call` says nothing about the tool that is called with it. */
function isApprovedIn(context: unknown, toolName: string, callId: string | undefined): boolean {
  const run = context as RunApprovals | undefined;
  const isYes = (id: string) => run?.isToolApproved?.({ toolName, callId: id }) === true;
  return callId !== undefined && isYes(callId) && (toolName !== CALL_TOOL || !isYes(NO_CALL));
}

function partsOf(outcome: ToolOutcome, { imagesOf }: Toolset): AgentsPart[] {
  const image = ({ data, mimeType }: ImagePart): AgentsPart => ({ type: 'image', data, mimeType });
  return [{ type: 'text', text: outcome.text }, ...imagesOf(outcome).map(image)];
}

const nothing = async () => undefined;
