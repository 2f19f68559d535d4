// Owns the proof of how a session is opened in either era, what ends it, and what it reports, over a scripted channel.

import { describe, expect, test } from 'vitest';
import { LeaseHandlers } from '../../../src/connection/lease-handlers.ts';
import type { SessionOptions } from '../../../src/connection/session.ts';
import type { CallOptions } from '../../../src/connection/tool-call.ts';
import { Cancellation } from '../../../src/kernel/cancellation.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import type { Message } from '../../../src/model/server.ts';
import { verifies } from '../../verifies.ts';
import { legacy, methodsOf, modern, open, result, type Script, scripted, sentTo, unknown } from './scripted.ts';

describe('the era', () => {
  verifies('LIF-09', 'is asked for once, on the channel that is then used', async () => {
    const old = scripted(legacy);
    const { opening, clock } = open([old]);
    expect(await opening).toMatchObject({
      era: 'legacy',
      transport: 'stdio',
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true } },
      instructions: 'Be kind.',
    });
    expect(methodsOf(old)).toEqual(['server/discover', 'initialize', 'notifications/initialized']);
    expect(clock.pending(), 'no timer is left').toBe(0);
    const young = scripted(modern);
    expect(await open([young]).opening).toMatchObject({ era: 'modern', protocolVersion: '2026-07-28' });
    expect(methodsOf(young)).toEqual(['server/discover']);
  });

  verifies('LIF-09', 'that is known to be the older one is not asked for', async () => {
    const old = scripted(legacy);
    expect(await open([old], { knownEra: 'legacy' }).opening).toMatchObject({ era: 'legacy' });
    expect(methodsOf(old)).toEqual(['initialize', 'notifications/initialized']);
  });

  verifies(
    'LIF-09',
    'that is known to be the newer one is asked for all the same: the answer is the handshake',
    async () => {
      const young = scripted(modern);
      expect(await open([young], { knownEra: 'modern' }).opening).toMatchObject({ era: 'modern' });
      expect(methodsOf(young)).toEqual(['server/discover']);
    },
  );

  verifies('LIF-09', 'that has changed since is found out on a fresh channel', async () => {
    const channels = [scripted(modern), scripted(modern)];
    const { opening, channels: used } = open(channels, { knownEra: 'legacy' });
    expect(await opening).toMatchObject({ era: 'modern' });
    expect(used.map(methodsOf)).toEqual([['initialize'], ['server/discover']]);
    expect(channels.map(({ closed }) => closed)).toEqual([true, false]);
  });

  verifies('LIF-09', 'is not doubted because the connection broke', async () => {
    const channels = [scripted({ initialize: () => 'death' }), scripted(modern)];
    const { opening, channels: used } = open(channels, { knownEra: 'legacy' });
    await expect(opening).rejects.toMatchObject({ code: 'CONNECTION_LOST', data: { reason: 'it died' } });
    expect(used).toHaveLength(1);
  });

  verifies('LIF-09', 'is the older one where the question was deadly: a fresh channel, and no question', async () => {
    const channels = [scripted({ 'server/discover': () => 'death' }), scripted(legacy)];
    expect(await open(channels).opening).toMatchObject({ era: 'legacy' });
    expect(channels.map(methodsOf)).toEqual([['server/discover'], ['initialize', 'notifications/initialized']]);
  });

  test('cannot have killed a server that is asked over HTTP: it was not there', async () => {
    const { opening, channels } = open([scripted({ 'server/discover': () => 'death' }, { hasRequestStreams: true })]);
    await expect(opening).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    expect(channels.map(({ closed }) => closed)).toEqual([true]);
  });
});

