// Owns the proof that a server gets the login that is its own and no other, and that a person is told what is missing.
// `refresh.test.ts` has the refresh between processes.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { RuntimeOptions } from '../../src/api.ts';
import { loginsFile, stateFolder } from '../../src/config/scopes.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { discoverMCPServers } from '../../src/runtime.ts';
import { createFileStore } from '../../src/store/file.ts';
import { createTrust } from '../../src/trust/trust.ts';
import { freePort } from '../free-port.ts';
import { withDefaultStore } from '../runtime.ts';
import { type OAuthServer, startOAuth } from '../servers/oauth.ts';
import { createMemoryTokenStore } from '../unit/auth/logins.ts';
import { json } from '../unit/transport/http-servers.ts';
import { verifies } from '../verifies.ts';
import { waitFor } from '../wait-for.ts';
import { loginStoreIn, openUrl, seedLogin } from './login-scene.ts';
import { Sandbox } from './plexus.ts';
import { createFolder, start, statusOf } from './runtimes.ts';
import { publicly, serveMcp } from './web.ts';

const http = (server: Pick<OAuthServer, 'url'>, more: object = {}) => ({
  web: { url: server.url, transport: 'http', ...more } as const,
});

/** Remembers on the disk, as a host does that says nothing. */
async function open(folder: string, options: RuntimeOptions) {
  const runtime = await start(folder, { ...withDefaultStore, env: {}, ...options });
  await runtime.ready();
  return runtime;
}

const echo = (runtime: Awaited<ReturnType<typeof start>>, name = 'mcp__web__echo') => runtime.turn().call(name, {});

describe('a server without a login', () => {
  verifies('AUT-05', 'needs one, with the command; a wrong header of its entry is told apart', async () => {
    const server = await startOAuth();
    const folder = createFolder();
    const missing = await open(folder, { servers: http(server) });
    expect(statusOf(missing, 'web')).toMatchObject({
      state: 'needs-auth',
      stage: 'login',
      error: { code: 'AUTH_REQUIRED', message: 'Server "web" needs a login (HTTP 401). Log in with: plexus login web' },
    });
    expect(missing.events.filter(({ type }) => type === 'auth.required')).toEqual([
      { type: 'auth.required', server: 'web', command: 'plexus login web' },
    ]);
    const wrong = await open(folder, { servers: http(server, { headers: { Authorization: 'Bearer wrong-token' } }) });
    expect(statusOf(wrong, 'web')).toMatchObject({
      error: {
        code: 'AUTH_FAILED',
        message: expect.stringContaining('Check the token or the headers in the configuration of "web".'),
      },
    });
    const off = await open(folder, { servers: http(server, { oauth: false }) });
    expect(statusOf(off, 'web').error?.message).toContain('Give "web" a token: set bearer_token_env_var');
    expect(await server.counts()).toMatchObject({ metadata: 0, authorizations: 0 });
  });

  verifies(
    ['AUT-03', 'AUT-04', 'EVT-05'],
    'goes on by itself once a person has logged in, here or elsewhere',
    async () => {
      const server = await startOAuth();
      const folder = createFolder();
      const [one, other] = [
        await open(folder, { servers: http(server) }),
        await open(folder, { servers: http(server) }),
      ];
      const info = await one.login('web', { openUrl });
      expect(info).toMatchObject({ serverUrl: server.url, issuer: server.issuer, account: '' });
      for (const runtime of [one, other]) {
        await waitFor(() => expect(statusOf(runtime, 'web').state).toBe('connected'));
        expect((await echo(runtime)).isError).toBe(false);
      }
      expect(statusOf(one, 'web').login).toEqual({ issuer: server.issuer, expiresAt: expect.any(Number) });
      expect(await loginStoreIn(folder).list()).toMatchObject([
        { login: { key: { issuer: server.issuer } }, grantedTo: [] },
      ]);
      expect(await one.logout('web')).toMatchObject([{ account: '' }]);
      expect(await loginStoreIn(folder).list()).toEqual([]);
      expect(await server.counts()).toMatchObject({ registrations: 1, authorizations: 1, revocations: 2 });
    },
  );

  verifies(['AUT-01', 'EVT-05'], 'is told how its login failed, and can call it off', async () => {
    const server = await startOAuth({ person: 'deny' });
    const runtime = await open(createFolder(), {
      servers: http(server, { oauth: { callbackPort: await freePort() } }),
    });
    await expect(runtime.login('web', { openUrl, account: 'work' })).rejects.toMatchObject({ code: 'LOGIN_FAILED' });
    await server.set({ person: 'approve' });
    const calledOff = new AbortController();
    const enough = new Error('enough');
    const login = runtime.login('web', { openUrl: () => calledOff.abort(enough), signal: calledOff.signal });
    await expect(login).rejects.toBe(enough);
    // Its port is free again, and nothing of it stands in the way.
    await runtime.login('web', { openUrl });
    const told = runtime.events.filter(({ type }) => type.startsWith('login.'));
    expect(told).toEqual([
      {
        type: 'login.failed',
        server: 'web',
        account: 'work',
        error: {
          code: 'LOGIN_FAILED',
          message: expect.stringContaining('"access_denied" (the person said no)'),
          remedy: 'log-in',
        },
      },
      {
        type: 'login.failed',
        server: 'web',
        error: expect.objectContaining({ message: expect.stringMatching(/enough/) }),
      },
      { type: 'login.completed', server: 'web', issuer: server.issuer, scopes: [] },
    ]);
  });

  verifies('AUT-03', 'uses the store of its host, and nothing of the disk', async () => {
    const server = await startOAuth();
    const folder = createFolder();
    const tokens = createMemoryTokenStore(systemClock);
    const runtime = await open(folder, { servers: http(server), tokens });
    await runtime.login('web', { openUrl });
    await waitFor(() => expect(statusOf(runtime, 'web').state).toBe('connected'));
    await server.act('expire');
    expect((await echo(runtime)).isError).toBe(false);
    expect(runtime.events.filter(({ type }) => type === 'token.refreshed')).toEqual([
      { type: 'token.refreshed', server: 'web', expiresAt: expect.any(Number) },
    ]);
    expect(tokens.logins).toHaveLength(1);
    expect(readdirSync(folder, { recursive: true })).not.toContain(join('.local', 'state', 'plexus', 'logins.json'));
  });
});

