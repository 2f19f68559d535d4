// Owns telling a model that the runtime itself failed: structured text it can act on, bounded, as an outcome.

import { asRuntimeError, RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ToolOutcome } from '../model/tool.ts';
import { truncate } from '../shaping/truncate.ts';

/** What adapters, the agent and the gateway hand to the model in place of an exception. */
export function failureAsOutcome(error: unknown): ToolOutcome {
  const { code, remedy, message, data } = isAbort(error)
    ? new RuntimeError('CALL_CANCELLED', {}, { cause: error })
    : asRuntimeError(error);
  const server = 'server' in data ? (data.server ?? '') : '';
  const tool = 'tool' in data ? (data.tool ?? '') : '';
  const text = [`MCP error: ${code}`, truncate(message, limits.failureTextChars / 2).text, `remedy: ${remedy}`].join(
    '\n',
  );
  return {
    text,
    content: [{ type: 'text', text }],
    attachments: [],
    isError: true,
    signals: [],
    meta: { server, tool, durationMs: 0, attempts: 0, fromCache: false },
  };
}

/** What an `AbortSignal` gives when nobody named a reason. */
function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
