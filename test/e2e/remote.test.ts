// Owns the proof that remote servers come up, are found out about, rest and go away as promised, over each transport.
// What they ask is in `questions.test.ts`, their news in `news.test.ts`, what they are given in `credentials.test.ts`.

import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, onTestFinished } from 'vitest';
import type { Launcher, ServerConfig } from '../../src/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { createMemoryStore } from '../../src/kernel/store.ts';
import { limits } from '../../src/model/limits.ts';
import { createFileStore } from '../../src/store/file.ts';
import { createFakeClock, type FakeClock } from '../../src/testing/fake-clock.ts';
import { type Carrier, carriers, erasOf, startAsking } from '../servers/asking.ts';
import { everything } from '../servers/everything.ts';
import { faulty } from '../servers/faulty.ts';
import { eventually, temporaryFile } from '../servers/processes.ts';
import { json, serve, status } from '../unit/transport/http-servers.ts';
import { verifies } from '../verifies.ts';
import { createFolder, type Started, start, statusOf, textOf } from './runtimes.ts';
import { relay, serveMcp } from './web.ts';

const remote = ['http', 'sse', 'ws'] as const satisfies readonly Carrier[];
const freshnessOf = (runtime: Started) => [...new Set(runtime.turn().tools.map(({ freshness }) => freshness))];

const urlOf = (entry: ServerConfig) => ('url' in entry && entry.url) || expect.fail('it has no address');

/** What a server was asked to begin with, in order; over HTTP it refuses the probe itself. */
const beginning = (methods: readonly string[]) =>
  methods.filter((each) => each !== 'open').map((each) => each.replace('refused ', ''));

const HANDSHAKE = ['initialize', 'notifications/initialized', 'tools/list'];

describe('the beginning', () => {
  for (const transport of carriers) {
    verifies(
      ['LIF-02', 'LIF-09'],
      `over ${transport} is the probe, then initialize, then the tools, and without the probe the next time`,
      async () => {
        const server = await startAsking(transport);
        const options = { servers: { web: server.entry }, store: createMemoryStore(systemClock) };
        const runtime = await start(createFolder(), options);
        expect(statusOf(runtime, 'web')).toMatchObject({
          ...{ state: 'connected', transport, era: 'legacy', protocol: '2025-11-25', toolCount: 4 },
        });
        expect(beginning(server.methods())).toEqual(['server/discover', ...HANDSHAKE]);
        await runtime.close();
        const before = server.methods().length;
        await (await start(createFolder(), options)).ready();
        const again = server.methods().slice(before);
        expect(beginning(again).filter((each) => each !== 'DELETE')).toEqual(HANDSHAKE);
      },
    );

    for (const version of ['2025-06-18', '2025-03-26', '2024-11-05']) {
      verifies('LIF-09', `over ${transport} falls back to ${version} where a server knows no newer`, async () => {
        const server = await startAsking(transport, '--version', version);
        const runtime = await start(createFolder(), { servers: { web: server.entry } });
        expect(statusOf(runtime, 'web')).toMatchObject({ state: 'connected', protocol: version });
      });
    }
  }

  for (const transport of carriers.filter((each) => erasOf(each).length === 2)) {
    verifies(['LIF-09', 'EXT-01'], `over ${transport} is one question where a server is modern`, async () => {
      const server = await startAsking(transport, '--era', 'modern');
      // The era probe never times out on this clock, however slowly the server starts.
      const runtime = await start(createFolder(), { servers: { web: server.entry }, clock: createFakeClock() });
      expect(statusOf(runtime, 'web')).toMatchObject({
        ...{ state: 'connected', transport, era: 'modern', protocol: '2026-07-28', toolCount: 4 },
      });
      // Over HTTP the subscription is a request of its own, which nothing waits for.
      await eventually(() => server.methods().includes('subscriptions/listen'));
      const [first, ...rest] = server.methods().filter((each) => each !== 'open');
      expect([first, rest.sort()]).toEqual(['server/discover', ['subscriptions/listen', 'tools/list']]);
      const asked = server.heard().filter(({ method }) => method !== undefined);
      const version = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } };
      expect(asked.map(({ params }) => params)).toMatchObject(asked.map(() => version));
    });
  }
});

