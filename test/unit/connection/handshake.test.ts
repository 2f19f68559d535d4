// Owns the proof of the handshake, message by message: which era and version are agreed on with servers that answer well,
// late, oddly or never. Servers written with the official SDK stand for those that answer well.

import { InMemoryTransport, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/client';
import { Server } from '@modelcontextprotocol/server';
import { describe, expect, onTestFinished, test } from 'vitest';
import { legacyVersions } from '../../../src/connection/handshake-answers.ts';
import { LeaseHandlers } from '../../../src/connection/lease-handlers.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import type { Channel, Message } from '../../../src/model/server.ts';
import { verifies } from '../../verifies.ts';
import { legacy, methodsOf, modern, open, type Reply, result, type Script, scripted, sentTo } from './scripted.ts';

const refusal = (code: number, data?: JsonObject) => () => ({ error: { code, message: 'No.', ...(data && { data }) } });
const initialized = (change: JsonObject) =>
  result({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, ...change });
const discovered = (change: JsonObject) =>
  result({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, ...change });
const OURS = 'Plexus speaks 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05, 2024-10-07';

/** Replies with one of these after the other; the last one is repeated. */
const inTurn = (...replies: ReadonlyArray<(message: Message) => Reply>) => {
  let asked = 0;
  return (message: Message) => (replies[Math.min(asked++, replies.length - 1)] ?? (() => 'silence' as const))(message);
};

async function brokenBy(script: Script) {
  const channel = scripted(script);
  const failure = await open([channel]).opening.catch((error: unknown) => error);
  expect(channel.closed, 'nothing stays open').toBe(true);
  expect(failure).toMatchObject({ code: 'PROTOCOL_BROKEN' });
  return { sent: methodsOf(channel), reason: (failure as RuntimeError<'PROTOCOL_BROKEN'>).data.reason };
}

describe('the messages', () => {
  verifies(['LIF-09', 'LIF-10'], 'of a handshake are these, and no other', async () => {
    const handlers = { roots: async () => [] };
    const old = scripted(legacy);
    await open([old], { handlers }).opening;
    const clientInfo = { name: 'plexus', title: 'Plexus', version: '1' };
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': clientInfo,
      'io.modelcontextprotocol/clientCapabilities': { roots: {} },
    };
    const params = { protocolVersion: '2025-11-25', capabilities: { roots: {} }, clientInfo };
    expect(old.sent).toEqual([
      { jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta } },
      { jsonrpc: '2.0', id: 2, method: 'initialize', params },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
    ]);
  });

  verifies('LIF-09', 'name the versions that the official SDK knows', () => {
    expect(legacyVersions).toEqual(SUPPORTED_PROTOCOL_VERSIONS);
  });
});

describe('the name and version of a server', () => {
  const inMeta = (serverInfo: unknown) => discovered({ _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo } });
  const told = async (script: Script) => (await open([scripted(script)]).opening).serverInfo;

  verifies('EVT-05', 'are read in either era', async () => {
    const serverInfo = { name: 'files', version: '1.2.0', title: 'Files', icons: [] };
    const read = { name: 'files', version: '1.2.0', title: 'Files' };
    expect(await told({ ...legacy, initialize: initialized({ serverInfo }) })).toEqual(read);
    expect(await told({ ...modern, 'server/discover': inMeta(serverInfo) })).toEqual(read);
    expect(await told(modern), 'as drafts of the modern era had it').toEqual({ name: 'scripted', version: '1' });
  });

  verifies('EVT-05', 'are cleaned and cut, and missing where the server gave no name', async () => {
    const said = (serverInfo: unknown) => told({ ...legacy, initialize: initialized({ serverInfo }) });
    expect(await said({ name: 'a\u202eb\u001b[2J\nc', version: 7 })).toEqual({ name: 'ab c' });
    expect((await said({ name: 'x'.repeat(1_000_000) }))?.name.length).toBe(limits.serverInfoChars);
    for (const none of [undefined, null, 'files', {}, { name: '' }, { name: 5, version: '1' }])
      expect(await said(none)).toBeUndefined();
  });
});

