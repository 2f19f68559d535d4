// Owns the proof that of very many calls at once, of clients of both eras at servers of both, each gets its own answer and its own progress:
// though all of them use the same ids and tokens, and though a server dies among them.

import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { Channel } from '../../../src/model/server.ts';
import type { ServedMethod } from '../../../src/serving/service.ts';
import { echoService, type HttpAnswer, serveHttp } from '../serving/served.ts';
import { type Fronted, front } from './fronted.ts';

const CALLS = 24;
const TOKEN = 'mine';
const tools = [{ name: 'echo', inputSchema: { type: 'object' } }];
const said = (text: unknown) => ({ content: [{ type: 'text', text }] });

/** Servers answer in another order than they are asked in. */
async function shuffled(text: unknown): Promise<void> {
  const turns = [...String(text)].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 7;
  for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
}

const textOf = ({ arguments: args }: JsonObject) => (args as JsonObject)['text'];

/** `crashAt`: the call with which it dies, once. */
function legacyServer(crashAt = Number.POSITIVE_INFINITY) {
  let calls = 0;
  const serve = async (channel: Channel) => {
    // A process that is dead says nothing any more.
    const send = (message: JsonObject) => void channel.send({ jsonrpc: '2.0', ...message }).catch(() => undefined);
    const called = async (id: unknown, params: JsonObject) => {
      const text = textOf(params);
      const { progressToken } = params['_meta'] as JsonObject;
      await shuffled(text);
      send({ method: 'notifications/progress', params: { progressToken, progress: 1, message: text } });
      if (++calls === crashAt) await channel.close();
      send({ id, result: said(text) });
    };
    channel.onmessage = ({ id, method, params }) => {
      if (method === 'tools/call') void called(id, params as JsonObject);
      else if (method === 'tools/list') send({ id, result: { tools } });
      else if (method === 'initialize') send({ id, result: introduction });
      else if (id !== undefined) send({ id, error: { code: -32601, message: 'Method not found' } });
    };
    await channel.start();
  };
  return { serve };
}

const introduction = {
  ...{ protocolVersion: '2025-11-25', capabilities: { tools: {} } },
  serverInfo: { name: 'old', version: '1' },
};

async function modernServer() {
  const { methods, ...service } = echoService();
  const echo: ServedMethod = async (call) => {
    const text = textOf(call.params);
    await shuffled(text);
    call.progress({ progress: 1, message: String(text) });
    return said(text);
  };
  const own = { ...methods, 'tools/list': () => ({ tools }), 'tools/call': echo };
  return { url: (await serveHttp({ service: { ...service, methods: own } })).url };
}

/** Sends all calls of one client at once. */
async function flood(fronted: Fronted, who: string, era: 'legacy' | 'modern') {
  const session = era === 'legacy' ? await fronted.open('/mcp') : undefined;
  const call = async (at: number) => {
    const text = `${who} ${at}`;
    const name = at % 2 === 0 ? 'old__echo' : 'new__echo';
    const params = { name, arguments: { text } };
    const meta = { progressToken: TOKEN };
    const answer = await (session === undefined
      ? fronted.modern('/mcp', 'tools/call', params, { meta })
      : session.request('tools/call', { ...params, _meta: meta }));
    return { text, answer };
  };
  return Promise.all(Array.from({ length: CALLS }, (_, at) => call(at)));
}

const clients = [
  ['ada', 'legacy'],
  ['bob', 'modern'],
  ['cyd', 'legacy'],
  ['dan', 'modern'],
] as const;

const progressIn = ({ events }: HttpAnswer) =>
  events.flatMap(({ method, params }) => (method === 'notifications/progress' ? [params as JsonObject] : []));

test('each answer and each progress goes to the call that it belongs to', async () => {
  const fronted = await front({ old: legacyServer(), new: await modernServer() });
  await fronted.modern('/mcp', 'tools/list');
  const all = (await Promise.all(clients.map(([who, era]) => flood(fronted, who, era)))).flat();
  for (const { text, answer } of all) {
    expect(answer.message['result']).toMatchObject(said(text));
    expect(progressIn(answer)).toEqual([{ progressToken: TOKEN, progress: 1, message: text }]);
  }
  expect(all).toHaveLength(clients.length * CALLS);
  expect(fronted.gateway.measures()).toMatchObject({ unanswered: 0, suspended: 0 });
});

test('a server that dies takes its own calls with it, and gives no client the answer of another', async () => {
  const fronted = await front({ old: legacyServer(20), new: await modernServer() });
  await fronted.modern('/mcp', 'tools/list');
  const all = (await Promise.all(clients.map(([who, era]) => flood(fronted, who, era)))).flat();
  const lost = all.filter(({ answer }) => answer.message['result']?.['isError'] === true);
  for (const { text, answer } of all) {
    const { isError, content } = answer.message['result'] as { isError?: true; content: { text: string }[] };
    if (isError) expect(JSON.stringify(answer.message)).toContain('OUTCOME_UNKNOWN');
    else expect(content).toMatchObject([{ text }]);
    for (const { message } of progressIn(answer)) expect(message).toBe(text);
  }
  expect(lost.length).toBeGreaterThan(0);
  expect(fronted.gateway.measures()).toMatchObject({ unanswered: 0, suspended: 0 });
  const after = await fronted.modern('/mcp', 'tools/call', { name: 'old__echo', arguments: { text: 'after' } });
  expect(after.message['result']).toMatchObject(said('after'));
});