describe('an opening that fails', () => {
  verifies(
    'LIF-11',
    'gives an installation its own limit until the first answer, and the usual one after it',
    async () => {
      const deaf = scripted({});
      const limits = { startupTimeoutMs: () => 5_000, installTimeoutMs: 60_000 };
      const installing = open([deaf], limits);
      const ended = expect(installing.opening).rejects.toMatchObject({ data: { afterMs: 60_000 } });
      await installing.clock.advance(59_999);
      expect(deaf.closed).toBe(false);
      await installing.clock.advance(1);
      await ended;

      const halting = scripted({ 'server/discover': unknown });
      const { opening, clock } = open([halting], limits);
      const failed = expect(opening).rejects.toMatchObject({ code: 'STARTUP_TIMEOUT', data: { afterMs: 5_000 } });
      await clock.advance(4_999);
      expect(halting.closed).toBe(false);
      await clock.advance(1);
      await failed;
    },
  );

  verifies(['LIF-11', 'LIF-12'], 'for want of an answer ends in time, and nothing stays open', async () => {
    const deaf = scripted({});
    const { opening, clock } = open([deaf], { startupTimeoutMs: () => 5_000 });
    const ended = expect(opening).rejects.toMatchObject({ code: 'STARTUP_TIMEOUT', data: { afterMs: 5_000 } });
    await sentTo(deaf, 'server/discover');
    await clock.advance(5_000);
    await ended;
    expect([deaf.closed, clock.pending()]).toEqual([true, 0]);
  });

  verifies(
    ['LIF-07', 'LIF-11'],
    'ends by a limit that was lowered, or set at all, while it was under way',
    async () => {
      let startupTimeoutMs = 0;
      let told: () => void = () => expect.fail('it has not subscribed');
      const deaf = scripted({});
      const { opening, clock } = open([deaf], {
        startupTimeoutMs: () => startupTimeoutMs,
        onSettings: (changed) => {
          told = changed;
          return () => {
            told = () => expect.fail('it does not ask any more');
          };
        },
      });
      const ended = expect(opening).rejects.toMatchObject({ code: 'STARTUP_TIMEOUT', data: { afterMs: 5_000 } });
      await sentTo(deaf, 'server/discover');
      await clock.advance(3_000);
      startupTimeoutMs = 5_000;
      told();
      await clock.advance(1_999);
      expect(deaf.closed).toBe(false);
      await clock.advance(1);
      await ended;
      expect([deaf.closed, clock.pending()]).toEqual([true, 0]);
      expect(told, 'it has unsubscribed').toThrow('any more');
    },
  );

  verifies('LIF-11', 'has all the time there is where the limit is 0', async () => {
    const slow = scripted({ 'server/discover': unknown });
    const { opening, clock } = open([slow], { startupTimeoutMs: () => 0 });
    await sentTo(slow, 'initialize');
    await clock.advance(86_400_000);
    slow.receive({ jsonrpc: '2.0', id: slow.request('initialize')['id'], ...(legacy['initialize']?.({}) as object) });
    expect(await opening).toMatchObject({ era: 'legacy' });
  });

  verifies(['LIF-12', 'LIF-14'], 'because it was aborted says so, and nothing stays open', async () => {
    const deaf = scripted({});
    const stop = new AbortController();
    const { opening, clock } = open([deaf], { signal: stop.signal });
    const ended = expect(opening).rejects.toBe('enough');
    await sentTo(deaf, 'server/discover');
    stop.abort('enough');
    await ended;
    expect([deaf.closed, clock.pending()]).toEqual([true, 0]);
    const unused = scripted({});
    await expect(open([unused], { signal: stop.signal }).opening).rejects.toBe('enough');
    expect(unused.sent).toEqual([]);
  });

  test('because the channel could not carry the handshake fails with the channel’s own reason', async () => {
    const refusing = scripted({});
    const { opening } = open([refusing]);
    const cause = new RuntimeError('AUTH_REQUIRED', { server: 's' });
    const ended = expect(opening).rejects.toBe(cause);
    await sentTo(refusing, 'server/discover');
    refusing.onfailed?.(refusing.request('server/discover')['id'] as string, { sent: true, cause, status: 401 });
    await ended;
    expect(refusing.closed).toBe(true);
  });

  test('because the server speaks something else is told as that', async () => {
    const odd = scripted({ ...legacy, initialize: result({ protocolVersion: 7 }) });
    await expect(open([odd]).opening).rejects.toMatchObject({ code: 'PROTOCOL_BROKEN', data: { server: 's' } });
    expect(odd.closed).toBe(true);
  });
});