describe('a server that does not come up', () => {
  const waysToFail: Record<string, Partial<ServerConfig>> = {
    'after the time of its entry': { startupTimeoutMs: 300 },
    'after the time that MCP_TIMEOUT gives': {},
  };
  for (const transport of remote) {
    for (const [when, settings] of Object.entries(waysToFail)) {
      verifies(['LIF-11', 'LIF-12'], `over ${transport} is given up ${when}, and nothing stays open`, async () => {
        const silent = await serve(() => undefined);
        const url = silent.url.replace(/^http/, transport === 'ws' ? 'ws' : 'http');
        const entry = { url, transport, reconnect: 'none', ...settings } as const;
        const clock = createFakeClock();
        const starting = start(createFolder(), { servers: { web: entry }, env: { MCP_TIMEOUT: '300' }, clock });
        await eventually(() => silent.received.length > 0);
        await clock.advance(300);
        const runtime = await starting;
        expect(statusOf(runtime, 'web')).toMatchObject({
          ...{ state: 'failed', stage: 'handshake' },
          error: { code: 'STARTUP_TIMEOUT', message: expect.stringContaining('within 300 ms') },
        });
        await eventually(() => silent.sockets.size === 0);
      });
    }
  }

  const wrong = (received: { message: { id?: unknown } }) =>
    json({ jsonrpc: '2.0', id: received.message.id, result: { protocolVersion: '1999-01-01' } });

  verifies('LIF-12', 'because its handshake is none leaves nothing open either', async () => {
    const odd = await serveMcp((received, response) => {
      if (received.message['method'] === 'initialize') wrong(received)(received, response);
    });
    const entry = { url: odd.url, transport: 'http', reconnect: 'none' } as const;
    const runtime = await start(createFolder(), { servers: { web: entry } });
    expect(statusOf(runtime, 'web')).toMatchObject({ state: 'failed', error: { code: 'PROTOCOL_BROKEN' } });
    await eventually(() => odd.sockets.size === 0);
  });
});

describe('a server that rests', () => {
  for (const transport of carriers) {
    verifies(
      'TRN-09',
      `over ${transport} until its first call is offered from the disk until then, also by another process`,
      async () => {
        const server = await startAsking(transport);
        const folder = createFolder();
        const servers = { web: { ...server.entry, lifecycle: 'lazy' as const } };
        // One store each, as two processes would have it: what is known is on the disk.
        const begin = (startup = {}) =>
          start(folder, { servers, startup, store: createFileStore(join(folder, 'cache'), systemClock) });
        await (await begin({ lazyList: 'at-start' })).close();
        const before = server.methods().length;
        const runtime = await begin();
        expect(runtime.turn().tools.map(({ name }) => name)).toContain('mcp__web__ask');
        expect([statusOf(runtime, 'web').state, freshnessOf(runtime)]).toEqual(['idle', ['cached']]);
        expect(server.methods(), 'nobody asked it').toHaveLength(before);
        const outcome = await runtime.turn().call('mcp__web__slow', { ms: 1 });
        expect(textOf(outcome)).toBe('"done"');
        await runtime.ready();
        expect([statusOf(runtime, 'web').state, freshnessOf(runtime)]).toEqual(['connected', ['live']]);
      },
    );
  }

  verifies(
    ['LIF-03', 'TDN-03'],
    'because nobody calls is told goodbye, is idle and not lost, and comes back for a call',
    async () => {
      const clock = createFakeClock();
      const web = await serveMcp();
      const entry = { url: web.url, transport: 'http', idleStopMs: 60_000, health: { mode: 'off' } } as const;
      const runtime = await start(createFolder(), { servers: { web: entry }, clock });
      await clock.advance(60_000);
      expect(statusOf(runtime, 'web')).toMatchObject({ state: 'idle', status: 'disconnected', toolCount: 2 });
      expect(statusOf(runtime, 'web').error).toBeUndefined();
      await eventually(() => web.received.some(({ method }) => method === 'DELETE'));
      expect(textOf(await runtime.turn().call('mcp__web__echo'))).toBe('done');
      await runtime.ready();
      expect(statusOf(runtime, 'web')).toMatchObject({ state: 'connected', status: 'connected' });
      const changes = runtime.events.flatMap((event) => (event.type === 'connection.changed' ? [event.to] : []));
      expect(changes).toEqual(['connecting', 'ready', 'idle', 'connecting', 'ready']);
    },
  );
});

