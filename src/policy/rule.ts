// Owns parsing a rule: which servers and tools its text names, its specificity and its conditions. What the text may mean in the
// spelling of another agent is in `spellings.ts` (allow) and `deny-match.ts` (deny, ask).

import { matchesWildcard, specificity } from '../kernel/wildcard.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { RuleText, Verdict } from '../model/rule.ts';
import type { Provenance, Scope } from '../model/server.ts';
import { sanitize } from '../model/spellings.ts';
import { type ArgumentCondition, type FolderBases, parseConditions } from './conditions.ts';
import type { Decision } from './decision.ts';
import { type DenyPattern, denyPatternOf } from './deny-match.ts';
import { type AllowPattern, allowPatternOf, indexServers, isPattern, type ServerIndex } from './spellings.ts';

/** One way to read a rule's text as a server pattern and a tool pattern. */
interface PatternPair {
  readonly server: string;
  readonly tool: string;
}

export interface PermissionRule {
  readonly text: string;
  readonly verdict: Verdict;
  readonly scope: Scope;
  /** More than one where the text has `__` more than once: `mcp__a__b__c` is tool `b__c` of `a` or tool `c` of `a__b`. */
  readonly readings: readonly PatternPair[];
  readonly isPattern: boolean;
  /** More than one tool may be meant. An ambiguous rule allows no tool by its readings. */
  readonly isAmbiguous: boolean;
  /** Set for an allow rule in another agent's spelling: the one server and tool pattern it means. */
  readonly allowPattern?: AllowPattern;
  /** Set for a deny or ask rule: everything its text may mean in any spelling. */
  readonly denyPattern?: DenyPattern;
  /** The name hash at the end of the text. It identifies the tool even when its qualified name has changed since. */
  readonly hash?: string;
  readonly specificity: number;
  /** The rule applies only to calls whose arguments meet all of these. */
  readonly conditions: readonly ArgumentCondition[];
  /** A condition cannot be read. Then an allow matches nothing, and a deny or ask applies without that condition. */
  readonly hasInvalidConditions: boolean;
  /** Which other part of the rule has no effect, in words that complete "it …". */
  readonly misread?: string;
  /** The rule and its place, as a person reads it in a decision. */
  readonly origin: string;
  readonly provenance: Provenance;
  /** The decision when this rule is the one that decides; made once. */
  readonly decision: Decision;
}

const PREFIX = 'mcp__';
const SEPARATOR = '__';

/** `servers` are all configured servers, running or not: what a rule means must not depend on which servers are up. */
export function parseRules(
  rules: readonly RuleText[],
  servers: Iterable<ServerName>,
  bases: FolderBases = {},
): readonly PermissionRule[] {
  const index = indexServers(servers);
  return rules.map((rule) => parse(rule, index, bases));
}

export function parseRule(rule: RuleText, bases: FolderBases = {}): PermissionRule {
  return parse(rule, new Map(), bases);
}

const HASHED = new RegExp(`_([0-9a-f]{${limits.nameHashLength}})$`);

function parse(
  { tool, action, args, misread, provenance }: RuleText,
  index: ServerIndex,
  bases: FolderBases,
): PermissionRule {
  // Stars in a row mean one, and a hostile file may have very many of them.
  const pattern = tool.replace(/\*{2,}/g, '*');
  const readings = readingsOf(pattern);
  const [, hash] = HASHED.exec(tool) ?? [];
  const isAmbiguous = readings.length > 1 || (hash !== undefined && mayBeHashedName(tool, readings, index));
  const denyPattern = action === 'allow' ? undefined : denyPatternOf(pattern, index, tool);
  const isForeign = action === 'allow' && hash === undefined && !isAmbiguous && !namesConfiguredServer(readings, index);
  const allowPattern = isForeign ? allowPatternOf(tool, index) : undefined;
  const { conditions, isInvalid } = parseConditions(args, provenance, bases);
  const origin = originOf(tool, action, conditions, provenance);
  return {
    text: tool,
    verdict: action,
    scope: provenance.scope,
    readings,
    isPattern: isPattern(tool),
    isAmbiguous,
    ...(allowPattern && { allowPattern }),
    ...(denyPattern && { denyPattern }),
    ...(hash !== undefined && { hash }),
    specificity: specificity(tool),
    conditions,
    hasInvalidConditions: isInvalid,
    ...(misread !== undefined && { misread }),
    origin,
    provenance,
    decision: decisionOf(tool, action, { origin, isConditional: conditions.length > 0 }, provenance),
  };
}

function originOf(
  tool: string,
  action: Verdict,
  conditions: readonly ArgumentCondition[],
  { file, line }: Provenance,
): string {
  const place = file ? `${file}${line === undefined ? '' : `:${line}`}` : 'the host program';
  const about = conditions.length === 0 ? '' : ` for ${conditions.map(({ text }) => text).join(', ')}`;
  return `the rule "${tool}" = ${action}${about} in ${place}`;
}

function decisionOf(
  text: string,
  action: Verdict,
  { origin, isConditional }: { readonly origin: string; readonly isConditional: boolean },
  { scope, file, line }: Provenance,
): Decision {
  const place = { ...(file !== undefined && { file }), ...(line !== undefined && { line }) };
  return Object.freeze({
    verdict: action,
    because: origin,
    byRule: true,
    // A grant is for a tool with any arguments, so it does not answer a rule that asks because of the arguments.
    ...(action === 'ask' && isConditional && { isEveryTime: true as const }),
    rule: { text, action, scope, ...place },
  });
}

/** Whether a configured server matches the text in our own spelling; then it is not read in another agent's spelling. */
function namesConfiguredServer(readings: readonly PatternPair[], index: ServerIndex): boolean {
  return serversIn(index).some((server) => readings.some((reading) => matchesWildcard(reading.server, server)));
}

/** Whether the text may be the hashed name of another server's tool: a server could give a tool of its own that name. */
function mayBeHashedName(text: string, readings: readonly PatternPair[], index: ServerIndex): boolean {
  const room = limits.toolNameLength - limits.nameHashLength - 1;
  return serversIn(index).some(
    (server) =>
      readings.every((reading) => reading.server !== server) &&
      text.startsWith(`${PREFIX}${sanitize(server)}`.slice(0, room).replace(/_+$/, '')),
  );
}

const serversIn = (index: ServerIndex) => [...index.values()].flat();

function readingsOf(text: string): readonly PatternPair[] {
  const body = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text;
  if (body === '*') return [{ server: '*', tool: '*' }];
  const readings: PatternPair[] = [];
  for (let at = body.indexOf(SEPARATOR, 1); at >= 0; at = body.indexOf(SEPARATOR, at + 1)) {
    const tool = body.slice(at + SEPARATOR.length);
    if (tool !== '') readings.push({ server: body.slice(0, at), tool });
  }
  // A rule that names only a server is about all of its tools.
  return readings.length > 0 ? readings : [{ server: body, tool: '*' }];
}