async function opened(script: Script = legacy, change: Partial<SessionOptions> = {}) {
  const channel = scripted(script);
  const { opening, clock } = open([channel], change);
  return { channel, clock, session: await opening };
}

describe('an open session', () => {
  test('announced its first answer once', async () => {
    let answers = 0;
    const { channel } = await opened(legacy, { onAnswer: () => (answers += 1) });
    channel.receive({ jsonrpc: '2.0', method: 'notifications/message' });
    expect(answers).toBe(1);
  });

  test('says which transport is spoken where the entry left it open', async () => {
    for (const [negotiatedTransport, transport] of [
      ['sse', 'sse'],
      [undefined, 'http'],
    ] as const) {
      const channel = scripted(legacy, { negotiatedTransport });
      expect((await open([channel], { transport: 'auto' }).opening).transport).toBe(transport);
    }
  });

  verifies('REC-07', 'ends when its channel does, and says why; once', async () => {
    const { channel, session } = await opened();
    channel.drop({ reason: 'it exited with code 3', stderr: 'oops' });
    session.markLost('nobody listens');
    expect(await session.ended).toMatchObject({
      code: 'CONNECTION_LOST',
      data: { server: 's', reason: 'it exited with code 3', stderr: 'oops' },
    });
  });

  test('ends when the health check marks it as lost', async () => {
    const { session } = await opened();
    session.markLost('it did not answer 5 pings in a row');
    expect(await session.ended).toMatchObject({ data: { reason: 'it did not answer 5 pings in a row' } });
  });

  test('ends with a login when one is asked for later, and with nothing else that is refused', async () => {
    const { channel, clock, session } = await opened();
    let end: unknown;
    void session.ended.then((cause) => {
      end = cause;
    });
    const refuse = async (status: number, cause: RuntimeError) => {
      const asked = session.request('tools/list');
      channel.onfailed?.(channel.request('tools/list')['id'] as number, { sent: true, cause, status });
      expect(await asked).toEqual({ kind: 'lost', sent: true, cause, status });
      await clock.advance(0);
    };
    await refuse(503, new RuntimeError('CONNECTION_LOST', { server: 's', reason: 'HTTP 503' }));
    await refuse(403, new RuntimeError('AUTH_FAILED', { server: 's', reason: 'HTTP 403' }));
    expect(end).toBeUndefined();
    const login = new RuntimeError('AUTH_REQUIRED', { server: 's' });
    await refuse(401, login);
    expect(end).toBe(login);
  });

  test('passes notifications to its listeners until they unsubscribe', async () => {
    const { channel, session } = await opened();
    const heard: string[] = [];
    const stop = session.onNotification((method) => heard.push(method));
    channel.receive({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    stop();
    channel.receive({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    expect(heard).toEqual(['notifications/tools/list_changed']);
  });

  test('shows signs of life once', async () => {
    const { channel, session } = await opened();
    expect([session.takeActivity(), session.takeActivity()]).toEqual([true, false]);
    channel.receive({ jsonrpc: '2.0', method: 'notifications/message' });
    expect([session.takeActivity(), session.takeActivity()]).toEqual([true, false]);
  });

  test('sends the client info with every message to a modern server, and not to a legacy one', async () => {
    const handlers = { roots: async () => [] };
    const { channel: young, session: new_ } = await opened(modern, { handlers });
    void new_.request('tools/list', {});
    new_.notify('notifications/anything', { a: 1 });
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'plexus', title: 'Plexus', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': { roots: {} },
    };
    const { id, params } = young.request('tools/list');
    expect(params).toEqual({ _meta: { progressToken: id, ...meta } });
    expect(young.request('notifications/anything')['params']).toEqual({ a: 1, _meta: meta });
    const { channel: old, session } = await opened();
    session.notify('notifications/anything', { a: 1 });
    expect(old.request('notifications/anything')['params']).toEqual({ a: 1 });
  });

  verifies('LIF-10', 'answers a legacy server with the handlers of its lease', async () => {
    const roots = async () => [{ uri: 'file:///work' }];
    const leases = new LeaseHandlers();
    leases.add({ roots });
    const { channel, clock } = await opened(legacy, { handlers: { roots }, leases });
    channel.receive({ jsonrpc: '2.0', id: 'r1', method: 'roots/list' });
    channel.receive({ jsonrpc: '2.0', id: 's1', method: 'sampling/createMessage', params: { messages: [] } });
    await clock.advance(0);
    const answers = new Map(channel.sent.map((message) => [message['id'], message]));
    expect(answers.get('r1')).toMatchObject({ result: { roots: [{ uri: 'file:///work' }] } });
    expect(answers.get('s1')).toMatchObject({ error: { code: -32601 } });
  });

  test('is gone with its channel', async () => {
    const { channel, session } = await opened();
    await session.close();
    expect([channel.closed, await session.request('tools/list')]).toEqual([true, { kind: 'lost', sent: false }]);
  });
});

describe('a call', () => {
  const optionsOf = (change: Partial<CallOptions> = {}): CallOptions => ({
    cancellation: new Cancellation(),
    onProgress: () => undefined,
    handlers: {},
    ...change,
  });
  const said = { resultType: 'complete', content: [] };
  const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } };
  const question = { method: 'elicitation/create', params: { message: 'Who?', requestedSchema } };

  test('counts as use of the session from its beginning to its end, and as served when it was answered', async () => {
    const { channel, clock, session } = await opened();
    const calling = session.callTool('read', {}, optionsOf());
    expect(session.usage()).toEqual({ isBusy: true, isKept: false, quietSince: 0, served: 0 });
    await clock.advance(70);
    channel.receive({ jsonrpc: '2.0', id: channel.request('tools/call')['id'], error: { code: 1, message: 'no' } });
    await calling;
    expect(session.usage()).toEqual({ isBusy: false, isKept: false, quietSince: 70, served: 1 });
    const lost = session.callTool('read', {}, optionsOf());
    channel.drop();
    await lost;
    expect(session.usage()).toMatchObject({ isBusy: false, served: 1 });
  });

  verifies(
    'EXT-01',
    'that needs input is sent again with it, under a new id, its state echoed as it came',
    async () => {
      const asked: Message[] = [];
      const answers = [
        { resultType: 'input_required', inputRequests: { who: question }, requestState: 'state é "1"' },
        { resultType: 'input_required', inputRequests: { who: question } },
        said,
      ];
      const elicit = async () => ({ action: 'accept', content: { name: 'Ada' } }) as const;
      const script: Script = {
        ...modern,
        'tools/call': (message) => {
          asked.push(message);
          return { result: answers[asked.length - 1] ?? said };
        },
      };
      const { session } = await opened(script, { handlers: { elicit } });
      const options = optionsOf({ handlers: { elicit }, meta: { mine: 1 } });
      expect(await session.callTool('read', { path: 'a' }, options)).toEqual({ kind: 'result', result: said });
      await session.callTool('read', {}, options);
      expect(new Set(asked.map(({ id }) => id)).size).toBe(4);
      const accepted = { who: { action: 'accept', content: { name: 'Ada' } } };
      const call = { name: 'read', arguments: { path: 'a' } };
      const rounds = asked.map(({ params }) => {
        const { _meta, ...rest } = params as JsonObject & { _meta: JsonObject };
        expect(_meta).toMatchObject({ mine: 1, 'io.modelcontextprotocol/protocolVersion': '2026-07-28' });
        return rest;
      });
      expect(rounds).toEqual([
        call,
        { ...call, inputResponses: accepted, requestState: 'state é "1"' },
        { ...call, inputResponses: accepted },
        { name: 'read', arguments: {} },
      ]);
    },
  );

  test('that asks for unsupported input ends with an error, and so does one that asks too often', async () => {
    let requests: JsonObject = { who: { method: 'sampling/createMessage' } };
    let rounds = 0;
    const { clock, session } = await opened({
      ...modern,
      'tools/call': () => {
        rounds += 1;
        return { result: { resultType: 'input_required', inputRequests: requests } };
      },
    });
    expect(await session.callTool('read', {}, optionsOf())).toEqual({
      kind: 'error',
      code: -32601,
      message: 'it asked for input, but this client does not support sampling/createMessage',
    });
    requests = { odd: { method: 'files/delete' } };
    expect(await session.callTool('read', {}, optionsOf())).toMatchObject({ kind: 'error', code: -32601 });
    rounds = 0;
    requests = {};
    const patience = session.callTool('read', {}, optionsOf());
    await clock.advance(limits.inputRounds * limits.inputPacingMs - 1);
    expect(rounds).toBe(limits.inputRounds);
    await clock.advance(1);
    expect(await patience).toMatchObject({ kind: 'error', code: -32603 });
    expect(session.usage().isBusy).toBe(false);
  });

  verifies('TRU-02', 'gets nothing from handlers that the server was not told of, whatever it asks for', async () => {
    const used: string[] = [];
    const handlers = {
      elicit: async () => ({ action: used.push('elicit') > 0 ? 'accept' : 'cancel' }) as const,
      sample: async () => ({ used: used.push('sample') }),
      roots: async () => (used.push('roots') > 0 ? [] : []),
    };
    const wants: readonly JsonObject[] = [question, { method: 'sampling/createMessage' }, { method: 'roots/list' }];
    for (const request of wants) {
      const { session } = await opened({
        ...modern,
        'tools/call': ({ params }) => ({
          result: (params as JsonObject)['inputResponses']
            ? said
            : { resultType: 'input_required', inputRequests: { it: request } },
        }),
      });
      await session.callTool('read', {}, optionsOf({ handlers }));
    }
    expect(used).toEqual([]);
  });

  test('of any method goes through the same rounds, counts as use, and says the level of the log that is wanted', async () => {
    const asked: Message[] = [];
    const roots = async () => [{ uri: 'file:///a' }];
    const { session } = await opened(
      {
        ...modern,
        'prompts/get': (message) => {
          asked.push(message);
          const { inputResponses } = message['params'] as JsonObject;
          if (inputResponses) return { result: { messages: [] } };
          return { result: { resultType: 'input_required', inputRequests: { roots: { method: 'roots/list' } } } };
        },
      },
      { logLevel: 'error', handlers: { roots } },
    );
    const answer = await session.requestWithInput(
      'prompts/get',
      { name: 'p' },
      { ...optionsOf(), handlers: { roots } },
    );
    expect(answer).toEqual({ kind: 'result', result: { messages: [] } });
    expect(asked.map(({ params }) => (params as JsonObject)['inputResponses'])).toEqual([
      undefined,
      { roots: { roots: [{ uri: 'file:///a' }] } },
    ]);
    const meta = { 'io.modelcontextprotocol/logLevel': 'error' };
    expect(asked[0]).toMatchObject({ params: { _meta: meta } });
    expect(session.usage().served).toBe(1);
    const [first, second] = [session.keep(), session.keep()];
    first();
    first();
    expect(session.usage().isKept, 'somebody else still waits for its news').toBe(true);
    second();
    expect(session.usage().isKept).toBe(false);
  });
});
