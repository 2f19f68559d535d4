// Owns starting runtimes in a folder of their own, which are closed with the test, and a server in process that says what a test wants.

import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Runtime, RuntimeOptions } from '../../src/api.ts';
import { isObject, type JsonObject } from '../../src/kernel/json.ts';
import type { Channel, Message } from '../../src/model/server.ts';
import { removeFolder } from '../remove-folder.ts';
import { type OpenedRuntime, openRuntime } from '../runtime.ts';

export function createFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'plexus-fleet-')));
  onTestFinished(() => removeFolder(folder));
  return folder;
}

export type Started = OpenedRuntime;

/** Everything is allowed, nobody watches, and no file is read, unless the test says otherwise. Closed with the test. */
export async function start(folder: string, options: RuntimeOptions): Promise<Started> {
  const runtime = await openRuntime(folder, options);
  onTestFinished(() => runtime.close());
  return runtime;
}

export function statusOf(runtime: Runtime, name: string) {
  return runtime.status().find((each) => each.name === name) ?? expect.fail(`there is no server ${name}`);
}

export const textOf = ({ content }: { readonly content: readonly JsonObject[] }) => content[0]?.['text'];

export interface RawServer {
  readonly entry: { readonly serve: (channel: Channel) => Promise<void> };
  /** What it was sent by method, over all its lives. */
  received(method: string): readonly Message[];
  /** Says something unasked. */
  say(method: string, params?: JsonObject): Promise<void>;
  crash(): Promise<void>;
}

type Methods = Record<string, (params: JsonObject) => JsonObject | Promise<JsonObject>>;

/** A server of the older era. A method that throws answers with an error. */
export function createRawServer(capabilities: JsonObject, more: Methods = {}): RawServer {
  const received: Message[] = [];
  let line: Channel | undefined;
  const methods: Methods = {
    initialize: () => ({ protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'raw', version: '1' } }),
    'tools/list': () => ({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }),
    'tools/call': () => ({ content: [{ type: 'text', text: 'done' }] }),
    ...more,
  };
  const answer = async ({ method, params }: Message): Promise<JsonObject> => {
    const perform = methods[String(method)];
    if (perform === undefined) return { error: { code: -32601, message: 'Method not found' } };
    try {
      return { result: await perform(isObject(params) ? params : {}) };
    } catch (error) {
      return { error: { code: -32603, message: String(error) } };
    }
  };
  return {
    received: (method) => received.filter((message) => message['method'] === method),
    say: async (method, params = {}) => line?.send({ jsonrpc: '2.0', method, params }),
    crash: async () => line?.close(),
    entry: {
      async serve(channel) {
        line = channel;
        channel.onmessage = (message) => {
          received.push(message);
          if (message['id'] === undefined) return;
          void answer(message).then((answered) => channel.send({ jsonrpc: '2.0', id: message['id'], ...answered }));
        };
        await channel.start();
      },
    },
  };
}