describe('a login', () => {
  const page = { 'content-type': 'text/html' };
  /** What is no answer of an authorization server: its own failure, or something that answers in its place. */
  const outages = [
    503,
    'hang-up',
    'temporarily_unavailable',
    { value: '<html>Sign in to the hotel', headers: page },
    { value: [] },
    { value: 'x'.repeat(2_000_000), headers: page },
    { status: 307, value: '', headers: { ...page, location: 'http://127.0.0.1:9/maintenance' } },
    { status: 403, value: '<html>Blocked by the firewall', headers: page },
  ];
  verifies('AUT-02', 'survives an outage of its authorization server, and no page is opened', async () => {
    const server = await startOAuth();
    for (const refreshFault of outages) {
      await server.set({ refreshFault });
      const folder = createFolder();
      const { login } = await seedLogin(server, loginStoreIn(folder));
      const runtime = await open(folder, { servers: http(server) });
      await server.act('expire');
      const told = JSON.stringify(refreshFault).slice(0, 80);
      await expect(echo(runtime), told).rejects.toMatchObject({ code: 'LOGIN_UNAVAILABLE' });
      expect(statusOf(runtime, 'web').state).toBe('reconnecting');
      expect(await loginStoreIn(folder).list()).toMatchObject([{ login }]);
      expect(await server.counts()).toMatchObject({ refreshes: 0, authorizations: 0, registrations: 0 });
    }
  });

  test('that cannot be refreshed for a setting that is missing says which, since no waiting mends it', async () => {
    const server = await startOAuth();
    const folder = createFolder();
    const store = loginStoreIn(folder);
    const stored = await seedLogin(server, store);
    const { login } = stored;
    const client = { ...login.client, authentication: 'private_key_jwt' } as const;
    await store.replace(login.key, stored, { ...stored, login: { ...login, client } });
    const runtime = await open(folder, { servers: http(server) });
    await server.act('expire');
    await expect(echo(runtime)).rejects.toMatchObject({
      code: 'LOGIN_FAILED',
      message: expect.stringContaining('Correct oauth.private_key of "web".'),
    });
    expect(statusOf(runtime, 'web').state).toBe('needs-auth');
  });

  test('is not used where the entry has a header of its own, or wants none', async () => {
    const server = await startOAuth();
    const folder = createFolder();
    await seedLogin(server, loginStoreIn(folder));
    const { access_token } = await server.issue();
    const web = await serveMcp();
    await seedLogin(server, loginStoreIn(folder), { serverUrl: web.url });
    const sent = () => new Set(web.received.map(({ headers }) => headers.authorization));
    await open(folder, { servers: http(web, { headers: { authorization: `Bearer ${access_token}` } }) });
    expect(sent()).toEqual(new Set([`Bearer ${access_token}`]));
    web.received.length = 0;
    await open(folder, { servers: http(web, { oauth: false }) });
    expect(sent()).toEqual(new Set([undefined]));
  });

  test('that lacks a right says which, and a login with it is noticed', async () => {
    const server = await startOAuth({ toolScopes: { write: 'notes:write' } });
    const folder = createFolder();
    await seedLogin(server, loginStoreIn(folder));
    const runtime = await open(folder, { servers: http(server) });
    await expect(echo(runtime, 'mcp__web__write')).rejects.toThrow(
      'Server "web" needs a login with more rights: notes:write. Log in with: plexus login web --scopes notes:write',
    );
    expect((await echo(runtime)).isError).toBe(false);
    await seedLogin(server, loginStoreIn(folder), { scope: 'notes:write' });
    expect((await echo(runtime, 'mcp__web__write')).isError).toBe(false);
  });

  test('that is bound to a key proves it with each request', async () => {
    const server = await startOAuth({ dpop: true, nonce: true });
    const folder = createFolder();
    const runtime = await open(folder, { servers: http(server) });
    await runtime.login('web', { openUrl });
    await waitFor(() => expect(statusOf(runtime, 'web').state).toBe('connected'));
    await server.act('expire');
    expect((await echo(runtime)).isError).toBe(false);
    expect(await server.counts()).toMatchObject({ refreshes: 1, reuses: 0 });
    const other = await open(folder, { servers: http(server) });
    expect((await echo(other)).isError, 'the key is in the store').toBe(false);
    await server.set({ nonce: 'another' });
    const calls = await Promise.all(Array.from({ length: 5 }, () => echo(runtime)));
    expect(calls.map(({ isError }) => isError)).not.toContain(true);
    expect(await server.counts(), 'a new nonce costs no token').toMatchObject({ refreshes: 1 });
  });
});

