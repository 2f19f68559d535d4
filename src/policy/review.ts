// Owns the remarks on rules before any call: rules that can match nothing, that allow everything, or of which a part cannot be
// read. Makes no remark where it is not sure.

import type { JsonObject } from '../kernel/json.ts';
import { nearest } from '../kernel/nearest.ts';
import { matchesWildcard } from '../kernel/wildcard.ts';
import { limits } from '../model/limits.ts';
import type { QualifiedName, ServerName, ToolId } from '../model/names.ts';
import { fold } from '../model/spellings.ts';
import type { DenyPattern } from './deny-match.ts';
import type { PermissionRule } from './rule.ts';
import { ruleMatches } from './rule-match.ts';
import { isPattern } from './spellings.ts';
import { foldedServers, spellTool } from './tool-spellings.ts';
import { suggestion, whyUndeclared } from './undeclared-arguments.ts';

export interface RuleRemark {
  readonly rule: PermissionRule;
  /**
   * `never`: the rule can match no tool at all; `typo`: no such server is configured, but one with a similar name is;
   * `stranger`: no such server is configured; `unusable`: its server's entry is not valid; `missing`: its servers have no such
   * tool; `argument`: its tools have no such argument; `misread`: part of it has no effect; `broad`: it allows everything.
   */
  readonly kind: 'never' | 'typo' | 'stranger' | 'unusable' | 'missing' | 'argument' | 'misread' | 'broad';
  /** In words that complete "it …". */
  readonly why: string;
}

interface ReviewedTool {
  readonly id: ToolId;
  readonly name: QualifiedName;
  readonly definition?: { readonly inputSchema: JsonObject };
}

/** The state of the configured servers, as far as it is known. */
export interface ReviewContext {
  /** The tools of each server whose list is known; rules for other servers get no remark about tools. */
  readonly tools?: ReadonlyMap<ServerName, readonly ReviewedTool[]>;
  /** Servers whose entries are not valid. */
  readonly invalid?: ReadonlySet<ServerName>;
}

export function reviewRules(
  rules: readonly PermissionRule[],
  servers: Iterable<ServerName>,
  { tools = new Map(), invalid = new Set() }: ReviewContext = {},
): readonly RuleRemark[] {
  const inputs = { servers: [...servers], tools, invalid, all: [...tools.values()].flat() };
  return rules.flatMap((rule) => remarkOn(rule, inputs) ?? misreadPart(rule) ?? []);
}

interface ReviewInputs extends Required<ReviewContext> {
  readonly servers: readonly ServerName[];
  readonly all: readonly ReviewedTool[];
}

function remarkOn(rule: PermissionRule, { servers, tools, invalid, all }: ReviewInputs): RuleRemark | undefined {
  const never = whyNever(rule);
  if (never !== undefined) return { rule, kind: 'never', why: never };
  if (isBroad(rule))
    return { rule, kind: 'broad', why: 'allows every tool of every server, also of servers you add later' };
  const matched = all.filter(({ id, name }) => ruleMatches(rule, spellTool(id, name)));
  if (matched.length > 0 && rule.conditions.length === 0) return undefined;
  const candidates = servers.filter((server) => mayMatchServer(rule, server));
  if (matched.length === 0 && candidates.length === 0) return unknownServer(rule, servers);
  const usable = candidates.filter((server) => !invalid.has(server));
  if (usable.some((server) => !tools.has(server))) return undefined;
  if (matched.length === 0) return usable.length === 0 ? unusable(rule, candidates) : missingTool(rule, usable, tools);
  const why = whyUndeclared(rule.conditions, matched);
  return why === undefined ? undefined : { rule, kind: 'argument', why };
}

/** The remark on a rule that applies although a part of it cannot be read. */
function misreadPart(rule: PermissionRule): RuleRemark | undefined {
  const why = rule.hasInvalidConditions
    ? 'applies whatever the arguments are, because its conditions on arguments cannot be read'
    : rule.misread;
  return why === undefined ? undefined : { rule, kind: 'misread', why };
}

