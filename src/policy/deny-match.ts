// Owns all that a text may mean which denies or asks: it closes everything that anybody could have written so. Whatever
// `catalog/aliases` understands as a tool's name, a rule in that spelling closes.

import { matchesWildcard } from '../kernel/wildcard.ts';
import type { ToolId } from '../model/names.ts';
import { bodiesOf, fold, LONGEST_SPELLING } from '../model/spellings.ts';
import { isPattern, type KnownServers, pairsIn } from './spellings.ts';
import { type Forms, folded, foldedServers, type SpelledTool } from './tool-spellings.ts';

export interface DenyPattern {
  readonly text: string;
  /** With and without what agents put before a name. */
  readonly bodies: readonly string[];
  /** The bodies, folded: a server alone, or one with its tool. */
  readonly keys: readonly string[];
  /** What may be a tool of any server, folded; stars stay. */
  readonly tools: readonly string[];
  readonly glob?: Glob;
}

interface Glob {
  readonly text: string;
  readonly pairs: readonly { readonly server: Pattern; readonly tool: Pattern }[];
  /** For both parts together. */
  readonly names: readonly string[];
  readonly tools: readonly string[];
  /** No tool without these letters and digits is meant: that answers for nearly all, at once. */
  readonly runs: readonly string[];
}

interface Pattern {
  readonly raw: string;
  readonly folded: string;
}

export function closingOf(text: string, known: KnownServers): DenyPattern | undefined {
  if (text.length > LONGEST_SPELLING) return undefined;
  const bodies = bodiesOf(text);
  const keys = [...new Set(bodies.map(folded))];
  const pairs = isPattern(text) ? patternsIn(text, bodies, known) : [];
  // A server comes before a tool, and what has such a separator is not a tool alone.
  const [whole = [], ...stripped] = bodies.map((body) => (FIRM.test(body) ? [] : [body]));
  const bare = stripped.flat();
  const alone = bare.length > 0 && !isServerMeant(keys, pairs, known) ? [...whole, ...bare] : whole;
  if (!isPattern(text)) return { text, bodies, keys, tools: alone.map(fold).filter((tool) => tool !== '') };
  const names = [...new Set([text, bodies.at(-1) ?? text])].map((name) => name.toLowerCase());
  const runs = [...new Set(names.at(-1)?.match(/[a-z0-9]+/g))];
  return { text, bodies, keys, tools: [], glob: { text, pairs, names, tools: alone.map(foldPattern), runs } };
}

/** Cheap, and false for nearly all tools that a pattern does not mean. */
export function mayClose({ glob }: DenyPattern, { forms }: SpelledTool): boolean {
  return glob === undefined || glob.runs.every((run) => forms().runs.includes(run));
}

export function closes({ text, bodies, keys, tools, glob }: DenyPattern, { id, forms }: SpelledTool): boolean {
  const { literal, servers, pairs, tools: own } = forms();
  return (
    literal.has(text) ||
    keys.some((key) => servers.includes(key) || pairs.includes(key)) ||
    tools.some((tool) => own.includes(tool)) ||
    bodies.some((body) => isPair(body, id)) ||
    (glob !== undefined && meets(glob, id, forms()))
  );
}

/** Character by character, which is all that names of nothing but odd characters can be compared by. */
function isPair(body: string, { server, tool }: ToolId): boolean {
  const gap = body.length - server.length - tool.length;
  if ((gap !== 1 && gap !== 2) || !body.startsWith(server) || !body.endsWith(tool)) return false;
  return /^([_.:/-])\1?$/.test(body.slice(server.length, server.length + gap));
}

function meets({ text, pairs, names, tools }: Glob, id: ToolId, forms: Forms): boolean {
  const fits = ({ raw, folded: pattern }: Pattern, own: string, written: readonly string[]) =>
    matchesWildcard(raw, own) || written.some((each) => matchesWildcard(pattern, each));
  return (
    matchesWildcard(text, id.tool) ||
    tools.some((tool) => forms.tools.some((each) => matchesWildcard(tool, each))) ||
    names.some((name) => forms.names.some((each) => matchesWildcard(name, each))) ||
    pairs.some(({ server, tool }) => fits(server, id.server, forms.servers) && fits(tool, id.tool, forms.tools))
  );
}

/** What separates a server from its tool, and not the words in a name. */
const FIRM = /__|--|[.:/]/;
/** More than any text has that somebody meant. */
const MOST_PAIRS = 32;

/** Every way to read a pattern as a server and a tool: a pattern each, or a server that is known and a pattern. */
function patternsIn(text: string, bodies: readonly string[], known: KnownServers): Glob['pairs'] {
  const reversed = [...text.matchAll(/_mcp_/g)].map(({ index }) => ({
    server: text.slice(index + '_mcp_'.length),
    tool: text.slice(0, index),
  }));
  const found = bodies.flatMap((body) => [...firmPairs(body).slice(0, MOST_PAIRS), ...pairsIn(body, known, 'deny')]);
  return [...new Map([...found, ...reversed].map((pair) => [JSON.stringify(pair), pair])).values()]
    .filter(({ server }) => server !== '')
    .slice(0, MOST_PAIRS)
    .map(({ server, tool }) => ({ server: patternOf(server), tool: patternOf(tool || '*') }));
}

/** A body without any is a server alone. */
function firmPairs(body: string): readonly { readonly server: string; readonly tool: string }[] {
  if (!FIRM.test(body)) return [{ server: body, tool: '*' }];
  return [...body.matchAll(/[_.:/-]/g)].flatMap(({ 0: separator, index }) => {
    const isDouble = body[index + 1] === separator;
    const isFirm = isDouble || FIRM.test(separator);
    return isFirm ? [{ server: body.slice(0, index), tool: body.slice(index + (isDouble ? 2 : 1)) }] : [];
  });
}

const patternOf = (raw: string): Pattern => ({ raw, folded: foldPattern(raw) });

/** Like `fold`, but stars and question marks stay, and so does what stands beside them at an edge: `_*` is not everything. */
function foldPattern(pattern: string): string {
  return pattern
    .toLowerCase()
    .replace(/[^a-z0-9*?]+/g, '_')
    .replace(/^_(?![*?])|(?<![*?])_$/g, '');
}

function isServerMeant(keys: readonly string[], pairs: Glob['pairs'], known: KnownServers): boolean {
  const isSpelled = (server: string) =>
    keys.some((key) => key === server || key.startsWith(`${server}_`)) ||
    pairs.some(({ server: pattern }) => matchesWildcard(pattern.folded, server));
  return [...known.values()].flat().some((server) => foldedServers(server).some(isSpelled));
}
