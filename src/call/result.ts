// Owns reading the result of a tool call: a result of any shape becomes an outcome, or `RESULT_BROKEN` says what is wrong with it.

import type { RequestOutcome } from '../connection/session.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { keysOf } from '../kernel/many-keys.ts';
import { inSlices, type Slices } from '../kernel/slices.ts';
import { walk } from '../kernel/walk.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ToolId } from '../model/names.ts';
import type { ContentBlock } from '../model/tool.ts';
import type { OutcomeDraft } from './pipeline.ts';

export interface OutcomeParts {
  readonly isError: boolean;
  readonly structured?: unknown;
  readonly instructions?: string | undefined;
  readonly attempts: number;
  /** The model saw the tool from the cache. */
  readonly fromCache?: boolean | undefined;
}

type HowCalled = Pick<OutcomeParts, 'attempts' | 'fromCache'>;

/** A promise only for a large result. */
export function readResult(result: unknown, id: ToolId, how: HowCalled): OutcomeDraft | Promise<OutcomeDraft> {
  if (!isObject(result)) throw malformed(id, 'its result is not an object');
  const { content = [], structuredContent, isError } = result;
  // Some servers send null for fields that they do not have.
  const structured = structuredContent ?? undefined;
  if (!Array.isArray(content)) throw malformed(id, 'the content of its result is not a list');
  if (!content.every(isBlock)) throw malformed(id, 'a block of its result has no type');
  const read = (isTooDeep: boolean) => {
    if (isTooDeep) throw malformed(id, `its result is nested deeper than ${limits.resultDepth} levels`);
    const { attempts, fromCache } = how;
    return outcome(id, content, { isError: isError === true, structured, attempts, fromCache });
  };
  const budget = { parts: PARTS_AT_ONCE };
  const isTooDeep = isDeeper(content, limits.resultDepth, budget) || isDeeper(structured, limits.resultDepth, budget);
  if (isTooDeep || budget.parts > 0) return read(isTooDeep);
  return inSlices(isDeepInSlices([content, structured], limits.resultDepth + 1)).then(read);
}

/** Holds the answer as it is; its blocks are only looked at. */
export function relayedOutcome(id: ToolId, answer: RequestOutcome, { attempts, fromCache }: HowCalled): OutcomeDraft {
  const result = answer.kind === 'result' && isObject(answer.result) ? answer.result : {};
  const { content, isError, structuredContent: structured } = result;
  const blocks = Array.isArray(content) ? content.filter(isBlock) : [];
  const isFailure = isError === true || answer.kind === 'error';
  return Object.assign(outcome(id, blocks, { isError: isFailure, structured, attempts, fromCache }), { answer });
}

/** A result with more parts is examined in slices. */
const PARTS_AT_ONCE = 10_000;

function isBlock(block: unknown): block is ContentBlock {
  return isObject(block) && typeof block['type'] === 'string';
}

/**
 * Refuses deep nesting, which would overflow the stack when a host or gateway serialises it. Recurses no deeper than the limit, and
 * gives up when the budget is spent.
 */
function isDeeper(value: unknown, levels: number, budget: { parts: number }): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const isList = Array.isArray(value);
  const keys = isList ? value : keysOf(value);
  budget.parts -= keys.length;
  if (budget.parts <= 0) return false;
  for (const each of keys) {
    const part: unknown = isList ? each : (value as JsonObject)[each as string];
    if (typeof part === 'object' && isDeeper(part, levels - 1, budget)) return true;
  }
  return false;
}

function* isDeepInSlices(value: unknown, levels: number): Slices<boolean> {
  let isDeep = false;
  yield* walk(value, (part, level) => {
    if (typeof part !== 'string' && level > levels) isDeep = true;
    return !isDeep;
  });
  return isDeep;
}

function malformed(id: ToolId, problem: string): RuntimeError {
  return new RuntimeError('RESULT_BROKEN', { ...id, problem });
}

/** An outcome without text, call id and duration: `shape` adds the text, `observe` the others. */
export function outcome(id: ToolId, content: readonly ContentBlock[], found: OutcomeParts): OutcomeDraft {
  const { isError, structured, instructions = '', attempts, fromCache = false } = found;
  const draft: OutcomeDraft = {
    text: '',
    content,
    attachments: [],
    isError,
    signals: [],
    meta: { callId: '', server: id.server, tool: id.tool, durationMs: 0, attempts, fromCache },
  };
  if (structured !== undefined) draft.structured = structured;
  if (instructions !== '') draft.instructions = instructions;
  return draft;
}
