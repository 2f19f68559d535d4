// Owns the proof that a long message holds up neither the event loop nor the order of messages, over every transport.

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Message } from '../../../src/model/server.ts';
import { FrameReader } from '../../../src/transport/framing.ts';
import { isLong, MessageQueue } from '../../../src/transport/message-queue.ts';
import { openSse } from '../../../src/transport/sse.ts';
import { openStdio } from '../../../src/transport/stdio.ts';
import { eventually, temporaryFile } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';
import { call, listen, program } from './channels.ts';
import { connect, event, events, json, request, result, serve as serveHttp } from './http-servers.ts';
import { serve as serveWebSocket, start as startWebSocket } from './websockets.ts';

const long = 'Съешь же "ещё" этих\n'.repeat(100_000);
const answers = [result(1, 'first'), result(2, long), result(3, 'third'), result(4, long), result(5, 'fifth')];
const roomy = { maxMessageBytes: 64 * 1024 * 1024 };
const line = (message: Message) => `${JSON.stringify(message)}\n`;

/** Long texts would make a failed comparison unreadable. */
const brief = (messages: readonly Message[]) =>
  messages.map(({ id, result: found }) => [id, (found as { text: string }).text === long ? 'long' : found]);
const expected = brief(answers);

function framed(chunks: readonly Buffer[]) {
  const seen: unknown[] = [];
  const reader = new FrameReader(roomy.maxMessageBytes, {
    onMessage: (message) => seen.push(...brief([message])),
    onNoise: (noise) => seen.push(noise.slice(0, 20)),
    onOversized: (id) => seen.push(['oversized', id]),
    onEndless: () => seen.push('endless'),
    onCutOff: () => seen.push('cut off'),
  });
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return { seen, reader };
}