test('a machine logs in by itself, and once more where its token has expired', async () => {
  const server = await startOAuth({ refreshTokens: false });
  const body = JSON.stringify({ token_endpoint_auth_method: 'client_secret_basic' });
  const headers = { 'content-type': 'application/json' };
  const registered = await fetch(`${server.issuer}/register`, { method: 'POST', headers, body });
  const { client_id: clientId, client_secret: SECRET } = (await registered.json()) as Record<string, string>;
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
  const oauth = { grant: 'client_credentials', clientId, clientSecret: '${SECRET}' };
  const folder = createFolder();
  const runtime = await open(folder, { servers: http(server, { oauth }), env: { SECRET } });
  expect(statusOf(runtime, 'web').state).toBe('connected');
  const [first] = await loginStoreIn(folder).list();
  await server.act('expire');
  expect((await echo(runtime)).isError).toBe(false);
  const [second] = await loginStoreIn(folder).list();
  expect(second?.login.tokens.accessToken).not.toBe(first?.login.tokens.accessToken);
  expect(second?.login.madeAt, 'the same login, with another token').toBe(first?.login.tokens.receivedAt);
  expect(await server.counts()).toMatchObject({ machineGrants: 2, authorizations: 0, refreshRequests: 0 });
});

verifies(
  'TRU-02',
  'a server of a repository gets a stored login only once it is approved and was granted one',
  async () => {
    const box = new Sandbox();
    onTestFinished(() => box.remove());
    const server = await startOAuth();
    const web = await serveMcp();
    const { url, env } = publicly(web.url);
    box.write('.mcp.json', { mcpServers: { theirs: { type: 'http', url } } });
    const store = loginStoreIn(box.home);
    const own = await seedLogin(server, store, { serverUrl: url });
    const environment = { cwd: box.workspace, home: box.home, env, platform: process.platform };
    const files = createFileStore(stateFolder({ ...environment, env: {} }), systemClock);
    const tokensSent = async () => {
      web.received.length = 0;
      const options = { discover: true, watch: false, home: box.home, store: files, env: { ...env, HOME: box.home } };
      const runtime = await start(box.workspace, options);
      await runtime.ready();
      await runtime.close();
      expect(web.received.length).toBeGreaterThan(0);
      return [...new Set(web.received.map(({ headers }) => headers.authorization))];
    };
    expect(await tokensSent(), 'not approved').toEqual([undefined]);
    await box.plexus('approve', 'theirs');
    expect(await tokensSent(), 'approved, and the login is for another definition').toEqual([undefined]);
    const { servers } = await discoverMCPServers(environment);
    const { gate } = createTrust({ environment, store: files, clock: systemClock });
    const [definition] = servers;
    if (definition === undefined) return expect.unreachable('the workspace has a server');
    const grant = `${await gate.fingerprint(definition)} ${definition.provenance.file}`;
    const { accessToken } = (await seedLogin(server, store, { serverUrl: url, grantedTo: [grant] })).login.tokens;
    expect(await tokensSent(), 'approved and granted').toEqual([`Bearer ${accessToken}`]);
    await box.plexus('revoke', 'theirs');
    expect(await tokensSent(), 'revoked').toEqual([undefined]);
    expect(accessToken).not.toBe(own.login.tokens.accessToken);
  },
);

