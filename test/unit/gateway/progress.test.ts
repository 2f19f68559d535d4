// Owns the proof that a client with a progress token hears of its call every 15 seconds, also while that waits for its turn, and that what it
// hears never goes back.

import { expect, test } from 'vitest';
import { isObject, type JsonObject } from '../../../src/kernel/json.ts';
import type { Message } from '../../../src/model/server.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { waitFor } from '../../wait-for.ts';
import { front } from './fronted.ts';
import { createManualServer } from './manual-server.ts';

const call = { name: 'wait', arguments: {}, _meta: { progressToken: 'mine' } };
const able = { capabilities: { elicitation: {} } };
const tokenOf = (running: Message | undefined) =>
  isObject(running?.['params']) && isObject(running['params']['_meta'])
    ? running['params']['_meta']['progressToken']
    : undefined;
const progressIn = (heard: readonly JsonObject[]) =>
  heard.flatMap(({ method, params }) =>
    method === 'notifications/progress' ? [Number((params as JsonObject)['progress'])] : [],
  );

test('progress that a server reports after a heartbeat does not go back, and grows where numbers are large', async () => {
  const clock = createFakeClock();
  const server = createManualServer();
  const session = await (await front({ s: server.entry }, { clock })).open('/mcp/s/s');
  const answering = session.answering('tools/call', call, () => ({}));
  await waitFor(() => expect(server.calls).toHaveLength(1));
  const progressToken = tokenOf(server.calls[0]);
  const report = async (progress: number) => {
    const before = progressIn(session.heard).length;
    server.send({ method: 'notifications/progress', params: { progressToken, progress } });
    await waitFor(() => expect(progressIn(session.heard)).toHaveLength(before + 1));
  };
  const beat = async () => {
    const before = progressIn(session.heard).length;
    await clock.advance(15_000);
    await waitFor(() => expect(progressIn(session.heard).length).toBeGreaterThan(before));
  };
  await beat();
  await report(0);
  await report(1e15);
  await beat();
  await report(1e15 + 1);
  server.answer(server.calls[0], 'done');
  await answering;
  const told = progressIn(session.heard);
  expect(told).toEqual([...new Set(told)].sort((a, b) => a - b));
  expect(told).toContain(1e15 + 1);
});

test('a client whose call waits for its turn hears of it', async () => {
  const clock = createFakeClock();
  const server = createManualServer();
  const fronted = await front({ s: server.entry }, { clock });
  const [one, other] = await Promise.all([fronted.open('/mcp/s/s', able), fronted.open('/mcp/s/s', able)]);
  const both = [one, other].map((session) => session.answering('tools/call', call, () => ({})));
  await waitFor(() => expect(server.calls).toHaveLength(2));
  server.send({
    ...{ id: 'whose', method: 'elicitation/create' },
    params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
  });
  await waitFor(() => expect(server.received).toContainEqual(expect.objectContaining({ id: 'whose' })));
  for (const each of server.calls) server.answer(each, 'done');
  await Promise.all(both);
  const running = one.answering('tools/call', call, () => ({}));
  await waitFor(() => expect(server.calls).toHaveLength(3));
  const waiting = other.answering('tools/call', call, () => ({}));
  await waitFor(() => expect(fronted.gateway.measures().servers.get('s')?.queued).toBe(1));
  await clock.advance(15_000);
  await waitFor(() => expect(progressIn(other.heard)).toHaveLength(1));
  server.answer(server.calls[2], 'done');
  await waitFor(() => expect(server.calls).toHaveLength(4));
  server.answer(server.calls[3], 'done');
  await Promise.all([running, waiting]);
});
