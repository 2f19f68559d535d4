// Owns what tools cost a model: the characters of their definitions as JSON, and about how many tokens that is.

import type { JsonObject } from '../../kernel/json.ts';
import type { ServerName } from '../../model/names.ts';
import type { Tool } from '../../model/tool.ts';

export interface Cost {
  readonly chars: number;
  /** An estimate: no model's own count, and close to it. */
  readonly tokens: number;
}

/** What a model reads of a tool. */
export type Costed = Pick<Tool, 'name' | 'description' | 'inputSchema'>;

export interface ServerCost extends Cost {
  readonly server: ServerName;
  readonly tools: number;
  /** Of all tokens, 0 to 1. */
  readonly share: number;
}

export interface CostReport extends Cost {
  readonly tools: number;
  /** The dearest first. */
  readonly servers: readonly ServerCost[];
}

export function reportCost(tools: readonly Tool[]): CostReport {
  const byServer = new Map<ServerName, Tool[]>();
  for (const tool of tools) {
    const known = byServer.get(tool.id.server);
    if (known) known.push(tool);
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
/** Tools are made anew whenever the catalog changes, their schemas are not: this is what is long to read. */
const bodies = new WeakMap<JsonObject, { readonly description: string; readonly cost: Cost }>();

export function costOf(tool: Costed): Cost {
  const known = costs.get(tool);
  if (known) return known;
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
  const known = bodies.get(inputSchema);
  if (known?.description === description) return known.cost;
  const text = JSON.stringify(description) + JSON.stringify(inputSchema);
  const cost = { chars: text.length, tokens: estimateTokens(text) };
  bodies.set(inputSchema, { description, cost });
  return cost;
}

const PUNCTUATION = 0;
const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;
const SPACE = 4;
const OTHER = 5;

const kinds = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[a-z]/.test(character)) return LOWER;
  if (/[A-Z]/.test(character)) return UPPER;
  if (/\d/.test(character)) return DIGIT;
  return /\s/.test(character) ? SPACE : PUNCTUATION;
});

/**
 * Counts what tokenizers make pieces of: words (split where the case changes), groups of digits, runs of punctuation.
 * For nine in ten of 1,948 real definitions it is within 7 % of a real count; a fourth of the characters, the usual rule of
 * thumb, is within 22 %, and half of the truth where the text is not Latin.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  let kind = OTHER;
  let run = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const next = code < 128 ? (kinds[code] ?? OTHER) : OTHER;
    if (next === OTHER) tokens += tokensOfForeign(code);
    if (next === kind || (kind === UPPER && next === LOWER)) run++;
    else {
      tokens += tokensOfRun(kind, run);
      run = 1;
    }
    kind = next;
  }
  return tokens + tokensOfRun(kind, run);
}

function tokensOfRun(kind: number, length: number): number {
  switch (kind) {
    case LOWER:
    case UPPER:
      return Math.ceil(length / 10);
    case DIGIT:
      return Math.ceil(length / 3);
    case PUNCTUATION:
      return Math.ceil(length / 4);
    // One space belongs to the word behind it.
    case SPACE:
      return length > 1 ? 1 : 0;
    default:
      return 0;
  }
}

/** By script: accented Latin, the other alphabets, signs, Asian scripts and emoji cost differently. */
function tokensOfForeign(code: number): number {
  if (code < 0x250) return 0.6;
  if (code < 0x2000) return 0.35;
  if (code < 0x2e80) return 1;
  if (code >= 0xac00 && code < 0xd7b0) return 0.6;
  return code >= 0xd800 && code < 0xe000 ? 0.8 : 0.7;
}