describe('a server of the older era', () => {
  for (const version of legacyVersions) {
    verifies('LIF-09', `that is written with the SDK and knows only ${version} is spoken to in it`, async () => {
      const [ours, theirs] = InMemoryTransport.createLinkedPair();
      const server = new Server(
        { name: 'sdk', version: '1' },
        { capabilities: { tools: {} }, instructions: 'Be kind.', supportedProtocolVersions: [version] },
      );
      onTestFinished(() => server.close());
      await server.connect(theirs);
      const { opening } = open([ours as never]);
      expect(await opening).toMatchObject({
        ...{ era: 'legacy', protocolVersion: version, capabilities: { tools: {} }, instructions: 'Be kind.' },
      });
      expect(server.getClientVersion()).toMatchObject({ name: 'plexus' });
    });
  }

  for (const code of [-32602, -32022]) {
    verifies('LIF-09', `that refuses the version with ${code} and names others is asked once more`, async () => {
      const named = refusal(code, { supported: ['1999-01-01', '2024-11-05', '2025-03-26'], requested: '2025-11-25' });
      const picky = scripted({
        ...legacy,
        initialize: inTurn(named, initialized({ protocolVersion: '2025-03-26' })),
      });
      expect(await open([picky]).opening).toMatchObject({ era: 'legacy', protocolVersion: '2025-03-26' });
      expect(picky.request('initialize')['params']).toMatchObject({ protocolVersion: '2025-03-26' });
      const { sent, reason } = await brokenBy({ ...legacy, initialize: named });
      expect(sent).toEqual(['server/discover', 'initialize', 'initialize']);
      expect(reason).toBe(
        `the handshake failed (it refused "initialize" with error ${code}: No.; ` +
          `it supports 1999-01-01, 2024-11-05, 2025-03-26; ${OURS})`,
      );
    });
  }

  verifies(
    'LIF-09',
    'that refuses, or answers with a version that is not ours, is told of, and not begun with',
    async () => {
      const version = (protocolVersion: unknown) => initialized({ protocolVersion });
      const answered = (said: string) => `it answered "initialize" with protocol version ${said}; ${OURS}`;
      const wrong: ReadonlyArray<readonly [(message: Message) => Reply, string]> = [
        [refusal(-32600), 'it refused "initialize" with error -32600: No.'],
        [refusal(-32022, { supported: [] }), 'it refused "initialize" with error -32022: No.'],
        [() => ({ error: 'odd' }), 'it refused "initialize" with error -32603: the server gave no reason ("odd")'],
        [version('1999-01-01'), answered('1999-01-01')],
        [version('2026-07-28'), answered('2026-07-28')],
        [version('2027-01-01'), answered('2027-01-01')],
        [version(`x${'y'.repeat(9_999)}`), answered(`x${'y'.repeat(limits.refusalChars - 1)}`)],
        [version(7), 'its answer to "initialize" names no protocol version'],
        [() => ({}), 'its answer to "initialize" has no result'],
        [() => ({ result: null }), 'its answer to "initialize" has no result'],
        [() => ({ result: ['2025-11-25'] }), 'its answer to "initialize" has no result'],
        [initialized({ capabilities: undefined }), 'its answer to "initialize" names no capabilities'],
        [initialized({ capabilities: [] }), 'its answer to "initialize" names no capabilities'],
      ];
      for (const [initialize, said] of wrong) {
        const { sent, reason } = await brokenBy({ ...legacy, initialize });
        expect([sent, reason]).toEqual([['server/discover', 'initialize'], `the handshake failed (${said})`]);
      }
    },
  );

  test('is taken as it is where it only writes more or less than it should', async () => {
    const capabilities = { tools: { listChanged: true }, prompts: null, resources: false, more: 1 };
    const sloppy = scripted({ ...legacy, initialize: initialized({ capabilities, instructions: 7 }) });
    const { capabilities: declared, instructions } = await open([sloppy]).opening;
    expect([declared, instructions]).toEqual([{ tools: { listChanged: true }, more: 1 }, undefined]);
  });

  test('that cannot be told `initialized` is lost', async () => {
    const deaf = scripted(legacy);
    const { send } = deaf;
    deaf.send = async (message) => {
      if (message['method'] === 'notifications/initialized') deaf.drop({ reason: 'it hung up' });
      await send(message);
    };
    await expect(open([deaf]).opening).rejects.toMatchObject({
      code: 'CONNECTION_LOST',
      data: { reason: 'it hung up' },
    });
  });
});

