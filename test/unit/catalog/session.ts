// Owns a session whose answers are a function of the test: what it was asked is written down.

import type { Answer, Session } from '../../../src/connection/session.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { limits } from '../../../src/model/limits.ts';
import type { ServerDefinition, ServerSettings } from '../../../src/model/server.ts';

export interface AskedSession extends Session {
  /** The cursors it was asked for, in order. */
  readonly asked: readonly unknown[];
}

export function createSession(
  answer: (
    params: JsonObject,
    cancellation: { race<Value>(work: Promise<Value>): Promise<Value> },
  ) => Answer | Promise<Answer>,
  capabilities: JsonObject = { tools: {} },
): AskedSession {
  const asked: unknown[] = [];
  return {
    asked,
    era: 'legacy',
    protocolVersion: '2025-11-25',
    capabilities,
    instructions: undefined,
    pid: undefined,
    async request(method, params = {}, { cancellation } = {}) {
      if (method !== 'tools/list' || cancellation === undefined) throw new TypeError(`${method} was not expected`);
      asked.push(params['cursor']);
      return answer(params, cancellation);
    },
    callTool: () => Promise.reject(new TypeError('no call was expected')),
    ended: new Promise(() => undefined),
    report: () => ({ reason: 'it said nothing', stderr: 'last words' }),
    close: async () => undefined,
  };
}

/** One page of tools with these names. */
export function page(names: readonly string[], nextCursor?: unknown): Answer {
  const tools = names.map((name) => ({ name, inputSchema: { type: 'object' } }));
  return { kind: 'result', result: { tools, ...(nextCursor !== undefined && { nextCursor }) } };
}

export function definitionOf(name: string, settings: Partial<ServerSettings> = {}): ServerDefinition {
  return {
    name,
    launch: { kind: 'in-process', serve: () => undefined },
    settings: {
      enabled: true,
      startupTimeoutMs: 60_000,
      toolTimeoutMs: 100_000_000,
      disabledTools: [],
      maxResultChars: 50_000,
      maxMessageBytes: limits.unreadInputBytes,
      ...settings,
    },
    provenance: { scope: 'host', key: [name] },
  };
}