verifies('EXT-31', 'one entry uses another account of its server in another folder', async () => {
  const web = await serveMcp();
  const server = await startOAuth();
  const home = createFolder();
  const store = loginStoreIn(home);
  const accounts = { '~/work': 'work', '~/work/secret': 'secret', '*': 'private' };
  const tokens = new Map<string, string>();
  for (const account of ['work', 'private']) {
    const { login } = await seedLogin(server, store, { account, serverUrl: web.url, clientId: `c-${account}` });
    tokens.set(account, `Bearer ${login.tokens.accessToken}`);
  }
  const servers = { web: { url: web.url, transport: 'http', oauth: { account: accounts } } } as const;
  const sentFrom = async (folder: string) => {
    web.received.length = 0;
    mkdirSync(join(home, folder), { recursive: true });
    const runtime = await open(home, { servers, cwd: join(home, folder) });
    const { login } = statusOf(runtime, 'web');
    return [[...new Set(web.received.map(({ headers }) => headers.authorization))], login?.account];
  };
  expect(await sentFrom('work/one')).toEqual([[tokens.get('work')], 'work']);
  expect(await sentFrom('elsewhere')).toEqual([[tokens.get('private')], 'private']);
  // Without a login of that account there is none: another person's data must not be reached by chance.
  expect(await sentFrom('work/secret')).toEqual([[undefined], 'secret']);
});

describe('the tool that asks for a login', () => {
  verifies(
    'EXT-17',
    'answers with the page where no person can be asked, once in fifteen minutes over all processes',
    async () => {
      const server = await startOAuth();
      const folder = createFolder();
      const one = await open(folder, { servers: http(server) });
      const other = await open(folder, { servers: http(server) });
      const names = () => one.turn().tools.map(({ name }) => name);
      expect(names()).toContain('mcp__web__authenticate');
      const { text } = await one.turn().call('mcp__web__authenticate', {});
      expect(text).toContain(`Page: ${server.issuer}/authorize?`);
      expect(text).toContain('plexus login web --finish URL');
      const again = await other.turn().call('mcp__web__authenticate', {});
      expect(again.text).toContain('was asked to log in to "web" a few minutes ago');
      // A login anywhere ends it, and both go on by themselves.
      await other.login('web', { openUrl });
      for (const runtime of [one, other]) await waitFor(() => expect(statusOf(runtime, 'web').state).toBe('connected'));
      expect(names()).toEqual(['mcp__web__echo']);
      await server.act('revoke');
      await expect(echo(one)).rejects.toThrow('needs a new login: the stored one is no longer accepted');
      expect(names(), 'remembered tools stay').toEqual(['mcp__web__authenticate', 'mcp__web__echo']);
      expect((await one.turn().call('mcp__web__authenticate', {})).text).toContain('Page: ');
    },
  );

  verifies('EXT-17', 'logs in where a person is there, and asks first like any tool', async () => {
    const server = await startOAuth();
    const asked: string[] = [];
    const runtime = await open(createFolder(), {
      servers: http(server),
      interactive: true,
      permissions: [],
      approve: async (request) => {
        asked.push(request.kind === 'tool' ? request.name : request.kind);
        return 'no';
      },
    });
    await waitFor(() => expect(statusOf(runtime, 'web').state).toBe('needs-auth'));
    await expect(runtime.turn().call('mcp__web__authenticate', {})).rejects.toMatchObject({ code: 'APPROVAL_REFUSED' });
    expect(asked).toEqual(['mcp__web__authenticate']);
    const denied = await open(createFolder(), {
      servers: http(server),
      permissions: [{ tool: 'mcp__web__authenticate', action: 'deny' }],
    });
    expect(denied.turn().tools.map(({ name }) => name)).not.toContain('mcp__web__authenticate');
  });

  test('has a hash behind its name where the server has a tool of that name', async () => {
    const server = await startOAuth({ toolScopes: { authenticate: '' } });
    const folder = createFolder();
    await seedLogin(server, loginStoreIn(folder));
    const runtime = await open(folder, { servers: http(server) });
    await server.act('revoke');
    await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    const names = runtime.turn().tools.map(({ name }) => name);
    expect(names).toEqual([
      'mcp__web__authenticate',
      expect.stringMatching(/^mcp__web__authenticate_[0-9a-f]{10}$/),
      'mcp__web__echo',
    ]);
    expect((await runtime.turn().call(names[1] ?? '', {})).text).toContain('Page: ');
  });
});

