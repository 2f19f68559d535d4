// Owns the proof, over every transport and in both eras, of what servers are told about us and what they may ask: who we
// are, whether we are there, and the questions that the handlers of the calling view answer.

import { isDeepStrictEqual } from 'node:util';
import { describe, expect } from 'vitest';
import type { ClientHandlers, Runtime } from '../../src/index.ts';
import { isObject, type JsonObject } from '../../src/kernel/json.ts';
import { identity } from '../../src/model/identity.ts';
import { type Carrier, carriers, erasOf, startAsking } from '../servers/asking.ts';
import { everything } from '../servers/everything.ts';
import { eventually } from '../servers/processes.ts';
import { verifies } from '../verifies.ts';
import { createFolder, createRawServer, start, statusOf, textOf } from './runtimes.ts';

const ways = carriers.flatMap((transport) => erasOf(transport).map((era) => ({ transport, era })));

const sampling = { messages: [{ role: 'user', content: { type: 'text', text: 'Two and two?' } }], maxTokens: 10 };
const form = { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };

const thought = (text: string) => ({ role: 'assistant', model: 'm', content: { type: 'text', text } });
const root = (name: string) => ({ uri: `file:///${name}`, name });

/** What a client of that name answers. */
const handlersOf = (name: string) =>
  ({
    elicit: async () => ({ action: 'accept', content: { name } }) as const,
    sample: async () => thought(name),
    roots: async () => [root(name)],
  }) satisfies ClientHandlers;

type Asking = Awaited<ReturnType<typeof startAsking>>;

const connect = (asking: Asking, options: Parameters<typeof start>[1] = {}) =>
  start(createFolder(), { servers: { curious: asking.entry }, ...options });

/** What the server was answered, in its own words. */
async function ask(view: Pick<Runtime, 'turn'>, method: string, params: JsonObject = {}): Promise<JsonObject> {
  const outcome = await view.turn().call('mcp__curious__ask', { method, params });
  const text = String(textOf(outcome));
  return outcome.isError ? { failed: text } : JSON.parse(text);
}

describe('who we are', () => {
  for (const { transport, era } of ways) {
    verifies('TRN-16', `is told a ${era} server over ${transport}: what our package says, or the host`, async () => {
      const own = await startAsking(transport, '--era', era);
      await connect(own);
      expect(introduced(own)).toEqual([identity]);
      const clientInfo = { name: 'agent', title: 'An agent', version: '7.0.0' };
      const hosts = await startAsking(transport, '--era', era);
      await connect(hosts, { clientInfo });
      expect(introduced(hosts)).toEqual([clientInfo]);
    });
  }

  verifies(['TRN-16', 'EXT-13'], 'keeps two from sharing a server where they say different things', async () => {
    const server = await startAsking('http');
    const folder = createFolder();
    const servers = { curious: server.entry };
    await start(folder, { servers });
    await start(folder, { servers, clientInfo: { name: 'agent', version: '7.0.0' } });
    await start(folder, { servers, clientInfo: { name: 'agent', version: '7.0.0' } });
    expect(introduced(server).map((info) => isObject(info) && info['name'])).toEqual(['plexus', 'agent']);
  });

  /** Each way in which we introduced ourselves, but for the probe. */
  function introduced(asking: Asking): unknown[] {
    const found = asking.heard().flatMap(({ method, params }) => {
      if (!isObject(params)) return [];
      if (method === 'initialize') return [params['clientInfo']];
      const meta = isObject(params['_meta']) ? params['_meta'] : {};
      return meta['io.modelcontextprotocol/clientInfo'] ?? [];
    });
    return [...new Map(found.map((info) => [JSON.stringify(info), info])).values()];
  }
});

