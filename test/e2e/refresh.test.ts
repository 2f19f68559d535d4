// Owns the proof, between real processes and with a real authorization server, that tokens are refreshed once for all of them,
// also when the process that does it is killed at the worst moment.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { createLoginStore } from '../../src/auth/login-store.ts';
import type { StoredLogin } from '../../src/auth/token-store.ts';
import { loginsFile, loginsKeyFile } from '../../src/config/scopes.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { createDeferred } from '../../src/kernel/deferred.ts';
import { limits } from '../../src/model/limits.ts';
import { runs } from '../effort.ts';
import { type OAuthServer, startOAuth } from '../servers/oauth.ts';
import { verifies } from '../verifies.ts';
import { waitFor } from '../wait-for.ts';

const program = fileURLToPath(new URL('./login-host.mjs', import.meta.url));
/** Scenes beside each other, each with a server, a home and processes of its own: most of a scene is waiting. */
const SCENES = 2;
const PROCESSES = 5;
const CALLS = 20;
/** The lock of a dead process is over when its death is known, and not when its time is up. */
const LOCK_MS = limits.refresh.lockMs;
const INTERRUPTED = 'Server "web" needs login: the refresh was interrupted. Log in with: plexus login web';

interface Said {
  readonly results?: readonly string[];
  readonly tookMs?: number;
  readonly ready?: readonly unknown[];
  readonly refreshes?: true;
  readonly listed?: true;
}

class HostProcess {
  readonly child: ChildProcess;
  readonly gone: Promise<void>;
  readonly #waiters: ((said: Said) => boolean)[] = [];

  constructor(home: string, url: string) {
    const child = spawn(process.execPath, [program, home, url], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.child = child;
    this.gone = new Promise((resolve) => child.once('exit', () => resolve()));
    createInterface({ input: child.stdout }).on('line', (line) => this.#hear(JSON.parse(line) as Said));
  }

  tell(order: object): void {
    this.child.stdin?.write(`${JSON.stringify(order)}\n`);
  }

  /** The next line that has this key; `undefined` once the process is gone. */
  async next<Key extends keyof Said>(key: Key): Promise<Said[Key] | undefined> {
    return (await this.line(key))?.[key];
  }

  line(key: keyof Said): Promise<Said | undefined> {
    const heard = createDeferred<Said | undefined>();
    this.#waiters.push((said) => {
      if (said[key] === undefined) return false;
      heard.resolve(said);
      return true;
    });
    void this.gone.then(() => heard.resolve(undefined));
    return heard.promise;
  }

  async end(): Promise<void> {
    this.child.stdin?.end();
    await this.gone;
  }

  #hear(said: Said): void {
    const heard = this.#waiters.filter((waiter) => waiter(said));
    for (const waiter of heard) this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
  }
}

async function setUp() {
  const home = await mkdtemp(join(tmpdir(), 'plexus-refresh-'));
  const server = await startOAuth();
  const environment = { home, env: {}, platform: process.platform };
  const store = createLoginStore({
    file: loginsFile(environment),
    keyFile: loginsKeyFile(environment),
    clock: systemClock,
  });
  const hosts: HostProcess[] = [];
  const start = async () => {
    const host = new HostProcess(home, server.url);
    const ready = host.next('ready');
    hosts.push(host);
    expect(await ready).toEqual([]);
    return host;
  };
  onTestFinished(async () => {
    await Promise.all(hosts.map((host) => host.end()));
    await rm(home, { recursive: true, force: true });
  });
  return { home, server, store, hosts, start };
}

type SetUp = Awaited<ReturnType<typeof setUp>>;

/** As the flow stores one; the former login is replaced. */
async function logIn({ server, store }: Pick<SetUp, 'server' | 'store'>): Promise<StoredLogin> {
  const { clientId, access_token, refresh_token, expires_in } = await server.issue({ clientId: 'one' });
  const now = Date.now();
  const stored: StoredLogin = {
    login: {
      key: { issuer: server.issuer, serverUrl: server.url, resource: '', clientId, account: '' },
      tokens: {
        accessToken: access_token,
        refreshToken: refresh_token,
        tokenType: 'Bearer',
        scopes: [],
        receivedAt: now,
        expiresAt: now + expires_in * 1_000,
      },
      client: { clientId, authentication: 'none', origin: 'registered', redirectUris: [] },
      tokenEndpoint: `${server.issuer}/token`,
    },
    grantedTo: [],
  };
  const [before] = await store.list();
  expect(await store.replace(stored.login.key, before, stored)).toBe(true);
  return stored;
}

