// Owns the approval modes: whether to ask the user before a call that no rule matches.

import type { ApprovalMode } from '../model/server.ts';
import type { ToolAnnotations } from '../model/tool.ts';
import type { Decision } from './decision.ts';

const strictestFirst: readonly ApprovalMode[] = ['prompt', 'writes', 'auto', 'approve'];

/** An entry may set a mode for its server and for one of its tools: the stricter one counts. */
export function strictest(...modes: readonly (ApprovalMode | undefined)[]): ApprovalMode {
  return strictestFirst.find((mode) => modes.includes(mode)) ?? 'auto';
}

/**
 * Annotations count only where they are trusted: the server has `trustHints`, and they come from the live server. An absent hint
 * counts for nothing, and `destructiveHint: true` counts more than `readOnlyHint: true`.
 */
export function judgeByMode(mode: ApprovalMode, annotations: ToolAnnotations, trustsAnnotations: boolean): Decision {
  if (mode === 'prompt')
    return { verdict: 'ask', because: 'approval = "prompt" in its entry', byRule: true, isEveryTime: true };
  if (mode === 'approve') return { verdict: 'allow', because: 'approval = "approve" in its entry', byRule: true };
  const harmless = harmlessness(mode, annotations);
  // The default is "auto", so "writes" was set in the entry and counts like a rule.
  const byRule = mode === 'writes';
  if (harmless !== undefined && trustsAnnotations) return { verdict: 'allow', because: harmless, byRule };
  const setting = byRule ? 'approval = "writes" in its entry' : 'no rule matches';
  return {
    verdict: 'ask',
    because: `${setting}, and ${whyNotHarmless(mode, annotations, harmless !== undefined)}`,
    byRule,
  };
}

/** A tool that claims to read only and to destroy as well is not read-only. */
export const readsOnly = ({ readOnlyHint, destructiveHint }: ToolAnnotations): boolean =>
  readOnlyHint === true && destructiveHint !== true;

/** Why the tool is harmless, in words; `undefined` where it may do harm. */
function harmlessness(mode: 'writes' | 'auto', annotations: ToolAnnotations): string | undefined {
  const { readOnlyHint, destructiveHint, openWorldHint } = annotations;
  if (destructiveHint === true) return undefined;
  if (readOnlyHint === true) return 'it states that it only reads, and its hints are trusted';
  return mode === 'auto' && destructiveHint === false && openWorldHint === false
    ? 'it states that it destroys nothing and reaches nothing outside, and its hints are trusted'
    : undefined;
}

function whyNotHarmless(mode: 'writes' | 'auto', { destructiveHint }: ToolAnnotations, isHarmless: boolean): string {
  if (destructiveHint === true) return 'it states that it may destroy something';
  if (isHarmless) return 'its hints are not trusted, which takes "trustHints" in its entry and a connected server';
  return mode === 'writes' ? 'it does not state that it only reads' : 'it does not state that it is harmless';
}