verifies('AUT-01', 'a login that could not be written is used by its process, and written once it can be', async () => {
  const server = await startOAuth();
  const folder = createFolder();
  const runtime = await open(folder, { servers: http(server) });
  const obstacle = obstacleIn(folder);
  const info = await runtime.login('web', { openUrl: afterwards(obstacle.put) });
  expect(info.unwritten).toMatchObject({ code: 'STORE_UNWRITABLE' });
  await waitFor(() => expect(statusOf(runtime, 'web').state).toBe('connected'));
  expect((await echo(runtime)).isError).toBe(false);
  expect(await loginStoreIn(folder).list()).toEqual([]);
  // No refresh begins whose tokens could not be written either.
  await server.act('expire');
  await expect(echo(runtime)).rejects.toMatchObject({ code: 'STORE_UNWRITABLE' });
  obstacle.remove();
  await runtime.close();
  expect(await loginStoreIn(folder).list()).toMatchObject([{ login: { key: { issuer: server.issuer } } }]);
  expect(await server.counts()).toMatchObject({ exchanges: 1, refreshRequests: 0 });
});

/** What keeps logins from being written, also where everything may be: something in the place of their lock. */
function obstacleIn(home: string) {
  const lock = `${loginsFile({ home, env: {}, platform: process.platform })}.write`;
  return { put: () => writeFileSync(lock, ''), remove: () => rmSync(lock) };
}

/** A person who approves the page, after something has happened. */
const afterwards = (happen: () => void) => async (page: string) => {
  happen();
  await openUrl(page);
};

verifies('AUT-03', 'a server that sends its token back shows it to no model and no log', async () => {
  const server = await startOAuth();
  let token: string | undefined;
  const web = await serveMcp((received, response) => {
    const { id, method } = received.message;
    if (method !== 'tools/call') return;
    token = received.headers.authorization?.replace('Bearer ', '');
    const content = [{ type: 'text', text: `You sent ${token}, backwards ${[...(token ?? '')].reverse().join('')}` }];
    json({ jsonrpc: '2.0', id, result: { content } })(received, response);
  });
  const folder = createFolder();
  await seedLogin(server, loginStoreIn(folder), { serverUrl: web.url });
  const runtime = await open(folder, { servers: http(web) });
  const outcome = await echo(runtime);
  expect(outcome.text).toMatch(/You sent .+, backwards /);
  expect(token).toMatch(/^access-/);
  expect(outcome.text).not.toContain(token);
  expect(JSON.stringify(runtime.events)).not.toContain(token);
});