describe('the answer to the probe', () => {
  const older: Record<string, (message: Message) => Reply> = {
    'is an error': refusal(-32601),
    'is an error without a code': () => ({ error: { message: 'what?' } }),
    'is no answer': () => ({}),
    'is null': () => ({ result: null }),
    'is a list': () => ({ result: [] }),
    'has no versions': discovered({ supportedVersions: undefined }),
    'has a text as versions': discovered({ supportedVersions: '2026-07-28' }),
    'has no capabilities': discovered({ capabilities: undefined }),
    'names no version at all': discovered({ supportedVersions: [] }),
    'names older versions': discovered({ supportedVersions: ['2027-01-01', '2025-11-25'] }),
    'refuses the version and names none': refusal(-32022),
    'refuses the version and names older ones': refusal(-32022, { supported: ['2027-01-01', '2025-11-25'] }),
    'tells of a missing header': refusal(-32020),
  };
  verifies(['LIF-09', 'EXT-01'], 'means the older era, unless it clearly means the modern one', async () => {
    for (const [how, answer] of Object.entries(older)) {
      const old = scripted({ ...legacy, 'server/discover': answer });
      expect(await open([old]).opening, how).toMatchObject({ era: 'legacy' });
      expect(methodsOf(old), how).toEqual(['server/discover', 'initialize', 'notifications/initialized']);
    }
  });

  verifies('LIF-09', 'of a server that is too new for us is told, and nothing else is tried', async () => {
    const supported = ['2027-01-01', '2028-01-01'];
    for (const answer of [discovered({ supportedVersions: supported }), refusal(-32022, { supported })]) {
      expect(await brokenBy({ ...legacy, 'server/discover': answer })).toEqual({
        sent: ['server/discover'],
        reason: `the handshake failed (it supports only 2027-01-01, 2028-01-01; ${OURS})`,
      });
    }
  });

  verifies('EXT-01', 'that refuses our version and names it as supported is asked for once more', async () => {
    const contradiction = refusal(-32022, { supported: ['2026-07-28'], requested: '2026-07-28' });
    const young = scripted({ 'server/discover': inTurn(contradiction, discovered({ instructions: 'Be kind.' })) });
    expect(await open([young]).opening).toMatchObject({ era: 'modern', instructions: 'Be kind.' });
    expect(methodsOf(young)).toEqual(['server/discover', 'server/discover']);
    expect(await brokenBy({ ...legacy, 'server/discover': contradiction })).toEqual({
      sent: ['server/discover', 'server/discover'],
      reason: 'the handshake failed (it refused protocol version 2026-07-28, and names it as supported)',
    });
  });
});

describe('a server that is late', () => {
  const silent: Script = { initialize: () => 'silence' };
  const begin = async (change: Partial<Channel> = {}) => {
    const channel = scripted(silent, change);
    const opened = open([channel]);
    await sentTo(channel, 'server/discover');
    await opened.clock.advance(limits.probeMs - 1);
    expect(methodsOf(channel)).toEqual(['server/discover']);
    await opened.clock.advance(1);
    expect(methodsOf(channel)).toEqual(['server/discover', 'initialize']);
    const answer = (method: string, reply: Reply) =>
      channel.receive({ jsonrpc: '2.0', id: channel.request(method)['id'], ...(reply as JsonObject) });
    return { ...opened, channel, answer };
  };
  const discovery = discovered({})();
  const refused = refusal(-32601)();

  verifies(
    ['LIF-09', 'EXT-01'],
    'is modern if it answers the probe so and refuses `initialize`, in any order',
    async () => {
      const first = await begin();
      first.answer('server/discover', discovery);
      first.answer('initialize', refused);
      expect(await first.opening).toMatchObject({ era: 'modern', protocolVersion: '2026-07-28' });
      const last = await begin();
      last.answer('initialize', refused);
      await last.clock.advance(limits.lateProbeMs - 1);
      last.answer('server/discover', discovery);
      expect(await last.opening).toMatchObject({ era: 'modern' });
      expect([methodsOf(last.channel), last.clock.pending()]).toEqual([['server/discover', 'initialize'], 0]);
    },
  );

  verifies('LIF-09', 'is of the older era if it accepts `initialize`, whatever becomes of the probe', async () => {
    const abandoned: unknown[] = [];
    const { channel, opening, answer, clock } = await begin({ abandon: (id) => abandoned.push(id) });
    answer('initialize', initialized({})());
    const session = await opening;
    expect([session.era, abandoned]).toEqual(['legacy', [channel.request('server/discover')['id']]]);
    answer('server/discover', discovery);
    const listing = session.request('tools/list');
    answer('tools/list', { result: { tools: [] } });
    expect([await listing, clock.pending()]).toEqual([{ kind: 'result', result: { tools: [] } }, 0]);
  });

  verifies('LIF-09', 'is broken if it refuses `initialize` and never tells that it is modern', async () => {
    for (const late of [undefined, refused, discovered({ supportedVersions: ['2027-01-01'] })()]) {
      const { opening, answer, clock, channel } = await begin();
      const ended = expect(opening).rejects.toMatchObject({
        code: 'PROTOCOL_BROKEN',
        data: { reason: 'the handshake failed (it refused "initialize" with error -32601: No.)' },
      });
      answer('initialize', refused);
      await clock.advance(0);
      expect(channel.closed, 'its answer to the probe is waited for').toBe(false);
      if (late === undefined) await clock.advance(limits.lateProbeMs);
      else answer('server/discover', late);
      await ended;
      expect([channel.closed, clock.pending()]).toEqual([true, 0]);
    }
  });

  verifies('LIF-09', 'is not blamed for the late failure of a probe that was given up', async () => {
    const { channel, opening, answer } = await begin({ hasRequestStreams: true });
    const cause = new RuntimeError('CONNECTION_LOST', { server: 's', reason: 'HTTP 504' });
    channel.onfailed?.(channel.request('server/discover')['id'] as number, { sent: true, cause, status: 504 });
    answer('initialize', initialized({})());
    expect(await opening).toMatchObject({ era: 'legacy' });
  });

  verifies('LIF-09', 'and dies of the probe is started again without it', async () => {
    const [slow, fresh] = [scripted(silent), scripted(legacy)];
    const { opening, clock } = open([slow, fresh]);
    await sentTo(slow, 'server/discover');
    await clock.advance(limits.probeMs);
    slow.drop({ reason: 'it exited with code 1' });
    expect(await opening).toMatchObject({ era: 'legacy' });
    expect(methodsOf(fresh)).toEqual(['initialize', 'notifications/initialized']);
  });

  test('and dies after it answered the probe has not died of it', async () => {
    const { opening, channels } = open([scripted({ ...legacy, initialize: () => 'death' })]);
    await expect(opening).rejects.toMatchObject({ code: 'CONNECTION_LOST', data: { reason: 'it died' } });
    expect(channels).toHaveLength(1);
  });
});

