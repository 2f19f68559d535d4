// Owns what a rule means: which servers and which tools its text names, and how strong it is.

import { specificity } from '../kernel/wildcard.ts';
import type { RuleText, Verdict } from '../model/rule.ts';
import type { Scope } from '../model/server.ts';

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
  readonly specificity: number;
  /** Says which rule decided, and where it stands. */
  readonly origin: string;
}

const PREFIX = 'mcp__';
const SEPARATOR = '__';

export function parseRule({ tool, action, provenance }: RuleText): Rule {
  const place = provenance.file
    ? `${provenance.file}${provenance.line === undefined ? '' : `:${provenance.line}`}`
    : 'the host program';
  return {
    text: tool,
    verdict: action,
    scope: provenance.scope,
    readings: readingsOf(tool),
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
