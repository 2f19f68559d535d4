// Owns a channel whose other side is a test: the test reads what was sent and decides what is received, message by message.

import type { Channel, ChannelReport, Message } from '../model/server.ts';

export interface ScriptedTransport extends Channel {
  readonly sent: readonly Message[];
  /** The latest request with that method. Throws if there was none, so that a test fails at that line. */
  request(method: string): Message;
  receive(message: Message): void;
  /** Ends the channel from the server's side. */
  drop(report?: ChannelReport): void;
  readonly closed: boolean;
}

export function createScriptedTransport(): ScriptedTransport {
  const sent: Message[] = [];
  let down = false;
  let report: ChannelReport = { reason: 'the script is silent' };

  const channel: ScriptedTransport = {
    sent,
    start: async () => undefined,
    async send(message) {
      if (down) throw new Error('the channel is down');
      sent.push(message);
    },
    async close() {
      channel.drop({ reason: 'it was closed' });
    },
    get closed() {
      return down;
    },
    request(method) {
      const found = sent.findLast((message) => message['method'] === method);
      if (found === undefined) throw new Error(`nothing was sent with the method ${method}`);
      return found;
    },
    receive: (message) => channel.onmessage?.(message),
    drop(why = { reason: 'the script dropped it' }) {
      if (down) return;
      down = true;
      report = why;
      channel.onclose?.();
    },
    report: () => report,
  };
  return channel;
}