describe('closing', () => {
  verifies('TDN-03', 'deletes the session of every server, waits for it, and leaves no socket', async () => {
    const servers = await Promise.all([serveMcp(), serveMcp()]);
    const [one, other] = servers.map(({ url }) => ({ url, transport: 'http' as const }));
    if (one === undefined || other === undefined) expect.fail('there are two');
    const runtime = await start(createFolder(), { servers: { one, other } });
    await runtime.close();
    const goodbyes = servers.map(({ received }) => received.filter(({ method }) => method === 'DELETE'));
    expect(goodbyes.map((each) => each.map(({ headers }) => headers['mcp-session-id']))).toEqual([['one'], ['one']]);
    await eventually(() => servers.every(({ sockets }) => sockets.size === 0));
  });

  verifies('TDN-03', 'waits for no goodbye longer than a moment', async () => {
    const deaf = await serveMcp(({ method }, response) => {
      if (method === 'DELETE') response.writeHead(200).flushHeaders();
    });
    const runtime = await start(createFolder(), { servers: { deaf: { url: deaf.url, transport: 'http' } } });
    // The goodbye never ends: without a limit of its own this would hang.
    await runtime.close();
    await eventually(() => deaf.sockets.size === 0);
  });
});

describe('a bare address', () => {
  verifies('VAL-03', 'is tried with the newer transport, then the older; what worked is tried first then', async () => {
    const road = await relay(urlOf(await everything('sse')));
    const folder = createFolder();
    const options = { servers: { web: { url: road.url } }, store: createFileStore(join(folder, 'cache'), systemClock) };
    const first = await start(folder, options);
    expect(statusOf(first, 'web')).toMatchObject({ state: 'connected', transport: 'sse' });
    expect(road.takeSeen().slice(0, 3)).toEqual(['POST /door', 'POST /door', 'GET /door']);
    expect(textOf(await first.turn().call('mcp__web__echo', { message: 'hello' }))).toContain('hello');
    await first.close();
    road.takeSeen();

    const second = await start(folder, options);
    await second.ready();
    expect(statusOf(second, 'web')).toMatchObject({ state: 'connected', transport: 'sse' });
    const seen = road.takeSeen();
    expect([seen[0], seen.filter((each) => each === 'POST /door')]).toEqual(['GET /door', []]);
  });

  verifies('VAL-03', 'whose server has moved on since is found to speak the newer one', async () => {
    const road = await relay(urlOf(await everything('sse')));
    const options = { servers: { web: { url: road.url } }, store: createMemoryStore(systemClock) };
    await (await start(createFolder(), options)).close();
    road.leadTo(urlOf(await everything('http')));
    for (const lives of ['the first time', 'and then']) {
      road.takeSeen();
      const runtime = await start(createFolder(), options);
      await runtime.ready();
      expect(statusOf(runtime, 'web'), lives).toMatchObject({ state: 'connected', transport: 'http' });
      expect(textOf(await runtime.turn().call('mcp__web__echo', { message: 'hello' }))).toContain('hello');
      await runtime.close();
    }
    expect(road.takeSeen()[0], 'the older one is not asked again').toBe('POST /door');
  });

  for (const code of [400, 404, 405]) {
    verifies('VAL-03', `that answers ${code} to both is told by what the newer one said`, async () => {
      const nobody = await serve(status(code));
      const runtime = await start(createFolder(), { servers: { web: { url: nobody.url, reconnect: 'none' } } });
      expect(statusOf(runtime, 'web')).toMatchObject({
        ...{ state: 'failed', error: { message: expect.stringContaining(`HTTP ${code}`) } },
      });
    });
  }
});

