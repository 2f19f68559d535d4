// Owns what tools cost a model: the characters of their definitions as JSON, and about how many tokens that is.

import type { JsonObject } from '../../kernel/json.ts';
import { estimateTokens } from '../../kernel/tokens.ts';
import type { ServerName } from '../../model/names.ts';
import type { Tool } from '../../model/tool.ts';

export interface Cost {
  readonly chars: number;
  /** An estimate, close to what models count. */
  readonly tokens: number;
}

/** The parts of a tool that a model reads. */
export type Costed = Pick<Tool, 'name' | 'description' | 'inputSchema'>;

export interface ServerCost extends Cost {
  readonly server: ServerName;
  readonly tools: number;
  /** Its share of all tokens, 0 to 1. */
  readonly share: number;
}

export interface CostReport extends Cost {
  readonly tools: number;
  /** The most expensive first. */
  readonly servers: readonly ServerCost[];
}

export function reportCost(tools: readonly Tool[]): CostReport {
  const byServer = new Map<ServerName, Tool[]>();
  for (const tool of tools) {
    const ofServer = byServer.get(tool.id.server);
    if (ofServer) ofServer.push(tool);
    else byServer.set(tool.id.server, [tool]);
  }
  const total = costOfAll(tools);
  const servers = [...byServer].map(([server, own]): ServerCost => {
    const cost = costOfAll(own);
    return { server, tools: own.length, ...cost, share: cost.tokens / total.tokens };
  });
  const byWeight = (a: ServerCost, b: ServerCost) => b.tokens - a.tokens || (a.server < b.server ? -1 : 1);
  return { tools: tools.length, ...total, servers: servers.sort(byWeight) };
}

export function costOfAll(tools: readonly Costed[]): Cost {
  let chars = 0;
  let tokens = 0;
  for (const tool of tools) {
    const cost = costOf(tool);
    chars += cost.chars;
    tokens += cost.tokens;
  }
  return { chars, tokens };
}

const FRAME = '{"name":,"description":,"inputSchema":}';

const costs = new WeakMap<Costed, Cost>();
/** Kept by schema: tools are new objects whenever the catalog changes, their schemas are not, and reading those costs most. */
const bodies = new WeakMap<JsonObject, { readonly description: string; readonly cost: Cost }>();

export function costOf(tool: Costed): Cost {
  const cached = costs.get(tool);
  if (cached) return cached;
  const name = JSON.stringify(tool.name);
  const body = costOfBody(tool);
  const cost = {
    chars: FRAME.length + name.length + body.chars,
    tokens: Math.ceil(estimateTokens(FRAME) + estimateTokens(name) + body.tokens),
  };
  costs.set(tool, cost);
  return cost;
}

function costOfBody({ description, inputSchema }: Costed): Cost {
  const cached = bodies.get(inputSchema);
  if (cached?.description === description) return cached.cost;
  const text = JSON.stringify(description) + JSON.stringify(inputSchema);
  const cost = { chars: text.length, tokens: estimateTokens(text) };
  bodies.set(inputSchema, { description, cost });
  return cost;
}
