// Owns a legacy server in process that is moved by hand: a call, and what else a test names, waits until the test answers it.

import type { JsonObject } from '../../../src/kernel/json.ts';
import type { Channel, Message } from '../../../src/model/server.ts';

export interface ManualServer {
  readonly entry: { readonly serve: (channel: Channel) => Promise<void> };
  /** The requests that wait, the oldest first, over all its lives; answered ones stay. */
  readonly calls: readonly Message[];
  readonly received: readonly Message[];
  /** To the newest connection. */
  send(message: JsonObject): void;
  answer(call: Message | undefined, text: string): void;
  crash(): Promise<void>;
}

export function createManualServer(
  held: readonly string[] = ['tools/call'],
  capabilities: JsonObject = {},
): ManualServer {
  const calls: Message[] = [];
  const received: Message[] = [];
  let channel: Channel | undefined;
  const tools = [{ name: 'wait', inputSchema: { type: 'object' } }];
  const serverInfo = { name: 'manual', version: '1' };
  const initialized = { protocolVersion: '2025-11-25', serverInfo };
  const offered = { tools: {}, logging: {}, ...capabilities };
  const send = (message: JsonObject) => void channel?.send({ jsonrpc: '2.0', ...message });
  const entry = {
    async serve(opened: Channel) {
      channel = opened;
      opened.onmessage = (message) => {
        received.push(message);
        const { id, method } = message;
        if (held.includes(String(method))) calls.push(message);
        else if (method === 'initialize') send({ id, result: { ...initialized, capabilities: offered } });
        else if (method === 'tools/list') send({ id, result: { tools } });
        else if (method === 'server/discover') send({ id, error: { code: -32601, message: 'no' } });
        else if (id !== undefined && method !== undefined) send({ id, result: {} });
      };
      await opened.start();
    },
  };
  const answer = (call: Message | undefined, text: string) =>
    send({ id: call?.['id'], result: { content: [{ type: 'text', text }] } });
  return { entry, calls, received, send, answer, crash: async () => channel?.close() };
}