describe('a call that takes too long', () => {
  for (const { transport, era } of remote.flatMap((each) => erasOf(each).map((era) => ({ transport: each, era })))) {
    verifies(
      ['CAL-05', 'CAL-06'],
      `over ${transport} to a ${era} server ends after its silence, is called off there, and harms no other`,
      async () => {
        const server = await startAsking(transport, '--era', era);
        const clock = createFakeClock();
        const runtime = await start(createFolder(), {
          ...{ servers: { web: { ...server.entry, toolIdleTimeoutMs: 1_500 } }, clock },
        });
        const silent = runtime.turn().call('mcp__web__slow', { ms: 600_000 });
        const timedOut = expect(silent).rejects.toMatchObject({
          code: 'CALL_TIMEOUT',
          data: { silence: true, afterMs: 1_500 },
        });
        // One that says something in between has all the time it needs.
        let [words, heard] = [0, 0];
        const onProgress = () => void words++;
        const talking = runtime.turn().call('mcp__web__slow', { ms: 2_000 }, { onProgress });
        const done = talking.then(() => onProgress());
        for (let halfSecond = 1; halfSecond <= 3; halfSecond++) {
          await eventually(() => words > heard);
          heard = words;
          await clock.advance(500);
        }
        await Promise.all([timedOut, done]);
        expect(textOf(await talking)).toBe('"done"');
        // In the modern era the end of its own stream says it, where it has one: see below.
        if (era === 'legacy' || transport !== 'http')
          await eventually(() => server.methods().includes('notifications/cancelled'));
      },
    );
  }

  verifies('CAL-06', 'is called off by the end of its stream where that is all a modern server hears', async () => {
    const server = await startAsking('http', '--era', 'modern');
    const road = await relay(urlOf(server.entry));
    const entry = { url: road.url, transport: 'http', toolTimeoutMs: 300 } as const;
    const clock = createFakeClock();
    const runtime = await start(createFolder(), { servers: { web: entry }, clock });
    await eventually(() => server.methods().includes('subscriptions/listen'));
    const call = runtime.turn().call('mcp__web__slow', { ms: 60_000 });
    await eventually(() => server.methods().includes('tools/call'));
    expect(road.busy(), 'the news and the call').toBe(2);
    const timedOut = expect(call).rejects.toMatchObject({ code: 'CALL_TIMEOUT', remedy: 'check-first' });
    await clock.advance(300);
    await timedOut;
    await eventually(() => road.busy() === 1);
    expect(server.methods()).not.toContain('notifications/cancelled');
  });
});

