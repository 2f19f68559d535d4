// Owns the public surface of "plexus/openai-agents": the fleet as one MCP server of OpenAI's Agents SDK, and as function tools for
// those who want its approvals. Plain objects: nothing of the package `@openai/agents` is imported.

import { CALL_TOOL } from '../model/builtin.ts';
import { limits } from '../model/limits.ts';
import { hashOfKey, type ToolId, toolKey } from '../model/names.ts';
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
  type ShownTool,
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
  const { name = 'plexus', ...common } = options;
  const toolset = openToolset(source, common);
  let listed: ListedTools | undefined;
  const list = (): ListedTools => {
    const step = toolset.step();
    if (listed?.step !== step) listed = listTools(step);
    return listed;
  };
  return {
    name,
    cacheToolsList: false,
    connect: nothing,
    close: nothing,
    invalidateToolsCache: nothing,
    listTools: async () => [...list().tools],
    async callTool(shown, args, meta, { signal } = {}) {
      const { step, names } = listed ?? list();
      const call = { name: names.get(shown) ?? shown, arguments: args, meta: meta ?? undefined, signal };
      const outcome = await step.run(call);
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
  const shownNames = shownNamesOf(step.tools);
  const names = new Map<string, string>();
  const tools = step.tools.map(({ name, description, inputSchema }, at): AgentsMcpTool => {
    const shown = shownNames[at] ?? name;
    names.set(shown, name);
    return { name: shown, description, inputSchema: inputSchema as AgentsMcpTool['inputSchema'] };
  });
  return { step, tools, names };
}

/**
 * The SDK writes `_` for every other character, and ends the run where two names then are the same. A name without such characters
 * stays; of others that would be the same each gets a hash of its own tool, so that no name depends on which tool came first.
 */
function shownNamesOf(tools: readonly ShownTool[]): readonly string[] {
  const plain = tools.map(({ name }) => name.replace(/[^a-zA-Z0-9]/g, '_'));
  const counts = new Map<string, number>();
  for (const name of plain) counts.set(name, (counts.get(name) ?? 0) + 1);
  return tools.map(({ name, tool }, at) => {
    const wanted = plain[at] ?? name;
    return wanted === name || counts.get(wanted) === 1 ? wanted : withHash(wanted, tool.id);
  });
}

function withHash(name: string, id: ToolId): string {
  const suffix = `_${hashOfKey(toolKey(id))}`;
  return name.slice(0, limits.toolNameLength - suffix.length) + suffix;
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
