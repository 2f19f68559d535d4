// Owns what a tool of the runtime's own is: offered to a model beside the servers' tools, performed here.

import type { Cancellation } from '../kernel/cancellation.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { ServerName, ToolId } from './names.ts';
import type { ContentBlock, Tool, ToolDefinition } from './tool.ts';

/** Reserved: no tool of a server is ever called so. */
export const builtinNames = [
  'ListMcpResources',
  'ReadMcpResource',
  'ListMcpPrompts',
  'GetMcpPrompt',
  'mcp_search',
  'mcp_call',
] as const;

export interface Builtin {
  /** Its name is what the model calls it, without any prefix. */
  readonly definition: ToolDefinition;
  /** Whose server a call is about: the rules, limits and failures of that one count. Absent: it touches no server. */
  readonly target?: (args: JsonObject) => ServerName | undefined;
  readonly perform: (args: JsonObject, context: BuiltinContext) => Promise<BuiltinAnswer>;
}

export interface BuiltinContext {
  readonly cancellation: Cancellation;
  /** What `target` answered. */
  readonly server?: ServerName;
  /** Every tool of the turn, also those that are not shown. */
  readonly tools: readonly Tool[];
  /** These are shown from the next turn on. */
  readonly load: (tools: readonly ToolId[]) => void;
}

export interface BuiltinAnswer {
  readonly content: readonly ContentBlock[];
  readonly structured?: unknown;
  readonly isError?: boolean;
}
