// Owns what a builtin tool is: offered to a model beside the servers' tools, and performed by the runtime itself.

import type { Cancellation } from '../kernel/cancellation.ts';
import { isObject, type JsonObject, parseJson } from '../kernel/json.ts';
import { oneLine } from '../kernel/one-line.ts';
import type { ServerName, ToolId } from './names.ts';
import type { ContentBlock, Tool, ToolDefinition } from './tool.ts';

/** Finds tools that the model is not shown. */
export const SEARCH_TOOL = 'mcp_search';
/** Calls a tool that the model is not shown. */
export const CALL_TOOL = 'mcp_call';
/** Starts a lazy server whose tools are not known yet. */
export const START_TOOL = 'mcp_start';

/** Reserved names: no tool of a server gets one. */
export const builtinNames = [
  'ListMcpResources',
  'ReadMcpResource',
  'ListMcpPrompts',
  'GetMcpPrompt',
  SEARCH_TOOL,
  CALL_TOOL,
  START_TOOL,
] as const;

/** A builtin and the tool that a model sees of it. */
export interface BuiltinTool {
  readonly builtin: Builtin;
  readonly tool: Tool;
}

export interface Builtin {
  /** The model calls it by the definition's name, without any prefix. */
  readonly definition: ToolDefinition;
  /** Its name among the tools of that server, for rules; otherwise the definition's. */
  readonly toolName?: string;
  /** The server that a call is about, whose rules, limits and failures apply. Absent: the tool touches no server. */
  readonly target?: (args: JsonObject) => ServerName | undefined;
  /** It is asked about only where a rule or a setting says so, although it is about a server. */
  readonly isFreeByDefault?: true;
  readonly perform: (args: JsonObject, context: BuiltinContext) => Promise<BuiltinAnswer>;
}

export interface BuiltinContext {
  readonly cancellation: Cancellation;
  /** The server that `target` returned. */
  readonly server?: ServerName;
  /** Every tool of the turn, also those that the model is not shown. */
  readonly tools: readonly Tool[];
  /** Shows these tools to the model from the next turn on. */
  readonly load: (tools: readonly ToolId[]) => void;
  /** The instructions of these tools' servers that the model has not read yet, in their marks; '' if there are none. */
  readonly introduce: (tools: readonly Tool[]) => string;
}

export interface BuiltinAnswer {
  readonly content: readonly ContentBlock[];
  readonly structured?: unknown;
  readonly isError?: boolean;
  /** From `introduce`: stands behind the text of the answer, outside its mark. */
  readonly instructions?: string;
}

/** The call that the arguments of `mcp_call` describe, or what is wrong with them, in words for the model. */
export function unwrapCall(args: unknown): { readonly name: string; readonly arguments: JsonObject } | string {
  const { name, arguments: given, ...rest } = isObject(args) ? args : {};
  if (typeof name !== 'string' || name.trim() === '')
    return '"name" must be the name of a tool, as mcp_search gave it.';
  if (name.trim() === CALL_TOOL) return `"name" must be the tool to call, not ${CALL_TOOL} itself.`;
  if (given === undefined || given === null) {
    const [stray] = Object.keys(rest);
    if (stray === undefined) return { name: name.trim(), arguments: {} };
    return `The arguments of the tool belong into "arguments", also "${oneLine(stray, 100)}".`;
  }
  // Models sometimes write the object as JSON text; its meaning is clear.
  const parsed = typeof given === 'string' ? parseJson(given) : undefined;
  const value = parsed === undefined ? given : parsed.ok ? parsed.value : undefined;
  return isObject(value) ? { name: name.trim(), arguments: value } : '"arguments" must be an object.';
}
