// Owns how the tests of calls start a runtime in process: servers whose traffic is written down, time that stands still.

import { expect, onTestFinished } from 'vitest';
import type { Runtime, RuntimeOptions } from '../../../src/api.ts';
import type { RuntimeEvent } from '../../../src/events.ts';
import type { Channel, Message } from '../../../src/model/server.ts';
import { createFakeClock, type FakeClock } from '../../../src/testing/fake-clock.ts';
import { createFakeServer, type FakeServer, type FakeTool } from '../../../src/testing/fake-server.ts';
import { openRuntime } from '../../runtime.ts';

export interface TappedServer extends Pick<FakeServer, 'entry' | 'calls' | 'crash'> {
  /** Everything the server was sent, oldest first. */
  readonly received: readonly Message[];
  /** The latest message with that method; throws when there was none. */
  receivedLast(method: string): Message;
  /** How often it was started. */
  starts(): number;
  /** Sends a message of its own accord. */
  say(message: Message): Promise<void>;
  /** From now on it fails to start, until it is told otherwise. */
  fails: boolean;
  /** From now on it starts and never answers, until it is told otherwise. */
  hangs: boolean;
}

export function createTappedServer(
  tools: Readonly<Record<string, FakeTool>>,
  era: 'legacy' | 'modern' = 'legacy',
): TappedServer {
  const server = createFakeServer(tools, { era });
  const received: Message[] = [];
  let starts = 0;
  let line: Channel | undefined;

  const tapped: TappedServer = {
    calls: server.calls,
    crash: () => server.crash(),
    received,
    receivedLast(method) {
      const found = received.findLast((message) => message['method'] === method);
      if (found === undefined) throw new Error(`nothing was received with the method ${method}`);
      return found;
    },
    starts: () => starts,
    async say(message) {
      await line?.send(message);
    },
    fails: false,
    hangs: false,
    entry: {
      async serve(channel) {
        starts += 1;
        if (tapped.fails) throw new Error('it is out of order');
        if (tapped.hangs) return;
        line = channel;
        await server.entry.serve(tap(channel, (message) => received.push(message)));
      },
    },
  };
  return tapped;
}

function tap(channel: Channel, hear: (message: Message) => void): Channel {
  const tapped: Channel = {
    start() {
      channel.onclose = () => tapped.onclose?.();
      channel.onmessage = (message) => {
        hear(message);
        tapped.onmessage?.(message);
      };
      return channel.start();
    },
    send: (message) => channel.send(message),
    close: () => channel.close(),
  };
  return tapped;
}

export interface Journey {
  readonly runtime: Runtime;
  readonly clock: FakeClock;
  readonly events: readonly RuntimeEvent[];
  /** What listeners threw, and what went wrong while closing. */
  readonly errors: readonly unknown[];
}

/** Everything is allowed unless the test says otherwise. Closed when the test is over. */
export async function start(
  servers: NonNullable<RuntimeOptions['servers']>,
  options: RuntimeOptions = {},
): Promise<Journey> {
  const clock = createFakeClock();
  const runtime = await openRuntime('/nowhere', { env: {}, servers, clock, ...options });
  onTestFinished(() => runtime.close());
  const { events, errors } = runtime;
  return { runtime, clock, events, errors };
}

/** What the outside heard of calls, without the ids: the same number stands for the same call. */
export function heardOfCalls(events: readonly RuntimeEvent[]): unknown[] {
  const numbers = new Map<string, number>();
  return events.flatMap((event) => {
    if (!('callId' in event)) return [];
    const { callId, ...rest } = event;
    if (!numbers.has(callId)) numbers.set(callId, numbers.size + 1);
    return [{ call: numbers.get(callId), ...rest }];
  });
}

/** The body of a wrapped text, after the wrapper was checked. */
export function unwrap(text: string, { server, tool }: { readonly server: string; readonly tool: string }): string {
  const opening = new RegExp(
    `^<mcp_tool_output server="${server}" tool="${tool}" trust="untrusted" nonce="[0-9a-f]{16}">\n`,
  );
  expect(text).toMatch(opening);
  const closing = `\n</mcp_tool_output nonce="${/nonce="(\w+)"/.exec(text)?.[1]}">`;
  expect(text.endsWith(closing)).toBe(true);
  return text.replace(opening, '').slice(0, -closing.length);
}