describe('a server of the older era', () => {
  for (const transport of carriers) {
    verifies('TRN-17', `that asks over ${transport} is answered what it may ask, and refused the rest`, async () => {
      const runtime = await connect(await startAsking(transport), handlersOf('Ada'));
      expect(await ask(runtime, 'ping')).toEqual({ result: {} });
      expect(await ask(runtime, 'roots/list')).toEqual({ result: { roots: [root('Ada')] } });
      expect(await ask(runtime, 'elicitation/create', form)).toEqual({
        result: { action: 'accept', content: { name: 'Ada' } },
      });
      expect(await ask(runtime, 'sampling/createMessage', sampling)).toEqual({ result: thought('Ada') });
      for (const method of ['tasks/get', 'roots/listen', 'tools/list', 'toString'])
        expect(await ask(runtime, method)).toEqual({ error: { code: -32601, message: expect.any(String) } });
    });

    verifies(
      ['TRN-17', 'LIF-10'],
      `over ${transport} is told of no ability without a handler, and refused it if it asks nevertheless`,
      async () => {
        const asking = await startAsking(transport);
        const runtime = await connect(asking);
        expect(abilities(asking)).toEqual({});
        expect(await ask(runtime, 'ping')).toEqual({ result: {} });
        for (const method of ['roots/list', 'sampling/createMessage', 'elicitation/create'])
          expect(await ask(runtime, method)).toMatchObject({ error: { code: -32601 } });
      },
    );
  }

  const abilities = (asking: Asking) => {
    const params = asking.heard().find(({ method }) => method === 'initialize')?.['params'];
    return isObject(params) ? params['capabilities'] : expect.fail('it was not initialized');
  };

  verifies('LIF-10', 'is told of exactly the abilities that have a handler', async () => {
    const { sample, roots } = handlersOf('Ada');
    const [thinking, rooted] = [await startAsking('http'), await startAsking('stdio')];
    await connect(thinking, { sample });
    await connect(rooted, { roots });
    expect([abilities(thinking), abilities(rooted)]).toEqual([{ sampling: {} }, { roots: {} }]);
  });
});

/** What a server asks before any call, and what it is answered. */
const early = (name: string) => ({
  ping: { result: {} },
  'roots/list': { result: { roots: [root(name)] } },
  'sampling/createMessage': { result: thought(name) },
  'elicitation/create': { result: { action: 'accept', content: { name } } },
});

describe('a server that asks as soon as it may', () => {
  for (const transport of carriers) {
    verifies(['LIF-10', 'TRN-17'], `over ${transport} is answered all that it was told of`, async () => {
      const asking = await startAsking(transport, '--at-once');
      const runtime = await connect(asking, handlersOf('Ada'));
      await eventually(() => earlyAnswers(asking).size === 4);
      expect(Object.fromEntries(earlyAnswers(asking))).toEqual(early('Ada'));
      expect(await ask(runtime, 'ping')).toEqual({ result: {} });
    });

    verifies('LIF-10', `over ${transport} is answered by the view whose own connection it is`, async () => {
      const asking = await startAsking(transport, '--at-once');
      const runtime = await connect(asking, handlersOf('host'));
      await eventually(() => earlyAnswers(asking).size === 4);
      const before = asking.heard().length;
      const view = runtime.view({ ...handlersOf('Bob'), perClient: true });
      expect(await ask(view, 'ping')).toEqual({ result: {} });
      await eventually(() => earlyAnswers(asking, before).size === 4);
      expect(Object.fromEntries(earlyAnswers(asking, before))).toEqual(early('Bob'));
    });
  }

  verifies(['LIF-10', 'TRN-17'], 'in process is answered all that it was told of', async () => {
    const answers = new Map<unknown, JsonObject>();
    const { entry } = createRawServer({ tools: {} });
    const serve: typeof entry.serve = async (channel) => {
      await entry.serve(channel);
      const take = channel.onmessage;
      channel.onmessage = (message) => {
        const { id, method, jsonrpc, ...answer } = message;
        if (String(id).startsWith('early ')) answers.set(String(id).slice('early '.length), answer);
        else take?.(message);
        if (method !== 'notifications/initialized') return;
        const asked = { ping: {}, 'roots/list': {}, 'sampling/createMessage': sampling, 'elicitation/create': form };
        for (const [asks, params] of Object.entries(asked))
          void channel.send({ jsonrpc, id: `early ${asks}`, method: asks, params });
      };
    };
    await start(createFolder(), { servers: { curious: { serve } }, ...handlersOf('Ada') });
    await eventually(() => answers.size === 4);
    expect(Object.fromEntries(answers)).toEqual(early('Ada'));
  });

  for (const transport of ['stdio', 'ws'] as const) {
    verifies('TRN-17', `over ${transport}, of the modern era, is answered that it may not ask`, async () => {
      const asking = await startAsking(transport, '--era', 'modern', '--at-once');
      await connect(asking, handlersOf('Ada'));
      await eventually(() => earlyAnswers(asking).size === 4);
      const { ping, ...others } = Object.fromEntries(earlyAnswers(asking));
      expect(ping).toEqual({ result: {} });
      for (const other of Object.values(others)) expect(other).toMatchObject({ error: { code: -32601 } });
    });
  }

  function earlyAnswers(asking: Asking, from = 0): Map<string, JsonObject> {
    const found = asking.heard().slice(from);
    return new Map(
      found.flatMap(({ id, method, jsonrpc, ...answer }) =>
        method === undefined && String(id).startsWith('early ') ? [[String(id).slice('early '.length), answer]] : [],
      ),
    );
  }
});

