// Owns whether a rule matches a tool, by the tool's name alone. Pure. Which of the matching rules decides is `judge.ts`'s work.

import { matchesWildcard } from '../kernel/wildcard.ts';
import type { ToolId } from '../model/names.ts';
import { matchesDenyPattern, mayMatchDenyPattern } from './deny-match.ts';
import type { PermissionRule } from './rule.ts';
import type { SpelledTool } from './tool-spellings.ts';

/** An allow matches only what its text means beyond doubt; a deny or an ask matches everything that its text may mean. */
export function ruleMatches(rule: PermissionRule, tool: SpelledTool): boolean {
  return rule.verdict === 'allow'
    ? !rule.hasInvalidConditions && allowMatches(rule, tool)
    : restrictionMatches(rule, tool);
}

/** An ambiguous text allows only the tool that has exactly this name. */
function allowMatches(rule: PermissionRule, tool: SpelledTool): boolean {
  const { text, hash, allowPattern, isAmbiguous } = rule;
  if (isAmbiguous) return text === tool.name && (hash === undefined || hash === tool.hash());
  if (text === tool.name || matchesReading(rule, tool.id)) return true;
  return (
    allowPattern !== undefined &&
    allowPattern.server === tool.id.server &&
    matchesPart(rule, allowPattern.tool, tool.id.tool)
  );
}

/** An equal name hash denies and never allows: a patient attacker can find a tool name that has the same hash. */
function restrictionMatches(rule: PermissionRule, tool: SpelledTool): boolean {
  const { text, hash, denyPattern } = rule;
  if (text === tool.name || (hash !== undefined && hash === tool.hash())) return true;
  if (denyPattern === undefined) return matchesReading(rule, tool.id);
  return (
    mayMatchDenyPattern(denyPattern, tool) && (matchesReading(rule, tool.id) || matchesDenyPattern(denyPattern, tool))
  );
}

function matchesReading(rule: PermissionRule, { server, tool }: ToolId): boolean {
  return rule.readings.some(
    (reading) => matchesPart(rule, reading.server, server) && matchesPart(rule, reading.tool, tool),
  );
}

/** A rule that names only a server has the tool pattern `*`, even though its text holds no wildcard. */
function matchesPart({ isPattern }: PermissionRule, pattern: string, name: string): boolean {
  return pattern === '*' || (isPattern ? matchesWildcard(pattern, name) : pattern === name);
}