/** What happened since the last look. */
function createCounter(server: OAuthServer) {
  let before: Readonly<Record<string, number>> = {};
  return async (...names: readonly string[]) => {
    const now = await server.counts();
    const since = names.map((name) => (now[name] ?? 0) - (before[name] ?? 0));
    before = now;
    return since;
  };
}

async function callAll(hosts: readonly HostProcess[], calls = CALLS) {
  const answers = hosts.map((host) => host.line('results'));
  for (const host of hosts) host.tell({ calls });
  return Promise.all(answers);
}

const allOk = Array(CALLS).fill('ok');

async function playScene(times: number): Promise<void> {
  const scene = await setUp();
  const { home, server, store, start } = scene;
  await logIn(scene);
  let hosts = await Promise.all(Array.from({ length: PROCESSES }, start));
  const since = createCounter(server);
  const happened = () => since('refreshRequests', 'refreshes', 'reuses', 'authorizations');
  await happened();

  const recover = async (dead: HostProcess, areBlocked: boolean) => {
    const left = hosts.filter((host) => host !== dead);
    const back = areBlocked ? left.map((host) => host.next('listed')) : [];
    await logIn(scene);
    hosts = [...left, await start()];
    // The others notice the new login by themselves.
    await Promise.all(back);
    for (const said of await callAll(hosts, 1)) expect(said?.results).toEqual(['ok']);
    await happened();
  };

  for (let run = 0; run < times; run++) {
    await server.act('expire');
    for (const said of await callAll(hosts)) expect(said?.results).toEqual(allOk);
    expect(await happened(), 'one refresh').toEqual([1, 1, 0, 0]);

    // Killed before the request leaves: another process refreshes.
    const beforeRequest = join(home, `before-${run}`);
    for (const host of hosts) host.tell({ dieAt: 'request', once: beforeRequest });
    await server.act('expire');
    const afterRequest = await callAll(hosts);
    const first = hosts[afterRequest.indexOf(undefined)] as HostProcess;
    for (const said of afterRequest.filter((each) => each !== undefined)) {
      expect(said.results).toEqual(allOk);
      expect(said.tookMs).toBeLessThan(LOCK_MS / 2);
    }
    expect(afterRequest.filter((said) => said === undefined)).toHaveLength(1);
    expect(await happened(), 'killed before the request').toEqual([1, 1, 0, 0]);
    await recover(first, false);

    // Killed while the server answers, and between the answer and our write: the old token is tried once.
    for (const moment of ['during', 'after'] as const) {
      if (moment === 'during') await server.set({ hold: 'after' });
      else for (const host of hosts) host.tell({ dieAt: 'answer', once: join(home, `answer-${run}`) });
      const before = await store.list();
      const rotated = (await server.counts())['refreshes'] ?? 0;
      const holder = Promise.race(hosts.map(async (host) => ((await host.next('refreshes')) ? host : undefined)));
      await server.act('expire');
      const called = callAll(hosts);
      const dying = (await holder) as HostProcess;
      if (moment === 'during') {
        await waitFor(async () => expect((await server.counts())['refreshes']).toBe(rotated + 1));
        dying.child.kill('SIGKILL');
        await server.set({ hold: null });
        await server.act('release');
      }
      const answers = await called;
      expect(answers[hosts.indexOf(dying)]).toBeUndefined();
      for (const said of answers.filter((each) => each !== undefined)) {
        expect(said.results).toEqual(Array(CALLS).fill(INTERRUPTED));
        expect(said.tookMs).toBeLessThan(LOCK_MS / 2);
      }
      expect(await happened(), `killed ${moment} the answer`).toEqual([2, 1, 1, 0]);
      expect(await store.list(), 'nothing is deleted').toEqual([
        { login: before[0]?.login, grantedTo: [], needsLogin: 'interrupted' },
      ]);
      // No loop: a call after that asks nobody.
      const left = hosts.filter((host) => host !== dying);
      for (const said of await callAll(left, 1)) expect(said?.results).toEqual([INTERRUPTED]);
      expect(await happened(), 'no loop').toEqual([0, 0, 0, 0]);
      await recover(dying, true);
    }
  }
}

verifies(
  ['AUT-02', 'EXT-07'],
  'five processes with twenty calls each on an expired token refresh it once, whatever happens to the one that does',
  async () => {
    const times = Array.from({ length: SCENES }, (_, scene) => Math.floor((runs(50) + scene) / SCENES));
    await Promise.all(times.map(playScene));
  },
  { timeout: 1_200_000 },
);