describe('during the handshake', () => {
  const stages = ['server/discover', 'initialize'];
  /** A legacy server that sends these messages before it answers each request of the handshake. */
  const talkative = (...messages: readonly Message[]) => {
    const channel = scripted(
      Object.fromEntries(
        stages.map((method) => [
          method,
          (message: Message) => {
            for (const each of messages)
              channel.receive({ jsonrpc: '2.0', ...each, ...(each['id'] === '' && { id: `${method}` }) });
            return legacy[method]?.(message) ?? 'silence';
          },
        ]),
      ),
    );
    return channel;
  };

  verifies(['LIF-10', 'TRN-17'], 'requests of the server are answered', async () => {
    const roots = async () => [{ uri: 'file:///work' }];
    const leases = new LeaseHandlers();
    leases.add({ roots });
    for (const [method, answer] of [
      ['ping', { result: {} }],
      ['roots/list', { result: { roots: [{ uri: 'file:///work' }] } }],
      ['sampling/createMessage', { error: { code: -32601 } }],
      ['files/delete', { error: { code: -32601 } }],
    ] as const) {
      const asking = talkative({ id: '', method });
      await open([asking], { handlers: { roots }, leases }).opening;
      const answers = asking.sent.filter(({ id }) => typeof id === 'string');
      expect(answers).toMatchObject(stages.map((id) => ({ id, ...answer })));
    }
  });

  verifies('LIF-09', 'notifications and answers to nothing change nothing', async () => {
    const noisy = talkative(
      { method: 'notifications/message', params: { level: 'info', data: 'hello' } },
      { method: 'notifications/progress', params: { progressToken: 1, progress: 1 } },
      { method: 'notifications/progress', params: { progressToken: 'odd' } },
      { method: 'notifications/tools/list_changed' },
      { method: 'notifications/cancelled', params: { requestId: 1 } },
      { id: 99, result: { protocolVersion: '1999-01-01' } },
      { id: 'server/discover', result: {} },
      { id: null, error: { code: -32700, message: 'Parse error' } },
    );
    expect(await open([noisy]).opening).toMatchObject({ era: 'legacy' });
    expect(methodsOf(noisy)).toEqual([...stages, 'notifications/initialized']);
  });

  verifies('TRN-01', 'an answer that is too large costs no more than what it answered', async () => {
    for (const hasId of [true, false]) {
      const oversized = (method: string): Script => ({
        ...legacy,
        [method]: ({ id }) => {
          queueMicrotask(() => channel.onoversized?.(hasId ? (id as number) : undefined));
          return 'silence';
        },
      });
      let channel = scripted(oversized('server/discover'));
      expect(await open([channel]).opening).toMatchObject({ era: 'legacy' });
      channel = scripted(oversized('initialize'));
      await expect(open([channel]).opening).rejects.toMatchObject({
        code: 'PROTOCOL_BROKEN',
        data: { reason: 'the handshake failed (its answer to "initialize" is too large)' },
      });
    }
  });

  test('a modern server is not told of `initialized`, and its requests are answered as well', async () => {
    const young = scripted({
      'server/discover': (message) => {
        young.receive({ jsonrpc: '2.0', id: 'p', method: 'ping' });
        return modern['server/discover']?.(message) ?? 'silence';
      },
    });
    await open([young]).opening;
    expect(young.sent).toMatchObject([{ method: 'server/discover' }, { id: 'p', result: {} }]);
  });
});
