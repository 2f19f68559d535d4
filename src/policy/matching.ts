// Owns whether a rule speaks of a tool, by its name alone. Pure; which of those that do decides is `judge.ts`'s.

import { matchesWildcard } from '../kernel/wildcard.ts';
import type { ToolId } from '../model/names.ts';
import { closes, mayClose } from './deny-match.ts';
import type { Rule } from './rule.ts';
import type { SpelledTool } from './tool-spellings.ts';

/** What allows says no more than is beyond doubt; what denies or asks says all that it may mean. */
export function speaksOf(rule: Rule, asked: SpelledTool): boolean {
  return rule.verdict === 'allow' ? !rule.isBroken && opens(rule, asked) : shuts(rule, asked);
}

/** A text with two readings opens neither: what it opens must be beyond doubt. */
function opens(rule: Rule, asked: SpelledTool): boolean {
  const { text, hash, opening, isDoubtful } = rule;
  if (isDoubtful) return text === asked.name && (hash === undefined || hash === asked.hash());
  if (text === asked.name || isRead(rule, asked.id)) return true;
  return opening !== undefined && opening.server === asked.id.server && fits(rule, opening.tool, asked.id.tool);
}

/** A hash alone shuts and never opens: somebody patient can find a tool's name that has it. */
function shuts(rule: Rule, asked: SpelledTool): boolean {
  const { text, hash, closing } = rule;
  if (text === asked.name || (hash !== undefined && hash === asked.hash())) return true;
  if (closing === undefined) return isRead(rule, asked.id);
  return mayClose(closing, asked) && (isRead(rule, asked.id) || closes(closing, asked));
}

function isRead(rule: Rule, { server, tool }: ToolId): boolean {
  return rule.readings.some((reading) => fits(rule, reading.server, server) && fits(rule, reading.tool, tool));
}

/** A server alone stands for all of its tools, so there is a star even where the text has none. */
function fits({ isPattern }: Rule, pattern: string, text: string): boolean {
  return pattern === '*' || (isPattern ? matchesWildcard(pattern, text) : pattern === text);
}
