// Owns what a rule means: which servers and which tools its text names, and how strong it is. What it may mean in the spelling
// of another agent is in `spellings.ts` and `closing.ts`.

import { matchesWildcard, specificity } from '../kernel/wildcard.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { RuleText, Verdict } from '../model/rule.ts';
import type { Provenance, Scope } from '../model/server.ts';
import { sanitize } from '../model/spellings.ts';
import { type Bases, type Need, readConditions } from './conditions.ts';
import type { Decision } from './decision.ts';
import { closingOf, type DenyPattern } from './deny-match.ts';
import { isPattern, type KnownServers, knowServers, openingOf, type Spelling } from './spellings.ts';

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
  readonly isPattern: boolean;
  /** Whether a reading may be wrong: then it opens nothing. */
  readonly isDoubtful: boolean;
  /** What else it opens, beyond doubt. */
  readonly opening?: Spelling;
  /** What else it closes: all that it may mean. */
  readonly closing?: DenyPattern;
  /** The end of a name that a tool had, or still has: it says who was meant, however tools are called now. */
  readonly hash?: string;
  readonly specificity: number;
  /** What it says about arguments: it is about calls that have all of it. */
  readonly needs: readonly Need[];
  /** Part of that has no meaning: then it opens nothing, and closes without it. */
  readonly isBroken: boolean;
  /** What of the rest has no effect, in words that complete "it …". */
  readonly misread?: string;
  /** Says which rule decided, and where it stands. */
  readonly origin: string;
  readonly provenance: Provenance;
  /** What it says where it is the one that decides. */
  readonly decision: Decision;
}

const PREFIX = 'mcp__';
const SEPARATOR = '__';

/** `servers` are all that are configured, whether they run or not: whom a rule means must not depend on who is up. */
export function parseRules(
  rules: readonly RuleText[],
  servers: Iterable<ServerName>,
  bases: Bases = {},
): readonly Rule[] {
  const known = knowServers(servers);
  return rules.map((rule) => parse(rule, known, bases));
}

export function parseRule(rule: RuleText, bases: Bases = {}): Rule {
  return parse(rule, new Map(), bases);
}

const HASHED = new RegExp(`_([0-9a-f]{${limits.nameHashLength}})$`);

function parse({ tool, action, args, misread, provenance }: RuleText, known: KnownServers, bases: Bases): Rule {
  const readings = readingsOf(tool);
  const [, hash] = HASHED.exec(tool) ?? [];
  const isDoubtful = readings.length > 1 || (hash !== undefined && mayBeHashed(tool, readings, known));
  const closing = action === 'allow' ? undefined : closingOf(tool, known);
  const isForeign = action === 'allow' && hash === undefined && !isDoubtful && !isMeant(readings, known);
  const opening = isForeign ? openingOf(tool, known) : undefined;
  const { needs, isBroken } = readConditions(args, provenance, bases);
  const origin = originOf(tool, action, needs, provenance);
  return {
    text: tool,
    verdict: action,
    scope: provenance.scope,
    readings,
    isPattern: isPattern(tool),
    isDoubtful,
    ...(opening && { opening }),
    ...(closing && { closing }),
    ...(hash !== undefined && { hash }),
    specificity: specificity(tool),
    needs,
    isBroken,
    ...(misread !== undefined && { misread }),
    origin,
    provenance,
    decision: decisionOf(tool, action, { origin, isNarrow: needs.length > 0 }, provenance),
  };
}

function originOf(tool: string, action: Verdict, needs: readonly Need[], { file, line }: Provenance): string {
  const place = file ? `${file}${line === undefined ? '' : `:${line}`}` : 'the host program';
  const about = needs.length === 0 ? '' : ` for ${needs.map(({ text }) => text).join(', ')}`;
  return `the rule "${tool}" = ${action}${about} in ${place}`;
}

function decisionOf(
  text: string,
  action: Verdict,
  { origin, isNarrow }: { readonly origin: string; readonly isNarrow: boolean },
  { scope, file, line }: Provenance,
): Decision {
  const place = { ...(file !== undefined && { file }), ...(line !== undefined && { line }) };
  return Object.freeze({
    verdict: action,
    because: origin,
    byRule: true,
    // A grant is for a tool, whatever its arguments: it does not answer who asks because of these.
    ...(action === 'ask' && isNarrow && { isEveryTime: true as const }),
    rule: { text, action, scope, ...place },
  });
}

/** Whether the text says something about a server in our own spelling: then it says nothing in another. */
function isMeant(readings: readonly Reading[], known: KnownServers): boolean {
  return serversIn(known).some((server) => readings.some((reading) => matchesWildcard(reading.server, server)));
}

/** Whether it may be the hashed name of another server's tool: that one's neighbor could call a tool of its own so. */
function mayBeHashed(text: string, readings: readonly Reading[], known: KnownServers): boolean {
  const room = limits.toolNameLength - limits.nameHashLength - 1;
  return serversIn(known).some(
    (server) =>
      readings.every((reading) => reading.server !== server) &&
      text.startsWith(`${PREFIX}${sanitize(server)}`.slice(0, room).replace(/_+$/, '')),
  );
}

const serversIn = (known: KnownServers) => [...known.values()].flat();

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
