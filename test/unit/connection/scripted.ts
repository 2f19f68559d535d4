// Owns servers that follow a script, message by message, and sessions opened on them.

import { LeaseHandlers } from '../../../src/connection/lease-handlers.ts';
import { openSession, type Session, type SessionOptions } from '../../../src/connection/session.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { Channel, Message } from '../../../src/model/server.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { createScriptedTransport, type ScriptedTransport } from '../../../src/testing/scripted-transport.ts';

export type Reply = JsonObject | 'silence' | 'death';
export type Script = Readonly<Record<string, (message: Message) => Reply>>;

export const result = (value: JsonObject) => () => ({ result: value });
export const unknown = () => ({ error: { code: -32601, message: 'Method not found' } });
const serverInfo = { name: 'scripted', version: '1' };

export const legacy: Script = {
  'server/discover': unknown,
  initialize: result({
    protocolVersion: '2025-11-25',
    capabilities: { tools: { listChanged: true } },
    serverInfo,
    instructions: 'Be kind.',
  }),
};
export const modern: Script = {
  'server/discover': result({
    resultType: 'complete',
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {} },
    serverInfo,
  }),
  initialize: unknown,
};

/** A channel whose server follows the script, and does not answer methods that are not in it. */
export function scripted(script: Script, change: Partial<Channel> = {}): ScriptedTransport {
  const channel = createScriptedTransport();
  const { send } = channel;
  return Object.assign(channel, {
    send: async (message: Message) => {
      await send(message);
      const reply = script[String(message['method'])]?.(message) ?? 'silence';
      if (message['id'] === undefined || reply === 'silence') return;
      queueMicrotask(() => {
        if (reply === 'death') channel.drop({ reason: 'it died' });
        else channel.receive({ jsonrpc: '2.0', id: message['id'], ...reply });
      });
    },
    ...change,
  });
}

interface Opened {
  readonly channels: readonly ScriptedTransport[];
  readonly clock: ReturnType<typeof createFakeClock>;
  readonly opening: Promise<Session>;
}

/** Hands out the channels in order, one for each request. */
export function open(channels: readonly ScriptedTransport[], change: Partial<SessionOptions> = {}): Opened {
  const clock = createFakeClock();
  const left = [...channels];
  const used: ScriptedTransport[] = [];
  const opening = openSession({
    server: 's',
    transport: 'stdio',
    channel: async () => {
      const next = left.shift();
      if (next === undefined) throw new TypeError('no further channel was expected');
      used.push(next);
      return next;
    },
    identity: { name: 'plexus', title: 'Plexus', version: '1' },
    handlers: {},
    leases: new LeaseHandlers(),
    pace: undefined,
    startupTimeoutMs: () => 60_000,
    clock,
    signal: new AbortController().signal,
    ...change,
  });
  return { channels: used, clock, opening };
}

export const methodsOf = ({ sent }: ScriptedTransport) => sent.map(({ method }) => method);

/** Waits until the request was sent: the channel is opened first. */
export async function sentTo(channel: ScriptedTransport, method: string): Promise<void> {
  while (!methodsOf(channel).includes(method)) await new Promise((resolve) => setImmediate(resolve));
}
