// Owns when somebody is asked before a tool is called of which no rule speaks.

import type { ApprovalMode } from '../model/server.ts';
import type { ToolAnnotations } from '../model/tool.ts';
import type { Decision } from './decision.ts';

const strictestFirst: readonly ApprovalMode[] = ['prompt', 'writes', 'auto', 'approve'];

/** Whoever says something for a server and for one of its tools gets the stricter of the two. */
export function strictest(...modes: readonly (ApprovalMode | undefined)[]): ApprovalMode {
  return strictestFirst.find((mode) => modes.includes(mode)) ?? 'auto';
}

/**
 * What a tool says of itself counts only where it is believed: its server's hints are trusted, and this is what it says now.
 * Only what is said counts; that something is destructive counts more than that it only reads.
 */
export function judgeByMode(mode: ApprovalMode, annotations: ToolAnnotations, trustsAnnotations: boolean): Decision {
  if (mode === 'prompt')
    return { verdict: 'ask', because: 'approval = "prompt" in its entry', byRule: true, isEveryTime: true };
  if (mode === 'approve') return { verdict: 'allow', because: 'approval = "approve" in its entry', byRule: true };
  const harmless = harmlessness(mode, annotations);
  // Only a person can have written "writes": the default is "auto".
  const byRule = mode === 'writes';
  if (harmless !== undefined && trustsAnnotations) return { verdict: 'allow', because: harmless, byRule };
  const said = byRule ? 'approval = "writes" in its entry' : 'no rule matches';
  return { verdict: 'ask', because: `${said}, and ${whyNot(mode, annotations, harmless !== undefined)}`, byRule };
}

/** In words; `undefined` where it may do harm. */
function harmlessness(mode: 'writes' | 'auto', annotations: ToolAnnotations): string | undefined {
  const { readOnlyHint, destructiveHint, openWorldHint } = annotations;
  if (destructiveHint === true) return undefined;
  if (readOnlyHint === true) return 'it states that it only reads, and its server is believed';
  return mode === 'auto' && destructiveHint === false && openWorldHint === false
    ? 'it states that it destroys nothing and stays inside, and its server is believed'
    : undefined;
}

function whyNot(mode: 'writes' | 'auto', { destructiveHint }: ToolAnnotations, isHarmless: boolean): string {
  if (destructiveHint === true) return 'it states that it may destroy something';
  if (isHarmless) return 'what it states of itself is not believed; that takes "trustHints", and its server to be up';
  return mode === 'writes' ? 'it does not state that it only reads' : 'it does not state that it is harmless';
}