describe('a server that asks again after every answer', () => {
  for (const era of ['legacy', 'modern'] as const) {
    for (const method of ['elicitation/create', 'sampling/createMessage', 'roots/list']) {
      verifies('EXT-02', `is refused the eleventh ${method} of a call, which ends (${era})`, async () => {
        let asked = 0;
        const counted = <Value>(value: Value) => {
          asked += 1;
          return Promise.resolve(value);
        };
        const asking = await startAsking('stdio', '--era', era);
        const runtime = await connect(asking, {
          elicit: () => counted({ action: 'accept', content: { name: 'Ada' } } as const),
          sample: () => counted(thought('Ada')),
          roots: () => counted([root('Ada')]),
        });
        await runtime.ready();
        const params = method === 'elicitation/create' ? form : sampling;
        const calling = runtime.turn().call('mcp__curious__ask', { method, params, again: true });
        await expect(calling).rejects.toMatchObject({
          code: 'QUESTIONS_EXCEEDED',
          message: expect.stringMatching(/^Server "curious" asked more than 10 questions during one call, which was/),
        });
        expect(asked).toBe(10);
        if (era === 'modern') return;
        const refusal = { code: -32000, message: 'too many questions: at most 10 may be asked during one call' };
        await eventually(() => asking.methods().includes('notifications/cancelled'));
        await eventually(() => asking.heard().some(({ error }) => isDeepStrictEqual(error, refusal)));
      });
    }
  }
});

verifies('EXT-02', 'the connections of several views to one server share its questions of a minute', async () => {
  const runtime = await connect(await startAsking('stdio'));
  const { roots } = handlersOf('Ada');
  for (let at = 0; at < 3; at++) {
    const { call } = runtime.view({ roots, perClient: true }).turn();
    const calling = call('mcp__curious__ask', { method: 'roots/list', again: true });
    await expect(calling).rejects.toMatchObject({ code: 'QUESTIONS_EXCEEDED' });
  }
  const view = runtime.view({ roots, perClient: true });
  expect(await ask(view, 'roots/list')).toEqual({
    error: { code: -32000, message: 'too many questions: at most 30 a minute are answered' },
  });
});

