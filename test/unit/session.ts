// Owns a session that a test controls: it records its requests, answers as the test says, and ends when the test ends it.

import type { RequestOutcome, Session } from '../../src/connection/session.ts';
import { createDeferred, type Deferred } from '../../src/kernel/deferred.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { RuntimeError } from '../../src/model/errors.ts';
import type { ServerDefinition, ServerSettings } from '../../src/model/server.ts';
import { defaultSettings } from './config/folder.ts';

export interface FakeSession extends Session {
  /** The requests, notifications and calls it received, in order. */
  readonly asked: readonly { readonly method: string; readonly params: JsonObject }[];
  /** Sends a notification to its listeners. */
  say(method: string, params?: JsonObject): void;
  /** Makes the next `takeActivity()` return true. */
  hear(): void;
  /** So many calls are in flight from now on. */
  carry(calls: number): void;
  /** Changes the result of `usage()`. */
  use(usage: Partial<ReturnType<Session['usage']>>): void;
  /** Ends the session with that cause. */
  end(cause: RuntimeError): void;
  /** How often it was closed. */
  closed(): number;
}

export const outage = new RuntimeError('CONNECTION_LOST', { server: 's', reason: 'gone' });

/** Requests are lost before they were sent, unless the test says otherwise. */
export function createFakeSession(change: Partial<Session> = {}): FakeSession {
  const asked: { method: string; params: JsonObject }[] = [];
  const listeners = new Set<Parameters<Session['onNotification']>[0]>();
  const ended = createDeferred<RuntimeError>();
  let [isHeard, closed, keepers] = [false, 0, 0];
  let calls = 0;
  let quiet: Deferred<void> | undefined;
  let usage = { isBusy: false, isKept: false, quietSince: 0, served: 0 };
  const unsent: RequestOutcome = { kind: 'lost', sent: false };
  const { request = async () => unsent, callTool = async () => unsent, ...rest } = change;
  return {
    asked,
    origin: asked,
    era: 'legacy',
    transport: 'stdio',
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    instructions: undefined,
    serverInfo: undefined,
    pid: undefined,
    request: (method, params = {}, options = {}) => {
      asked.push({ method, params });
      return request(method, params, options);
    },
    callTool: (tool, args, options) => {
      asked.push({ method: 'tools/call', params: { name: tool, arguments: args } });
      return callTool(tool, args, options);
    },
    onParted: () => () => undefined,
    requestWithInput: (method, params, options) => {
      asked.push({ method, params });
      return request(method, params, options);
    },
    isShared: () => false,
    cancelRequestsOf: () => undefined,
    notify: (method, params) => void asked.push({ method, params }),
    onNotification: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    takeActivity: () => {
      const was = isHeard;
      isHeard = false;
      return was;
    },
    usage: () => ({ ...usage, isKept: usage.isKept || keepers > 0 }),
    callsInFlight: () => calls,
    whenQuiet: async () => quiet?.promise,
    keep: () => {
      keepers += 1;
      return () => {
        keepers -= 1;
      };
    },
    markLost: (reason) => ended.resolve(new RuntimeError('CONNECTION_LOST', { server: 's', reason })),
    ended: ended.promise,
    report: () => ({ reason: 'it said nothing', stderr: 'last words' }),
    close: async () => {
      closed += 1;
    },
    say: (method, params = {}) => {
      for (const listener of [...listeners]) listener(method, params);
    },
    hear: () => {
      isHeard = true;
    },
    carry: (now) => {
      calls = now;
      if (now > 0) quiet ??= createDeferred();
      else quiet?.resolve();
      if (now === 0) quiet = undefined;
    },
    use: (now) => {
      usage = { ...usage, ...now };
    },
    end: ended.resolve,
    closed: () => closed,
    ...rest,
  };
}

/** One function: another one would be another server. */
const serve = () => undefined;

export function definitionOf(name: string, settings: Partial<ServerSettings> = {}): ServerDefinition {
  return {
    name,
    launch: { kind: 'in-process', serve },
    settings: { ...defaultSettings, ...settings },
    provenance: { scope: 'host', key: [name] },
  };
}
