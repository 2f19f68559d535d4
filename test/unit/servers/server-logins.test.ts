// Owns the proof of which server is given which login, and which one goes on once a login is stored.

import { expect, test, vi } from 'vitest';
import { createHoldingStore } from '../../../src/auth/holding-store.ts';
import { Logins } from '../../../src/auth/logins.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import type { RemoteLaunch, ServerDefinition } from '../../../src/model/server.ts';
import { ServerLogins } from '../../../src/servers/server-logins.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';
import { waitFor } from '../../wait-for.ts';
import { createMemoryTokenStore, sampleKey, sampleStored } from '../auth/logins.ts';

const noSecrets = {
  get: async () => undefined,
  set: async () => undefined,
  delete: async () => undefined,
  lock: async () => async () => undefined,
};

function setUp() {
  const clock = createFakeClock();
  const tokens = createMemoryTokenStore(clock);
  const told: string[] = [];
  const secrets = new Map<string, object>();
  const logins = new ServerLogins({
    environment: { cwd: '/home/ada/work', home: '/home/ada', env: {}, platform: 'linux' },
    tokens,
    gate: { fingerprint: async () => 'print' },
    secrets: noSecrets,
    knownSecrets: { set: (name, values) => void secrets.set(name, values) },
    clock,
    emit: (event) => told.push(JSON.stringify(event)),
    onLoggedIn: (server) => told.push(`logged in to ${server}`),
    onError: (error) => told.push(String(error)),
  });
  return { tokens, told, secrets, logins };
}

const launch: RemoteLaunch = { kind: 'http', url: `${sampleKey.serverUrl}?x=1`, headers: {} };
const define = (more: Partial<RemoteLaunch> = {}, scope: 'user' | 'project' = 'user') =>
  ({
    name: 'web',
    launch: { ...launch, ...more },
    provenance: { scope, key: [], file: '/f', ...(scope === 'project' && { inWorkspace: true }) },
  }) as unknown as ServerDefinition;

verifies('TRU-02', 'a login signs the requests of the servers it is for', async () => {
  const { tokens, secrets, logins } = setUp();
  tokens.logins = [sampleStored(1), { ...sampleStored(2, { account: 'work' }), grantedTo: ['print /f'] }];
  const tokenOf = async (definition: ServerDefinition, grants: readonly string[] | undefined = []) => {
    const signer = await logins.signerFor(definition, definition.launch, grants);
    return signer && (await signer.login.headersFor({ method: 'POST', url: launch.url }))[1];
  };
  expect(await tokenOf(define())).toBe('Bearer access-value-1');
  expect(secrets.get('login of web')).toMatchObject({ access_token: 'access-value-1' });
  const work = define({ oauth: { account: { '~/work': 'work' } } });
  expect(logins.statusOf(work)).toEqual({ account: 'work' });
  expect(await tokenOf(work)).toBe('Bearer access-value-2');
  expect(logins.statusOf(work)).toEqual({ account: 'work', issuer: sampleKey.issuer });
  for (const more of [
    { oauth: false },
    { headers: { AUTHORIZATION: 'x' } },
    { url: 'https://a:b@mcp.example.com/mcp' },
  ])
    expect(await tokenOf(define(more as Partial<RemoteLaunch>)), JSON.stringify(more)).toBeUndefined();
  const theirs = define({ oauth: { account: 'work' } }, 'project');
  expect(await tokenOf(theirs), 'approved').toBe('Bearer access-value-2');
  expect(await logins.signerFor(theirs, theirs.launch, undefined), 'not approved').toBeUndefined();
});

test('a server that waits goes on with a login that it has not refused', async () => {
  const { tokens, told, logins } = setUp();
  const definition = define();
  tokens.logins = [sampleStored(1)];
  await logins.signerFor(definition, definition.launch, []);
  const cause = new RuntimeError('AUTH_REQUIRED', { server: 'web', why: 'refused' });
  let unblocked = 0;
  logins.onBlocked(definition, cause, () => unblocked++);
  expect(told).toEqual(['{"type":"auth.required","server":"web","why":"refused","command":"plexus login web"}']);
  const refused = { ...sampleStored(1), needsLogin: 'refused' } as const;
  await tokens.replace(sampleKey, sampleStored(1), refused);
  expect(unblocked).toBe(0);
  await tokens.replace(sampleKey, refused, sampleStored(2));
  await waitFor(() => expect(unblocked).toBe(1));
  expect(told.slice(1)).toEqual(['logged in to web']);
  logins.close();
});

verifies('AUT-02', 'a server that refuses new tokens of its login waits for another login', async () => {
  const { tokens, logins } = setUp();
  const definition = define();
  const made = (n: number, madeAt: number) => ({ ...sampleStored(n), login: { ...sampleStored(n).login, madeAt } });
  tokens.logins = [made(1, 7)];
  await logins.signerFor(definition, definition.launch, []);
  const cause = new RuntimeError('AUTH_REQUIRED', { server: 'web', why: 'refused', isTokenNew: true });
  let unblocked = 0;
  logins.onBlocked(definition, cause, () => unblocked++);
  const looks = vi.spyOn(tokens, 'list');
  // Another process has refreshed it for the same refusal.
  await tokens.replace(sampleKey, made(1, 7), made(2, 7));
  await waitFor(() => expect(looks).toHaveBeenCalled());
  await new Promise(setImmediate);
  expect(unblocked).toBe(0);
  await tokens.replace(sampleKey, made(2, 7), made(3, 8));
  await waitFor(() => expect(unblocked).toBe(1));
  logins.close();
});

test('the logins of a host are read from its store', async () => {
  const clock = createFakeClock();
  const store = createMemoryTokenStore(clock);
  store.logins = [sampleStored(1)];
  const nothing = noSecrets;
  const logins = new Logins({
    store: createHoldingStore(store),
    secrets: nothing,
    clock,
    emit: () => undefined,
    onError: () => undefined,
  });
  const wish = { serverUrl: sampleKey.serverUrl, settings: {}, account: '', isOwn: true, grant: '' };
  expect(await logins.find(wish)).toBe(store.logins[0]);
  expect(await logins.find({ ...wish, serverUrl: 'https://other' })).toBeUndefined();
});
