// Owns what a deny or ask rule matches: every tool that its text may mean, in any agent's spelling. Each spelling that
// `catalog/aliases` resolves to a tool is matched here as well, so that no alias gets around a deny.

import { matchesWildcard } from '../kernel/wildcard.ts';
import type { ToolId } from '../model/names.ts';
import { bodiesOf, fold, LONGEST_SPELLING } from '../model/spellings.ts';
import { isPattern, pairsIn, type ServerIndex } from './spellings.ts';
import { folded, foldedServers, type SpelledTool, type ToolForms } from './tool-spellings.ts';

export interface DenyPattern {
  readonly text: string;
  /** The text with and without the prefixes that agents put before a name. */
  readonly bodies: readonly string[];
  /** The bodies, folded: each may be a server alone, or a server with its tool. */
  readonly keys: readonly string[];
  /** Folded texts that may be a tool of any server. */
  readonly tools: readonly string[];
  readonly glob?: DenyGlob;
}

interface DenyGlob {
  readonly text: string;
  readonly pairs: readonly { readonly server: FoldedPattern; readonly tool: FoldedPattern }[];
  /** Patterns for server and tool together. */
  readonly names: readonly string[];
  readonly tools: readonly string[];
  /** Letters and digits that every matching tool contains: a cheap test that rules out nearly all tools. */
  readonly runs: readonly string[];
}

interface FoldedPattern {
  readonly raw: string;
  readonly folded: string;
}

/** `written`: the rule's text with every star; a server or tool may really have such a name. */
export function denyPatternOf(text: string, index: ServerIndex, written = text): DenyPattern | undefined {
  if (text.length > LONGEST_SPELLING) return undefined;
  const bodies = bodiesOf(text);
  const keys = [...new Set(bodies.map(folded))];
  const pairs = isPattern(text) ? patternsIn(text, bodies, index) : [];
  // A body with a firm separator names a server as well, so it is not a tool alone.
  const [unstripped = [], ...rest] = bodies.map((body) => (FIRM.test(body) ? [] : [body]));
  const stripped = rest.flat();
  const toolTexts =
    stripped.length > 0 && !namesConfiguredServer(keys, pairs, index) ? [...unstripped, ...stripped] : unstripped;
  if (!isPattern(text)) return { text, bodies, keys, tools: toolTexts.map(fold).filter((tool) => tool !== '') };
  const names = [...new Set([text, bodies.at(-1) ?? text])].map((name) => name.toLowerCase());
  const runs = [...new Set(names.at(-1)?.match(/[a-z0-9]+/g))];
  const exact = written.length > LONGEST_SPELLING ? bodies : [...new Set([...bodies, ...bodiesOf(written)])];
  return {
    text: written,
    bodies: exact,
    keys,
    tools: [],
    glob: { text, pairs, names, tools: toolTexts.map(foldPattern), runs },
  };
}

/** A cheap test to run first: false for nearly all tools that a pattern does not match. */
export function mayMatchDenyPattern({ glob }: DenyPattern, { forms }: SpelledTool): boolean {
  return glob === undefined || glob.runs.every((run) => forms().runs.includes(run));
}

export function matchesDenyPattern(
  { text, bodies, keys, tools, glob }: DenyPattern,
  { id, forms }: SpelledTool,
): boolean {
  const { literal, servers, pairs, tools: toolForms } = forms();
  return (
    literal.has(text) ||
    keys.some((key) => servers.includes(key) || pairs.includes(key)) ||
    tools.some((tool) => toolForms.includes(tool)) ||
    bodies.some((body) => isPair(body, id)) ||
    (glob !== undefined && matchesGlob(glob, id, forms()))
  );
}

/** Compares server, separator and tool exactly: names of nothing but odd characters fold to nothing and need this. */
function isPair(body: string, { server, tool }: ToolId): boolean {
  const gap = body.length - server.length - tool.length;
  if ((gap !== 1 && gap !== 2) || !body.startsWith(server) || !body.endsWith(tool)) return false;
  return /^([_.:/-])\1?$/.test(body.slice(server.length, server.length + gap));
}

function matchesGlob({ text, pairs, names, tools }: DenyGlob, id: ToolId, forms: ToolForms): boolean {
  const matchesPart = ({ raw, folded: pattern }: FoldedPattern, name: string, foldedNames: readonly string[]) =>
    matchesWildcard(raw, name) || foldedNames.some((each) => matchesWildcard(pattern, each));
  return (
    matchesWildcard(text, id.tool) ||
    tools.some((tool) => forms.tools.some((each) => matchesWildcard(tool, each))) ||
    names.some((name) => forms.names.some((each) => matchesWildcard(name, each))) ||
    pairs.some(
      ({ server, tool }) => matchesPart(server, id.server, forms.servers) && matchesPart(tool, id.tool, forms.tools),
    )
  );
}

/** A firm separator stands between a server and its tool; `_` and `-` alone may also join the words of one name. */
const FIRM = /__|--|[.:/]/;
/** More readings than any sensible rule has; bounds the work for a hostile one. */
const MOST_PAIRS = 32;

/** Every way to read a pattern as a server and a tool: two patterns, or a configured server and a tool pattern. */
function patternsIn(text: string, bodies: readonly string[], index: ServerIndex): DenyGlob['pairs'] {
  const reversed = [...text.matchAll(/_mcp_/g)].map(({ index: at }) => ({
    server: text.slice(at + '_mcp_'.length),
    tool: text.slice(0, at),
  }));
  const pairs = bodies.flatMap((body) => [...firmPairs(body).slice(0, MOST_PAIRS), ...pairsIn(body, index, 'deny')]);
  return [...new Map([...pairs, ...reversed].map((pair) => [JSON.stringify(pair), pair])).values()]
    .filter(({ server }) => server !== '')
    .slice(0, MOST_PAIRS)
    .map(({ server, tool }) => ({ server: patternOf(server), tool: patternOf(tool || '*') }));
}

/** Splits a body at each firm separator; a body without one is a server alone. */
function firmPairs(body: string): readonly { readonly server: string; readonly tool: string }[] {
  if (!FIRM.test(body)) return [{ server: body, tool: '*' }];
  return [...body.matchAll(/[_.:/-]/g)].flatMap(({ 0: separator, index }) => {
    const isDouble = body[index + 1] === separator;
    const isFirm = isDouble || FIRM.test(separator);
    return isFirm ? [{ server: body.slice(0, index), tool: body.slice(index + (isDouble ? 2 : 1)) }] : [];
  });
}

const patternOf = (raw: string): FoldedPattern => ({ raw, folded: foldPattern(raw) });

/** Like `fold`, but keeps wildcards, and a `_` beside a wildcard at either end: `_*` must not become `*`. */
function foldPattern(pattern: string): string {
  return pattern
    .toLowerCase()
    .replace(/[^a-z0-9*?]+/g, '_')
    .replace(/^_(?![*?])|(?<![*?])_$/g, '');
}

function namesConfiguredServer(keys: readonly string[], pairs: DenyGlob['pairs'], index: ServerIndex): boolean {
  const isSpelled = (server: string) =>
    keys.some((key) => key === server || key.startsWith(`${server}_`)) ||
    pairs.some(({ server: pattern }) => matchesWildcard(pattern.folded, server));
  return spellingsOf(index).some(isSpelled);
}

const spellings = new WeakMap<ServerIndex, readonly string[]>();

/** The folded names of all configured servers: made once, since every rule asks for them. */
function spellingsOf(index: ServerIndex): readonly string[] {
  const known = spellings.get(index) ?? [...index.values()].flat().flatMap(foldedServers);
  spellings.set(index, known);
  return known;
}
