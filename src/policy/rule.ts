// Owns what a rule means: which servers and which tools its text names, and how strong it is. What it may mean in the spelling
// of another agent is in `spellings.ts`.

import { matchesWildcard, specificity } from '../kernel/wildcard.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { RuleText, Verdict } from '../model/rule.ts';
import type { Scope } from '../model/server.ts';
import { type KnownServers, knowServers, type Spelling, spellingsOf } from './spellings.ts';

/** One way to read a rule's text as a pair of patterns. */
interface Reading {
  readonly server: string;
  readonly tool: string;
}

export interface Rule {
  readonly text: string;
  readonly verdict: Verdict;
  readonly scope: Scope;
  /** More than one where `__` stands more than once: `mcp__a__b__c` is tool `b__c` of `a` or tool `c` of `a__b`. */
  readonly readings: readonly Reading[];
  /** What else it may mean. */
  readonly spellings: readonly Spelling[];
  /** The end of a name that a tool had, or still has: it says who was meant, however tools are called now. */
  readonly hash?: string;
  readonly specificity: number;
  /** Says which rule decided, and where it stands. */
  readonly origin: string;
}

const PREFIX = 'mcp__';
const SEPARATOR = '__';

/** `servers` are all that are configured, whether they run or not: whom a rule means must not depend on who is up. */
export function parseRules(rules: readonly RuleText[], servers: Iterable<ServerName>): readonly Rule[] {
  const known = knowServers(servers);
  return rules.map((rule) => parse(rule, known));
}

export function parseRule(rule: RuleText): Rule {
  return parse(rule, new Map());
}

const HASHED = new RegExp(`_([0-9a-f]{${limits.nameHashLength}})$`);

function parse({ tool, action, provenance }: RuleText, known: KnownServers): Rule {
  const place = provenance.file
    ? `${provenance.file}${provenance.line === undefined ? '' : `:${provenance.line}`}`
    : 'the host program';
  const readings = readingsOf(tool);
  const isMeant = (server: ServerName) => readings.some((reading) => matchesWildcard(reading.server, server));
  const isTaken = readings.length > 1 || [...known.values()].flat().some(isMeant);
  const [, hash] = HASHED.exec(tool) ?? [];
  return {
    text: tool,
    verdict: action,
    scope: provenance.scope,
    readings,
    spellings: known.size === 0 ? [] : spellingsOf(tool, action, known, isTaken),
    ...(hash !== undefined && { hash }),
    specificity: specificity(tool),
    origin: `the rule "${tool}" = ${action} in ${place}`,
  };
}

function readingsOf(text: string): readonly Reading[] {
  const body = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text;
  if (body === '*') return [{ server: '*', tool: '*' }];
  const readings: Reading[] = [];
  for (let at = body.indexOf(SEPARATOR, 1); at >= 0; at = body.indexOf(SEPARATOR, at + 1)) {
    const tool = body.slice(at + SEPARATOR.length);
    if (tool !== '') readings.push({ server: body.slice(0, at), tool });
  }
  // A server alone stands for all of its tools.
  return readings.length > 0 ? readings : [{ server: body, tool: '*' }];
}
