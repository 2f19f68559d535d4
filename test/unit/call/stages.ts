// Owns how the tests of one stage build what travels: a tool, a call, and an outcome that came back.

import type { Recheck } from '../../../src/call/authorize/recheck.ts';
import type { ToolCall } from '../../../src/call/pipeline.ts';
import { Taint } from '../../../src/call/taint.ts';
import { createSnapshot } from '../../../src/catalog/snapshot.ts';
import type { RequestOutcome } from '../../../src/connection/session.ts';
import { Cancellation } from '../../../src/kernel/cancellation.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import type { Freshness, Tool, ToolDefinition, ToolOutcome } from '../../../src/model/tool.ts';
import type { SessionProvider } from '../../../src/servers/sessions.ts';
import { createFakeSession } from '../session.ts';

export function toolOf(
  server: string,
  name: string,
  definition: Partial<ToolDefinition> = {},
  freshness: Freshness = 'live',
): Tool {
  const { tools } = createSnapshot([
    { server, label: 'test', freshness, tools: [{ inputSchema: { type: 'object' }, ...definition, name }] },
  ]);
  const [tool] = tools;
  if (tool === undefined) throw new TypeError('a snapshot of one tool is empty');
  return tool;
}

let calls = 0;

export function callOf(tool: Tool, parts: Partial<ToolCall> = {}): ToolCall {
  return {
    callId: `test-${++calls}`,
    name: tool.name,
    tool,
    arguments: {},
    visibleTools: { tools: [tool], isWhole: true },
    cancellation: new Cancellation(),
    onProgress: () => undefined,
    caller: { grants: new Set(), handlers: {}, taint: new Taint() },
    ...parts,
  };
}

export function outcomeOf({ id }: Tool, text = ''): ToolOutcome {
  return {
    text,
    content: [{ type: 'text', text }],
    attachments: [],
    isError: false,
    signals: [],
    meta: { callId: '', server: id.server, tool: id.tool, durationMs: 0, attempts: 1, fromCache: false },
  };
}

/** One open session for everybody, which answers so; what is lost stays lost. */
export function sessionsOf(answer: RequestOutcome, change: Partial<SessionProvider> = {}): SessionProvider {
  const session = createFakeSession({ callTool: async () => answer });
  return {
    open: () => session,
    whenReady: async () => session,
    whenReplaced: async () => session,
    whenListed: async () => undefined,
    waitFailure: (server, afterMs) =>
      new RuntimeError('STARTUP_TIMEOUT', { server, afterMs, reason: 'a call waited for it' }),
    isRepeatable: () => false,
    metaFor: () => undefined,
    maxMessageBytes: () => 1_024,
    callLimits: () => ({ totalMs: 0, silenceMs: 0 }),
    ...change,
  };
}

/** For calls whose permission is not what a test is about. */
export const unchecked: Recheck = { recheckPermission: () => undefined, recheckDefinition: () => undefined };

/** What a promise came to, as a value: its result, or the code of its failure. */
export async function endOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    (value) => value,
    (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error),
  );
}