describe('a question during a call', () => {
  for (const { transport, era } of ways) {
    verifies(
      'LIF-10',
      `over ${transport} from a ${era} server reaches the handlers of the view that calls`,
      async () => {
        const runtime = await connect(await startAsking(transport, '--era', era), handlersOf('host'));
        const views = { Ada: runtime.view(handlersOf('Ada')), Bob: runtime.view(handlersOf('Bob')).child() };
        for (const [name, view] of Object.entries(views)) {
          expect(await answer(view, 'sampling/createMessage', sampling)).toEqual(thought(name));
          expect(await answer(view, 'elicitation/create', form)).toMatchObject({ content: { name } });
          expect(await answer(view, 'roots/list')).toEqual({ roots: [root(name)] });
        }
        expect(await answer(runtime, 'sampling/createMessage', sampling)).toEqual(thought('host'));
      },
    );
  }

  const answer = async (view: Pick<Runtime, 'turn'>, method: string, params?: JsonObject) =>
    (await ask(view, method, params))['result'];

  verifies(['LIF-10', 'EXT-01'], 'brings the state of a modern server back to it as it came', async () => {
    const asking = await startAsking('http', '--era', 'modern');
    const runtime = await connect(asking, handlersOf('Ada'));
    expect(await ask(runtime, 'roots/list')).toEqual({
      result: { roots: [root('Ada')] },
      requestState: 'state of roots/list',
    });
    expect(asking.methods().filter((method) => method === 'tools/call')).toHaveLength(2);
  });

  verifies('LIF-10', 'of two views at once is each its own in the modern era', async () => {
    const runtime = await connect(await startAsking('http', '--era', 'modern'), handlersOf('host'));
    const names = ['Ada', 'Bob', 'Cyd'];
    const answers = names.map((name) => answer(runtime.view(handlersOf(name)), 'sampling/createMessage', sampling));
    expect(await Promise.all(answers)).toEqual(names.map(thought));
  });

  verifies('LIF-10', 'of two views at once is nobody’s in the older era, which cannot say whose it is', async () => {
    const asking = await startAsking('http');
    const runtime = await connect(asking, handlersOf('host'));
    const [ada, bob] = ['Ada', 'Bob'].map((name) => runtime.view(handlersOf(name)));
    const wish = new AbortController();
    const busy = ada?.turn().call('mcp__curious__slow', { ms: 60_000 }, { signal: wish.signal });
    await eventually(() => asking.methods().includes('tools/call'));
    expect(await ask(bob ?? runtime, 'sampling/createMessage', sampling)).toMatchObject({ error: { code: -32601 } });
    wish.abort();
    await expect(busy).rejects.toBe(wish.signal.reason);
    expect(await ask(bob ?? runtime, 'sampling/createMessage', sampling)).toEqual({ result: thought('Bob') });
  });

  for (const era of ['legacy', 'modern'] as const) {
    verifies('LIF-10', `that a ${era} server asks of nobody ends the call with the reason`, async () => {
      const runtime = await connect(await startAsking('http', '--era', era));
      const asked = await ask(runtime, 'sampling/createMessage', sampling);
      expect(JSON.stringify(asked)).toContain('this client does not support sampling/createMessage');
    });
  }
});

describe('the reference server', () => {
  for (const transport of ['stdio', 'http', 'sse'] as const satisfies readonly Carrier[]) {
    verifies(['LIF-10', 'TRN-17'], `over ${transport} gets its samples and its roots`, async () => {
      const heard: JsonObject[] = [];
      const runtime = await start(createFolder(), {
        servers: { all: await everything(transport) },
        sample: async (request) => {
          heard.push(request);
          return thought('four');
        },
        roots: async () => [root('Ada')],
      });
      // What needs a client that can be asked, it offers only once it knows that it can.
      await eventually(() => runtime.turn().tools.some(({ id }) => id.tool === 'trigger-sampling-request'));
      const sampled = await runtime.turn().call('mcp__all__trigger-sampling-request', { prompt: 'Two and two?' });
      expect(JSON.stringify(sampled.content)).toContain('four');
      expect(heard).toMatchObject([{ server: 'all', messages: [expect.anything()] }]);
      const rooted = await runtime.turn().call('mcp__all__get-roots-list');
      expect(JSON.stringify(rooted.content)).toContain('file:///Ada');
      expect(statusOf(runtime, 'all')).toMatchObject({ state: 'connected', era: 'legacy', transport });
    });
  }
});