function whyNever({ verdict, hasInvalidConditions, isAmbiguous, hash, readings }: PermissionRule): string | undefined {
  if (verdict !== 'allow') return undefined;
  if (hasInvalidConditions) return 'allows nothing, because its conditions on arguments cannot be read';
  // A name that ends in a hash identifies one tool, however many separators it has.
  if (!isAmbiguous || hash !== undefined) return undefined;
  const pairs = readings.map(({ server, tool }) => `"${tool}" of "${server}"`);
  return `allows nothing, because it can be read as ${pairs.slice(0, 3).join(' or ')}; use the name that plexus tools shows`;
}

const isBroad = ({ verdict, conditions, readings }: PermissionRule) =>
  verdict === 'allow' &&
  conditions.length === 0 &&
  readings.some((each) => isAnything(each.server) && isAnything(each.tool));
const isAnything = (pattern: string) => /^\*+$/.test(pattern);

function unknownServer(rule: PermissionRule, servers: readonly ServerName[]): RuleRemark {
  const [{ server = rule.text } = {}] = rule.readings;
  const near = isPattern(server) ? [] : nearest(server, servers, limits.suggestions);
  const why = `matches nothing, because no server "${server}" is configured${suggestion(near)}`;
  return { rule, kind: near.length > 0 ? 'typo' : 'stranger', why };
}

function missingTool(
  rule: PermissionRule,
  servers: readonly ServerName[],
  tools: Required<ReviewContext>['tools'],
): RuleRemark {
  const lacking = servers.length > 1 ? 'no server has such a tool' : `"${servers.join()}" has no such tool`;
  const near = servers.flatMap((server) => nearTools(rule, server, tools.get(server) ?? []));
  const why = `matches nothing now, because ${lacking}${suggestion(near.slice(0, limits.suggestions))}`;
  return { rule, kind: 'missing', why };
}

function nearTools(
  { readings, allowPattern }: PermissionRule,
  server: ServerName,
  tools: readonly ReviewedTool[],
): readonly string[] {
  const written = [
    ...readings.filter((each) => each.server === server),
    ...(allowPattern?.server === server ? [allowPattern] : []),
  ];
  const names = tools.map(({ id }) => id.tool);
  return written.flatMap(({ tool }) => (isPattern(tool) ? [] : nearest(tool, names, limits.suggestions)));
}

function unusable(rule: PermissionRule, servers: readonly ServerName[]): RuleRemark {
  const names = servers.map((server) => `"${server}"`).join(', ');
  return { rule, kind: 'unusable', why: `matches nothing now, because the entry of ${names} is not valid` };
}

/** Whether the rule may match a tool of that server, whatever its tools are called. */
function mayMatchServer(
  { verdict, hash, readings, allowPattern, denyPattern }: PermissionRule,
  server: ServerName,
): boolean {
  if (hash !== undefined || allowPattern?.server === server) return true;
  if (readings.some((reading) => matchesWildcard(reading.server, server))) return true;
  return verdict !== 'allow' && denyPattern !== undefined && denyMayMatchServer(denyPattern, server);
}

function denyMayMatchServer({ text, keys, tools, glob }: DenyPattern, server: ServerName): boolean {
  // Without the prefix the text may be a tool name of any server; long or odd names have more spellings than are listed here.
  if (tools.length > 0 || !text.startsWith('mcp__') || text.length > LONG || !PLAIN.test(server)) return true;
  const spelled = [...foldedServers(server), fold(server.replace(/[^a-z]+/gi, '_'))].filter((each) => each !== '');
  if (keys.some((key) => spelled.some((each) => `${key}_`.startsWith(`${each}_`)))) return true;
  if (glob === undefined) return false;
  const prefixes = spelled.flatMap((each) => [`${each}_`, `mcp_${each}_`]);
  const heads = glob.names.map((name) => name.replace(/[*?].*$/s, '').replace(/[^a-z0-9]+/g, '_'));
  return (
    heads.some((head) => prefixes.some((each) => each.startsWith(head) || head.startsWith(each))) ||
    glob.pairs.some((pair) => spelled.some((each) => matchesWildcard(pair.server.folded, each)))
  );
}

const LONG = 55;
const PLAIN = /^[a-z0-9][a-z0-9_ .-]*$/i;
