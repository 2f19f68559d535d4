// Owns reading the result of a tool call: a result of any shape becomes an outcome, or `RESULT_BROKEN` says what is wrong with it.

import { isObject } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ToolId } from '../model/names.ts';
import type { ContentBlock, ToolOutcome } from '../model/tool.ts';

export interface OutcomeParts {
  readonly isError: boolean;
  readonly structured?: unknown;
  readonly attempts: number;
  /** The model saw the tool from the cache. */
  readonly fromCache?: boolean;
}

export function readResult(
  result: unknown,
  id: ToolId,
  how: Pick<OutcomeParts, 'attempts' | 'fromCache'>,
): ToolOutcome {
  if (!isObject(result)) throw malformed(id, 'its result is not an object');
  const { content = [], structuredContent, isError } = result;
  // Some servers send null for fields that they do not have.
  const structured = structuredContent ?? undefined;
  if (!Array.isArray(content)) throw malformed(id, 'the content of its result is not a list');
  if (!content.every(isBlock)) throw malformed(id, 'a block of its result has no type');
  if (isDeeper(content, limits.resultDepth) || isDeeper(structured, limits.resultDepth))
    throw malformed(id, `its result is nested deeper than ${limits.resultDepth} levels`);
  return outcome(id, content, { isError: isError === true, structured, ...how });
}

function isBlock(block: unknown): block is ContentBlock {
  return isObject(block) && typeof block['type'] === 'string';
}

/** Refuses deep nesting, which would overflow the stack when a host or gateway serialises it. Recurses no deeper than the limit. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const parts = Array.isArray(value) ? value : Object.values(value);
  return parts.some((part) => isDeeper(part, levels - 1));
}

function malformed(id: ToolId, problem: string): RuntimeError {
  return new RuntimeError('RESULT_BROKEN', { ...id, problem });
}

/** An outcome without text and duration: `shape` adds the text, `observe` the duration. */
export function outcome(id: ToolId, content: readonly ContentBlock[], found: OutcomeParts): ToolOutcome {
  const { isError, structured, attempts, fromCache = false } = found;
  return {
    text: '',
    content,
    attachments: [],
    ...(structured !== undefined && { structured }),
    isError,
    signals: [],
    meta: { server: id.server, tool: id.tool, durationMs: 0, attempts, fromCache },
  };
}