function pieces(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

describe('lines', () => {
  const wire = Buffer.from(answers.map(line).join('noise\n'));

  verifies('TRN-01', 'come in order around a long one, however the bytes were cut', async () => {
    const noise = 'noise';
    const [first, ...others] = expected;
    const whole = [first, ...others.flatMap((each) => [noise, each])];
    for (const size of [1_000_003, 65_536, wire.length]) {
      const { seen, reader } = framed(pieces(wire, size));
      // What stands before the first long one needs no turn of the event loop, what stands behind it waits for it.
      expect(seen).toEqual([first, noise]);
      await reader.whenIdle();
      expect(seen).toEqual(whole);
      expect(reader.whenIdle()).toBeUndefined();
    }
  });

  test('a long line that is no message is noise, and one that is cut off at the end is told', async () => {
    const { seen, reader } = framed([Buffer.from(`${'x'.repeat(2_000_000)}\n {"a":"${'y'.repeat(2_000_000)}`)]);
    await reader.whenIdle();
    expect(seen).toEqual(['x'.repeat(20), 'cut off']);
  });

  test('a byte order mark and a batch are understood in a long line too', async () => {
    const { seen, reader } = framed([Buffer.from(`\ufeff${JSON.stringify(answers)}\n${line(result(6))}`)]);
    await reader.whenIdle();
    expect(seen).toEqual([...expected, ...brief([result(6)])]);
  });

  test('after a stop nothing is delivered', async () => {
    const { seen, reader } = framed([Buffer.from(line(result(1, long)) + line(result(2)))]);
    reader.stop();
    await reader.whenIdle();
    expect(seen).toEqual([]);
  });
});

test('a short message is delivered at once, a long one after turns of the event loop', async () => {
  const queue = new MessageQueue();
  const seen: string[] = [];
  queue.parse('[1]', () => seen.push('short'));
  expect(seen).toEqual(['short']);
  const text = JSON.stringify(Array.from({ length: 1_000_000 }, (_, at) => at));
  expect(isLong(text.length)).toBe(true);
  let turns = 0;
  const count = () => {
    turns += 1;
    if (queue.isBusy) setImmediate(count);
  };
  queue.parse(text, () => seen.push('long'));
  queue.parse('[2]', () => seen.push('behind'));
  setImmediate(count);
  expect(seen).toEqual(['short']);
  await queue.whenIdle();
  expect(seen).toEqual(['short', 'long', 'behind']);
  expect(turns).toBeGreaterThan(text.length / (2 * 1024 * 1024));
});

/** Writes everything at once and exits, so that the end comes while the first long message is parsed. */
const writer = `
  const fs = require('node:fs');
  process.stdin.once('data', () => {
    const bytes = Buffer.from(JSON.parse(fs.readFileSync(process.argv[1], 'utf8')));
    for (let at = 0; at < bytes.length; ) {
      try { at += fs.writeSync(1, bytes, at); } catch (error) { if (error.code !== 'EAGAIN') throw error; }
    }
    process.exit(3);
  });
`;

verifies('TRN-01', 'a server that exits behind a long message has said everything before its end is told', async () => {
  const file = temporaryFile('wire.json');
  writeFileSync(file, JSON.stringify(answers.map(line).join('')));
  const channel = openStdio(program(process.execPath, '-e', writer, file));
  const heard = listen(channel);
  let heardAtClose = -1;
  channel.onclose = () => {
    heardAtClose = heard.messages.length;
  };
  await channel.start();
  await channel.send(call(1, 'any'));
  await eventually(() => heardAtClose !== -1);
  expect(brief(heard.messages)).toEqual(expected);
  expect(heardAtClose).toBe(answers.length);
  await channel.close();
});

verifies('TRN-04', 'over HTTP a long answer comes as JSON and as an event among others, in order', async () => {
  const plain = await serveHttp(json(result(1, long)));
  const { channel, heard } = await connect(plain.url, roomy);
  await channel.send(request(1));
  expect(brief([(await heard.answerTo(1)) as Message])).toEqual([[1, 'long']]);
  expect(heard.failures.size).toBe(0);
  const note = { jsonrpc: '2.0', method: 'notifications/x', result: 'a note' };
  const stream = await serveHttp(events(event(note), event(result(1, long)), event(note)));
  const second = await connect(stream.url, roomy);
  await second.channel.send(request(1));
  await eventually(() => second.heard.messages.length === 3);
  expect(brief(second.heard.messages)).toEqual([
    [undefined, 'a note'],
    [1, 'long'],
    [undefined, 'a note'],
  ]);
  expect(second.heard.failures.size).toBe(0);
});

test('a stream that breaks off behind a long answer has answered', async () => {
  const server = await serveHttp((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event(result(1, long)), () => response.destroy());
  });
  const { channel, heard } = await connect(server.url, roomy);
  await channel.send(request(1));
  expect(brief([(await heard.answerTo(1)) as Message])).toEqual([[1, 'long']]);
  expect(heard.failures.size).toBe(0);
});

test('closing while a long answer is parsed delivers nothing of it', async () => {
  const server = await serveHttp(json(result(1, long)));
  const { channel, heard } = await connect(server.url, roomy);
  await channel.send(request(1));
  await eventually(() => server.received.length === 1);
  await channel.close();
  expect(heard.messages).toEqual([]);
});

verifies('TRN-05', 'over WebSocket messages keep their order around long ones, up to the end', async () => {
  const server = await serveWebSocket();
  const { heard } = await startWebSocket(server.url, roomy);
  const { websocket } = await server.peer();
  for (const message of answers) websocket.send(JSON.stringify(message));
  websocket.close();
  await once(websocket, 'close');
  await eventually(() => heard.closes === 1);
  expect(brief(heard.messages)).toEqual(expected);
});

verifies('TRN-03', 'on the shared stream of HTTP+SSE too', async () => {
  const server = await serveHttp(({ method }, response) => {
    if (method !== 'GET') return void response.writeHead(202).end();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('event: endpoint\ndata: /messages\n\n');
    for (const message of answers) response.write(event(message));
  });
  const { heard } = await connect(server.url, roomy, openSse);
  await eventually(() => heard.messages.length === answers.length);
  expect(brief(heard.messages)).toEqual(expected);
});