describe('no secret is to be found in any file, event, error or result of full logins', () => {
  interface Scene {
    readonly folder: string;
    /** The client id that the person types. */
    readonly typed: string | undefined;
  }
  type LogIn = (runtime: Awaited<ReturnType<typeof start>>, scene: Scene) => Promise<unknown>;
  interface Way {
    readonly settings?: object;
    readonly logIn?: LogIn;
    /** The entry has the secret of a client that was registered by hand. */
    readonly hasSecret?: true;
  }
  const inBrowser: LogIn = (runtime) => runtime.login('web', { openUrl });
  const ways: Readonly<Record<string, Way>> = {
    'in the browser': {},
    'with a secret that was registered': {
      settings: { metadataFields: { token_endpoint_auth_methods_supported: ['client_secret_basic'] } },
    },
    'with a client id that was typed, and its secret': {
      settings: { metadataFields: { registration_endpoint: null } },
      hasSecret: true,
      logIn: (runtime, { typed }) => runtime.login('web', { openUrl, askClientId: async () => typed }),
    },
    'bound to a key': { settings: { dpop: true, nonce: true } },
    'finished elsewhere': {
      settings: { dpop: true },
      logIn: async (runtime) => {
        const preview = await runtime.beginLogin('web');
        const { headers } = await fetch(preview?.page ?? '', { redirect: 'manual' });
        return runtime.finishLogin('web', headers.get('location') ?? '');
      },
    },
    'that could not be written at first': {
      logIn: async (runtime, { folder }) => {
        const { put, remove } = obstacleIn(folder);
        const { unwritten, ...info } = await runtime.login('web', { openUrl: afterwards(put) });
        await waitFor(() => expect(statusOf(runtime, 'web').state).toBe('connected'));
        remove();
        return [info, unwritten?.message, String(unwritten?.stack), JSON.stringify(unwritten), await runtime.logins()];
      },
    },
  };
  for (const [way, { settings = {}, logIn = inBrowser, hasSecret }] of Object.entries(ways))
    verifies('AUT-01', way, async () => {
      const server = await startOAuth({ expiresIn: 3_600, ...settings });
      const folder = createFolder();
      const callbackPort = await freePort();
      const client = hasSecret && (await registerByHand(server, callbackPort));
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
      const oauth = { callbackPort, ...(client && { clientSecret: '${SECRET}' }) };
      const env = client ? { SECRET: client.client_secret } : {};
      const runtime = await open(folder, { servers: http(server, { oauth }), env });
      const seen: unknown[] = [];
      const secrets = new Set<string | undefined>(Object.values(env));
      for (let login = 0; login < 2; login++) {
        seen.push(await logIn(runtime, { folder, typed: client?.client_id }));
        await waitFor(() => expect(statusOf(runtime, 'web').state).toBe('connected'));
        await server.act('expire');
        seen.push(await echo(runtime), runtime.status(), await runtime.logins());
        for (const { login: stored } of await loginStoreIn(folder).list()) {
          const { tokens, client: known, dpopKey } = stored;
          expect(dpopKey !== undefined).toBe('dpop' in settings);
          const all = [tokens.accessToken, tokens.refreshToken, known.clientSecret, dpopKey?.d];
          for (const each of all) secrets.add(each);
        }
        await server.act('revoke');
        seen.push(await echo(runtime).catch(asCrashed));
      }
      seen.push(await runtime.logout('web'), runtime.events, runtime.errors.map(asCrashed));
      await runtime.close();
      for (const { input } of await server.requests('POST /token'))
        for (const name of ['code', 'code_verifier', 'refresh_token']) secrets.add(input[name]);
      const known = [...secrets].filter((each) => each !== undefined);
      // Two logins, each refreshed once: two tokens of each kind, a code, its verifier, a refresh token that is used up.
      expect(known.length).toBeGreaterThanOrEqual(10);
      expect(known.some((each) => each.startsWith('secret-'))).toBe(way.includes('secret'));
      const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
      expect(files.length).toBeGreaterThan(2);
      const texts = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'));
      for (const text of [...texts, JSON.stringify(seen)]) {
        // Everything that the authorization server gives out begins with one of these words.
        expect(text).not.toMatch(/(?:access|refresh|code|secret)-[\w-]{32}/);
        for (const secret of known) expect(text.includes(secret), secret).toBe(false);
      }
    });
});

/** All of an error, with its causes and what is hidden: more than a process prints that it ends. */
const asCrashed = (error: unknown) => inspect(error, { depth: null, showHidden: true });

async function registerByHand({ issuer }: OAuthServer, port: number) {
  const redirect_uris = [`http://127.0.0.1:${port}/callback`];
  const body = JSON.stringify({ redirect_uris, token_endpoint_auth_method: 'client_secret_basic' });
  const headers = { 'content-type': 'application/json' };
  const registered = await fetch(`${issuer}/register`, { method: 'POST', headers, body });
  return (await registered.json()) as { readonly client_id: string; readonly client_secret: string };
}
