// Owns what is worth knowing about rules before anything is called: those that can speak of nothing, those that speak of
// everything, and those that are not understood in full. Says nothing where it is not sure.

import type { JsonObject } from '../kernel/json.ts';
import { nearest } from '../kernel/nearest.ts';
import { matchesWildcard } from '../kernel/wildcard.ts';
import { limits } from '../model/limits.ts';
import type { QualifiedName, ServerName, ToolId } from '../model/names.ts';
import { fold } from '../model/spellings.ts';
import type { DenyPattern } from './deny-match.ts';
import { speaksOf } from './matching.ts';
import type { Rule } from './rule.ts';
import { isPattern } from './spellings.ts';
import { whyUnstated } from './stated-arguments.ts';
import { ask, foldedServers } from './tool-spellings.ts';

export interface RuleRemark {
  readonly rule: Rule;
  /**
   * `never`: no tool anywhere can be meant; `typo`: a server that is configured is called nearly so; `stranger`: no such
   * server is configured here; `unusable`: its server's entry is not valid; `missing`: its servers have no such tool;
   * `argument`: its tools have no such argument; `misread`: part of it has no effect; `broad`: it allows everything.
   */
  readonly kind: 'never' | 'typo' | 'stranger' | 'unusable' | 'missing' | 'argument' | 'misread' | 'broad';
  /** In words that complete "it …". */
  readonly why: string;
}

interface Named {
  readonly id: ToolId;
  readonly name: QualifiedName;
  readonly definition?: { readonly inputSchema: JsonObject };
}

/** What is known of servers, besides that they are configured. */
export interface Known {
  /** The lists that are known; a rule for a server without one is not held against anything. */
  readonly tools?: ReadonlyMap<ServerName, readonly Named[]>;
  /** Those whose entries are not valid. */
  readonly invalid?: ReadonlySet<ServerName>;
}

export function reviewRules(
  rules: readonly Rule[],
  servers: Iterable<ServerName>,
  { tools = new Map(), invalid = new Set() }: Known = {},
): readonly RuleRemark[] {
  const known = { servers: [...servers], tools, invalid, all: [...tools.values()].flat() };
  return rules.flatMap((rule) => remarkOn(rule, known) ?? misreadPart(rule) ?? []);
}

interface Held extends Required<Known> {
  readonly servers: readonly ServerName[];
  readonly all: readonly Named[];
}

function remarkOn(rule: Rule, { servers, tools, invalid, all }: Held): RuleRemark | undefined {
  const never = whyNever(rule);
  if (never !== undefined) return { rule, kind: 'never', why: never };
  if (isBroad(rule)) return { rule, kind: 'broad', why: 'allows every tool of every server, also of those to come' };
  const spoken = all.filter(({ id, name }) => speaksOf(rule, ask(id, name)));
  if (spoken.length > 0 && rule.needs.length === 0) return undefined;
  const meant = servers.filter((server) => mayMean(rule, server));
  if (spoken.length === 0 && meant.length === 0) return unknownServer(rule, servers);
  const usable = meant.filter((server) => !invalid.has(server));
  if (usable.some((server) => !tools.has(server))) return undefined;
  if (spoken.length === 0) return usable.length === 0 ? unusable(rule, meant) : missingTool(rule, usable, tools);
  const why = whyUnstated(rule.needs, spoken);
  return why === undefined ? undefined : { rule, kind: 'argument', why };
}

/** Of a rule that counts all the same. */
function misreadPart(rule: Rule): RuleRemark | undefined {
  const why = rule.isBroken ? 'counts without what it says about arguments, because that cannot be read' : rule.misread;
  return why === undefined ? undefined : { rule, kind: 'misread', why };
}

function whyNever({ verdict, isBroken, isDoubtful, hash, readings }: Rule): string | undefined {
  if (verdict !== 'allow') return undefined;
  if (isBroken) return 'allows nothing, because what it says about arguments cannot be read';
  // Only a name that ends in a hash can hold a separator too many and still be one tool's.
  if (!isDoubtful || hash !== undefined) return undefined;
  const pairs = readings.map(({ server, tool }) => `"${tool}" of "${server}"`);
  return `allows nothing, because it can be read as ${pairs.slice(0, 3).join(' or ')}; use the name that plexus tools shows`;
}