describe('connecting many', () => {
  const begin = (
    servers: Record<string, ServerConfig>,
    clock: FakeClock,
    connectConcurrency = {},
    launcher: Launcher = (launch) => launch,
  ) =>
    start(createFolder(), {
      ...{ servers, clock, launcher, startup: { whenUncached: 'background', gateMs: 100 } },
      extraSources: [{ name: 'settings', scope: 'host', read: () => ({ plexus: { connectConcurrency } }) }],
    });
  const named = (count: number, entry: ServerConfig) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index}`, entry]));

  /** How many processes with this argument were started here. What they write to a file comes too late to tell who came first. */
  function countProcesses(mark: string): () => number {
    const seen: { readonly spawnargs?: readonly string[] }[] = [];
    const note = (message: unknown) => seen.push((message as { process: ChildProcess }).process);
    subscribe('child_process', note);
    onTestFinished(() => void unsubscribe('child_process', note));
    return () => seen.filter(({ spawnargs }) => spawnargs?.includes(mark)).length;
  }

  /** So many begin at once, and no other until the first have been silent for 250 ms: one more millisecond. */
  const expectBegun = async (clock: FakeClock, begun: () => number, count: number) => {
    await eventually(() => begun() === count);
    await clock.advance(limits.slotMs - 1);
    expect(begun()).toBe(count);
  };

  const expectLine = async (clock: FakeClock, begun: () => number, ...counts: readonly number[]) => {
    for (const count of counts) {
      await expectBegun(clock, begun, count);
      await clock.advance(1);
    }
  };

  for (const transport of ['http', 'sse'] as const) {
    verifies(
      'LIF-08',
      `over ${transport}, twenty are on their way at a time, or as many as a setting says`,
      async () => {
        for (const [setting, ...counts] of [
          [{}, 20, 25],
          [{ remote: 2 }, 2, 4, 6],
        ] as const) {
          const clock = createFakeClock();
          const silent = await serve(() => undefined);
          const starting = begin(named(25, { url: silent.url, transport }), clock, setting);
          await expectLine(clock, () => silent.sockets.size, ...counts);
          await (await starting).close();
        }
      },
    );
  }

  verifies('LIF-08', 'three programs are started at a time, and remote servers do not wait for them', async () => {
    const clock = createFakeClock();
    const mark = temporaryFile('pids');
    const silent = await serve(() => undefined);
    const servers = {
      ...named(5, faulty('--fault=hang', '--at=any', '--pid-file', mark)),
      web: { url: silent.url, transport: 'http' as const },
    };
    const started = countProcesses(mark);
    let resolved = 0;
    const launcher: Launcher = (launch) => {
      resolved += 1;
      return launch;
    };
    const starting = begin(servers, clock, {}, launcher);
    await eventually(() => silent.sockets.size === 1 && resolved === 5);
    // All five are ready to be started: one that does not wait in the line has been started by now.
    await setImmediate();
    await expectLine(clock, started, 3, 5);
    await (await starting).close();
  });

  verifies('LIF-08', 'a reload changes how many are on their way, for those that already wait too', async () => {
    const mark = temporaryFile('pids');
    const silent = await serve(() => undefined);
    const kinds = {
      remote: { entry: { url: silent.url, transport: 'http' as const }, begun: () => silent.sockets.size },
      stdio: { entry: faulty('--fault=hang', '--at=any', '--pid-file', mark), begun: countProcesses(mark) },
    };
    for (const [kind, { entry, begun }] of Object.entries(kinds)) {
      const clock = createFakeClock();
      const setting = { [kind]: 1 };
      const starting = begin(named(8, entry), clock, setting);
      await expectBegun(clock, begun, 1);
      const runtime = await starting;
      for (const [limit, count] of [
        [3, 4],
        [1, 5],
        [2, 7],
      ] as const) {
        setting[kind] = limit;
        await runtime.reload();
        await clock.advance(1);
        await expectBegun(clock, begun, count);
      }
      await runtime.close();
    }
  });
});

verifies('TRN-13', 'the background stream is asked for after the handshake, and nobody waits for it', async () => {
  // Time stands still: whoever waited for it would wait for ever.
  const clock = createFakeClock();
  const mute = await serveMcp(({ method }, response) => {
    if (method === 'GET') response.writeHead(200, { 'content-type': 'text/event-stream' });
  });
  const runtime = await start(createFolder(), { servers: { web: { url: mute.url, transport: 'http' } }, clock });
  expect(textOf(await runtime.turn().call('mcp__web__echo'))).toBe('done');
  await eventually(() => mute.received.some(({ method }) => method === 'GET'));
  const said = mute.received.map(({ method, message }) => (method === 'GET' ? 'GET' : message['method']));
  expect(said.indexOf('GET')).toBeGreaterThan(said.indexOf('notifications/initialized'));
});
