// Owns the proof that a client behind `plexus connect` is served as over a pipe, and survives the death of a gateway.

import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { openLink } from '../../../src/gateway/connect/link.ts';
import { ClientShim } from '../../../src/gateway/connect/shim.ts';
import { verifies } from '../../verifies.ts';
import { waitFor } from '../../wait-for.ts';
import { echoService, initialize, modernMeta, tools } from '../serving/served.ts';
import { serveLinks, shimClient, target } from './linked.ts';

const call = (id: number, name: string, args: object = {}) => ({
  ...{ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } },
});

verifies('EXT-45', 'a client is served in both eras, and its folder is told', async () => {
  const gateway = await serveLinks();
  const client = shimClient(() => gateway.port);
  client.write(initialize({}));
  expect(await client.answer('init')).toMatchObject({ result: { serverInfo: { name: 'echo' } } });
  client.write(call(1, 'echo', { text: 'ä'.repeat(100_000) }));
  expect(await client.answer(1)).toMatchObject({ result: { content: [{ text: 'ä'.repeat(100_000) }] } });
  const params = { name: 'echo', arguments: { text: 'now' }, _meta: modernMeta() };
  client.write({ jsonrpc: '2.0', id: 2, method: 'tools/call', params });
  expect(await client.answer(2)).toMatchObject({ result: { resultType: 'complete', content: [{ text: 'now' }] } });
  expect(gateway.clients).toEqual([{ workspace: '/work/a b', client: 'client-1' }]);
});

verifies(
  'EXT-45',
  'when the gateway dies, the client goes on with the next one, and no call is sent twice',
  async () => {
    let runs = 0;
    const counted = { ...tools, count: { description: 'Counts.', run: () => String(++runs) } };
    const { createOwnService } = await import('../../../src/serving/own-service.ts');
    const service = () => createOwnService({ name: 'counted', version: '1', tools: counted });
    const first = await serveLinks(service());
    const second = await serveLinks(service());
    let [next, looks] = [first.port, 0];
    const client = shimClient(() => {
      looks++;
      return next;
    });
    client.write(initialize({}));
    await client.answer('init');
    client.write({ jsonrpc: '2.0', method: 'notifications/initialized' });
    client.write(call(1, 'hang'));
    client.write(call(2, 'count'));
    await client.answer(2);
    next = second.port;
    await first.die();
    expect(await client.answer(1)).toMatchObject({
      error: { code: -32603, data: { code: 'OUTCOME_UNKNOWN', remedy: 'check-first' } },
    });
    client.write(call(3, 'count'));
    expect(await client.answer(3)).toMatchObject({ result: { content: [{ text: '2' }] } });
    expect(looks).toBe(2);
    expect(client.said.filter(({ id }) => typeof id === 'string').map(({ id }) => id)).toEqual(['init']);
    expect(second.server.counts().running).toBe(0);
  },
);

verifies('EXT-45', 'a subscription goes on with the next gateway', async () => {
  const service = { ...echoService(), offer: () => ({ capabilities: { resources: { subscribe: true } } }) };
  const [first, second] = [await serveLinks(service), await serveLinks(service)];
  let next = first.port;
  const client = shimClient(() => next);
  client.write(initialize({}));
  client.write({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: 'note://1' } });
  expect(await client.answer(1)).toMatchObject({ result: {} });
  next = second.port;
  await first.die();
  const updates = () => client.said.filter(({ method }) => method === 'notifications/resources/updated').length;
  await waitFor(() => {
    second.server.resourceUpdated('note://1');
    expect(updates()).toBeGreaterThan(0);
  });
});

test('a call that comes while there is no gateway waits for the next one', async () => {
  const [first, second] = [await serveLinks(), await serveLinks()];
  let arrive: (port: number) => void = () => undefined;
  const ports = [first.port, new Promise<number>((resolve) => (arrive = resolve))];
  const client = shimClient(() => ports.shift() ?? 0);
  client.write(initialize({}));
  await client.answer('init');
  await first.die();
  await waitFor(() => expect(ports).toEqual([]));
  client.write(call(1, 'echo', { text: 'later' }));
  arrive(second.port);
  expect(await client.answer(1)).toMatchObject({ result: { content: [{ text: 'later' }] } });
});

