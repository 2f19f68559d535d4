// Owns the proof that a repository can neither stop nor hang a headless host, and that a required server of the person's own is
// waited for within a limit.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import type { RuntimeOptions } from '../../src/api.ts';
import { createMemoryStore } from '../../src/kernel/store.ts';
import { createFakeClock, type FakeClock } from '../../src/testing/fake-clock.ts';
import { faulty } from '../servers/faulty.ts';
import { verifies } from '../verifies.ts';
import { waitFor } from '../wait-for.ts';
import { Sandbox } from './plexus.ts';
import { createFolder, type Started, start, statusOf } from './runtimes.ts';
import { publicly } from './web.ts';

/** An address that takes every request and never answers. */
async function serveSilence(): Promise<{ url: string; asked: () => number }> {
  let asked = 0;
  const server = createServer(() => {
    asked += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, asked: () => asked };
}

type Ended = { readonly at: number } & ({ readonly runtime: Started } | { readonly error: unknown });

/**
 * Starts, and once `isWaiting`, moves the clock second by second until the start has ended; returns how, and when. Between the moves
 * the start may do what it does in real time.
 */
async function startedAfter(
  clock: FakeClock,
  folder: string,
  { isWaiting, ...options }: RuntimeOptions & { readonly isWaiting: () => boolean },
) {
  let ended: Ended | undefined;
  void start(folder, { clock, startup: {}, ...options }).then(
    (runtime) => {
      ended = { runtime, at: clock.now() };
    },
    (error: unknown) => {
      ended = { error, at: clock.now() };
    },
  );
  await waitFor(() => expect([isWaiting(), clock.pending() > 0]).toEqual([true, true]));
  const begun = clock.now();
  await waitFor(async () => {
    if (ended === undefined) await clock.advance(1_000);
    for (let turn = 0; turn < 20 && ended === undefined; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(ended).toBeDefined();
  });
  const { at, ...how } = ended as unknown as Ended;
  return { ...how, tookMs: at - begun };
}

verifies(
  ['EXT-10', 'TRU-02'],
  'an unapproved entry with "required" and no limit neither stops nor holds a start that nobody watches',
  async () => {
    const box = new Sandbox();
    onTestFinished(() => box.remove());
    const silence = await serveSilence();
    const { url, env } = publicly(silence.url);
    const claims = { type: 'http', url, required: true, startup_timeout_sec: 0 };
    box.write('.mcp.json', { mcpServers: { theirs: claims } });
    const clock = createFakeClock();
    const ended = await startedAfter(clock, box.workspace, {
      ...{ discover: true, watch: false, home: box.home, env, store: createMemoryStore(clock) },
      isWaiting: () => silence.asked() > 0,
    });
    const { runtime } = 'runtime' in ended ? ended : expect.fail('it threw');
    expect(ended.tookMs).toBeLessThanOrEqual(11_000);
    expect(statusOf(runtime, 'theirs').state).not.toBe('connected');
    const loaded = runtime.events.find(({ type }) => type === 'config.loaded');
    expect(loaded).toMatchObject({
      diagnostics: [{ code: 'SERVER_UNTRUSTED', message: expect.stringContaining('"required" and limits longer') }],
    });

    box.write('~/.config/plexus/mcp.json', { mcpServers: { mine: faulty() } });
    const called = await box.run(['call', 'mine', 'echo', 'text=on', '--yes'], { env });
    expect([called.code, called.out.trim()], 'the command line is not held either').toEqual([0, 'on']);
  },
);

verifies(
  'EXT-10',
  'a required server of one’s own without a limit is waited for two minutes, then missing',
  async () => {
    let asked = 0;
    const serve = async () => {
      asked += 1;
    };
    const silent = { serve, required: true, startupTimeoutMs: 0 };
    const clock = createFakeClock();
    const ended = await startedAfter(clock, createFolder(), { servers: { silent }, isWaiting: () => asked > 0 });
    expect(ended).toMatchObject({ error: { code: 'REQUIRED_NOT_READY' } });
    expect([ended.tookMs >= 120_000, ended.tookMs <= 140_000]).toEqual([true, true]);

    const sooner = await startedAfter(createFakeClock(), createFolder(), {
      servers: { silent },
      isWaiting: () => asked > 1,
      startup: { requiredWaitMs: 20_000, waitMs: 1_000 },
    });
    expect([sooner.tookMs >= 20_000, sooner.tookMs <= 30_000]).toEqual([true, true]);
  },
);