const isBroad = ({ verdict, needs, readings }: Rule) =>
  verdict === 'allow' &&
  needs.length === 0 &&
  readings.some((each) => isAnything(each.server) && isAnything(each.tool));
const isAnything = (pattern: string) => /^\*+$/.test(pattern);

function unknownServer(rule: Rule, servers: readonly ServerName[]): RuleRemark {
  const [{ server = rule.text } = {}] = rule.readings;
  const near = isPattern(server) ? [] : nearest(server, servers, limits.suggestions);
  const guesses = near.map((each) => `"${each}"`).join(' or ');
  const what = `can mean nothing here, because no server "${server}" is configured`;
  return near.length > 0
    ? { rule, kind: 'typo', why: `${what}; perhaps ${guesses} is meant` }
    : { rule, kind: 'stranger', why: what };
}

function missingTool(rule: Rule, meant: readonly ServerName[], tools: Required<Known>['tools']): RuleRemark {
  const whose = meant.length > 1 ? 'no server' : `"${meant.join()}"`;
  const near = meant.flatMap((server) => nearTools(rule, server, tools.get(server) ?? [])).slice(0, limits.suggestions);
  const guess = near.length > 0 ? `; perhaps ${near.map((each) => `"${each}"`).join(' or ')} is meant` : '';
  return {
    rule,
    kind: 'missing',
    why: `means nothing now, because ${whose} has ${meant.length > 1 ? 'such a' : 'no such'} tool${guess}`,
  };
}

function nearTools({ readings, opening }: Rule, server: ServerName, tools: readonly Named[]): readonly string[] {
  const written = [
    ...readings.filter((each) => each.server === server),
    ...(opening?.server === server ? [opening] : []),
  ];
  const names = tools.map(({ id }) => id.tool);
  return written.flatMap(({ tool }) => (isPattern(tool) ? [] : nearest(tool, names, limits.suggestions)));
}

function unusable(rule: Rule, meant: readonly ServerName[]): RuleRemark {
  const whose = meant.map((server) => `"${server}"`).join(', ');
  return { rule, kind: 'unusable', why: `means nothing now, because the entry of ${whose} is not valid` };
}

/** Whether the text can be about a tool of that server, whatever its tools are called. */
function mayMean({ verdict, hash, readings, opening, closing }: Rule, server: ServerName): boolean {
  if (hash !== undefined || opening?.server === server) return true;
  if (readings.some((reading) => matchesWildcard(reading.server, server))) return true;
  return verdict !== 'allow' && closing !== undefined && mayCloseOne(closing, server);
}

function mayCloseOne({ text, keys, tools, glob }: DenyPattern, server: ServerName): boolean {
  // Without the prefix it may be what a tool of anybody is called; what is long or odd is written in more ways than one knows.
  if (tools.length > 0 || !text.startsWith('mcp__') || text.length > LONG || !PLAIN.test(server)) return true;
  const spelled = [...foldedServers(server), fold(server.replace(/[^a-z]+/gi, '_'))].filter((each) => each !== '');
  if (keys.some((key) => spelled.some((each) => `${key}_`.startsWith(`${each}_`)))) return true;
  if (glob === undefined) return false;
  const beginnings = spelled.flatMap((each) => [`${each}_`, `mcp_${each}_`]);
  const heads = glob.names.map((name) => name.replace(/[*?].*$/s, '').replace(/[^a-z0-9]+/g, '_'));
  return (
    heads.some((head) => beginnings.some((each) => each.startsWith(head) || head.startsWith(each))) ||
    glob.pairs.some((pair) => spelled.some((each) => matchesWildcard(pair.server.folded, each)))
  );
}

const LONG = 55;
const PLAIN = /^[a-z0-9][a-z0-9_ .-]*$/i;