verifies('EXT-45', 'it ends with its client, after every answer', async () => {
  const gateway = await serveLinks();
  const client = shimClient(() => gateway.port);
  client.write(initialize({}));
  client.write(call(1, 'echo', { text: 'last' }));
  client.input.end();
  await client.ended;
  expect(new Set(client.said.map(({ id }) => id))).toEqual(new Set(['init', 1]));
  await waitFor(() => expect(gateway.links.size).toBe(0));
});

test('a client that reads no more ends it, and its calls', async () => {
  const gateway = await serveLinks();
  const client = shimClient(() => gateway.port);
  client.write(initialize({}));
  await client.answer('init');
  client.write(call(1, 'hang'));
  await waitFor(() => expect(gateway.server.counts().running).toBe(1));
  client.output.destroy(new Error('the pipe is broken'));
  await client.ended;
  await waitFor(() => expect(gateway.server.counts().running).toBe(0));
});

test('a client that reads slowly gets every answer; until then one look for room is enough', async () => {
  const gateway = await serveLinks();
  const [input, output] = [new PassThrough(), new PassThrough()];
  const shim = new ClientShim({ input, output, join: () => openLink(target(gateway.port)) });
  const ended = shim.run();
  const ids = Array.from({ length: 5_000 }, (_, id) => id);
  for (const message of [initialize({}), ...ids.map((id) => ({ jsonrpc: '2.0', id, method: 'ping' }))])
    input.write(`${JSON.stringify(message)}\n`);
  await waitFor(() => expect(output.writableNeedDrain).toBe(true));
  await waitFor(() => expect(output.listenerCount('drain')).toBe(1));
  let text = '';
  output.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  const answered = () =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line).id);
  await waitFor(() => expect(answered()).toHaveLength(1 + ids.length));
  expect(new Set(answered())).toEqual(new Set(['init', ...ids]));
  expect(output.listenerCount('drain')).toBe(0);
  input.end();
  await ended;
});

test('a gateway that stops lets running calls end before its links', async () => {
  let finish: (text: string) => void = () => undefined;
  const slow = { description: 'Waits.', run: () => new Promise<string>((resolve) => (finish = resolve)) };
  const { createOwnService } = await import('../../../src/serving/own-service.ts');
  const gateway = await serveLinks(createOwnService({ name: 'slow', version: '1', tools: { slow } }));
  const other = await serveLinks();
  const ports = [gateway.port, other.port];
  const client = shimClient(() => ports.shift() ?? 0);
  client.write(initialize({}));
  client.write(call(1, 'slow'));
  await waitFor(() => expect(gateway.server.counts().running).toBe(1));
  const closed = Promise.all([gateway.links.close(), gateway.server.close()]);
  finish('in time');
  expect(await client.answer(1)).toMatchObject({ result: { content: [{ text: 'in time' }] } });
  await closed;
  client.write(call(2, 'echo', { text: 'on the other' }));
  expect(await client.answer(2)).toMatchObject({ result: { content: [{ text: 'on the other' }] } });
});

test('without any gateway the first request is answered with the reason', async () => {
  const client = shimClient(() => Promise.reject(new Error('there is none')));
  client.write(initialize({}));
  await expect(client.ended).rejects.toThrow('there is none');
  client.shim.giveUp('there is none');
  expect(await client.answer('init')).toMatchObject({ error: { code: -32603, message: 'there is none' } });
});

test('a gateway that is lost again and again is given up', async () => {
  let gateway = await serveLinks();
  let looks = 0;
  const client = shimClient(async () => {
    if (looks++ > 0) gateway = await serveLinks();
    const { port, die } = gateway;
    setImmediate(() => void waitFor(() => expect(gateway.links.size).toBe(1)).then(die));
    return port;
  });
  client.write(initialize({}));
  await expect(client.ended).rejects.toThrow('again and again');
  expect(looks).toBe(6);
});
