import { describe, expect } from 'vitest';
import { createHoldingStore } from '../../../src/auth/holding-store.ts';
import { createRegistrations } from '../../../src/auth/kept-logins.ts';
import { beginPending, finishPending, logOut, performLogin } from '../../../src/auth/perform-login.ts';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { freePort } from '../../free-port.ts';
import { startOAuth } from '../../servers/oauth.ts';
import { eventually } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';
import { createTestSecrets } from './login-world.ts';
import { createMemoryTokenStore } from './logins.ts';

async function setUp(settings: object = {}) {
  const server = await startOAuth(settings);
  const clock = createFakeClock(Date.now());
  const store = createMemoryTokenStore(clock);
  const wish = {
    serverUrl: server.url,
    settings: { callbackPort: await freePort() },
    account: '',
    isOwn: false,
    grant: 'this entry',
  };
  const target = { server: 'web', url: server.url, network: { env: {}, cwd: process.cwd() }, wish };
  const person = {
    open: (page: string) => {
      void fetch(page);
      return true;
    },
  };
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const work = { store: createHoldingStore(store), secrets: createTestSecrets(), clock, onError };
  return { server, clock, store, target, work, person, errors };
}

verifies('AUT-01', 'a demand for more rights asks for all, and for none where the login has them', async () => {
  const { server, store, target, work, person } = await setUp({ challengeScope: 'read' });
  await performLogin(target, work, { person });
  await performLogin(target, work, { person, scopes: ['write'] });
  expect(store.logins).toMatchObject([{ login: { tokens: { scopes: ['read', 'write'] } }, grantedTo: ['this entry'] }]);
  await expect(performLogin(target, work, { person, scopes: ['write'] })).rejects.toMatchObject({
    data: { fault: { kind: 'scopes-refused' } },
  });
  expect(await server.counts()).toMatchObject({ authorizations: 2 });
});

verifies('AUT-01', 'another authorization server than last time is said, and the old login replaced', async () => {
  const { store, target, work, person } = await setUp();
  const { login } = await performLogin(target, work, { person });
  const elsewhere = { ...login, key: { ...login.key, issuer: 'https://old.example' } };
  store.logins = [{ login: elsewhere, grantedTo: ['this entry'] }];
  const again = await performLogin(target, work, { person });
  expect(again.formerIssuer).toBe('https://old.example');
  expect(store.logins.map((each) => each.login.key.issuer)).toEqual([login.key.issuer]);
});

verifies(
  'AUT-01',
  'of processes that log in at once, the last one to keep its login replaces that of the other',
  async () => {
    const { server, clock, store, target, work, person } = await setUp();
    const { login } = await performLogin(target, work, { person });
    store.logins = [];
    const account = { ...login.key, issuer: '', resource: '', clientId: '' };
    const release = await store.lock(account, 75_000);
    const mine = performLogin(target, work, { person });
    await eventually(async () => (await server.counts())['exchanges'] === 2);
    const theirs = { login: { ...login, key: { ...login.key, clientId: 'theirs' } }, grantedTo: ['this entry'] };
    expect(await store.replace(theirs.login.key, undefined, theirs)).toBe(true);
    await release();
    await clock.advance(1_000);
    const kept = await mine;
    expect(store.logins.map((each) => each.login)).toEqual([kept.login]);
  },
);

verifies('AUT-01', 'a login that was begun is finished once, within ten minutes', async () => {
  const { clock, store, target, work } = await setUp();
  const answerTo = async () => {
    const preview = await beginPending(target, work);
    return (await fetch(preview?.page ?? '', { redirect: 'manual' })).headers.get('location') ?? '';
  };
  const late = await answerTo();
  await clock.advance(600_001);
  await expect(finishPending(target, work, late)).rejects.toMatchObject({
    data: { fault: { kind: 'nothing-pending' } },
  });
  const answer = await answerTo();
  // A slip of the hand costs nothing: no code was used up.
  for (const wrong of [answer.replace(/state=[^&]+/, 'state=x'), '', answer.slice(0, 40)])
    await expect(finishPending(target, work, wrong)).rejects.toMatchObject({ code: 'LOGIN_FAILED' });
  await finishPending(target, work, answer);
  expect(store.logins).toHaveLength(1);
  await expect(finishPending(target, work, answer)).rejects.toMatchObject({
    data: { fault: { kind: 'nothing-pending' } },
  });
});

verifies('AUT-01', 'a logout removes the login even where it cannot be revoked, and passes on why', async () => {
  const { server, store, target, work, person, errors } = await setUp({
    metadataFields: { revocation_endpoint: null },
  });
  await performLogin(target, work, { person });
  store.logins = store.logins.map((each) => ({
    ...each,
    login: { ...each.login, revocationEndpoint: `${server.issuer}/nothing` },
  }));
  expect(await logOut(target, work)).toHaveLength(1);
  expect(store.logins).toEqual([]);
  expect(errors).toMatchObject([{ code: 'LOGIN_FAILED' }]);
});

verifies(
  'AUT-01',
  'a server that demands other rights again and again is stopped, until a login without a demand',
  async () => {
    const { server, store, target, work, person } = await setUp({ challengeScope: 'read' });
    await performLogin(target, work, { person });
    for (let n = 1; n <= 5; n++) await performLogin(target, work, { person, scopes: [`invented-${n}`] });
    const demand = () => performLogin(target, work, { person, scopes: ['invented-6'] });
    await expect(demand()).rejects.toMatchObject({ data: { fault: { kind: 'scopes-endless', times: 5 } } });
    await expect(beginPending(target, work, ['invented-6'])).rejects.toMatchObject({
      data: { fault: { kind: 'scopes-endless' } },
    });
    expect(await server.counts()).toMatchObject({ authorizations: 6 });
    await performLogin(target, work, { person });
    await demand();
    expect(store.logins).toMatchObject([{ login: { stepUps: 1 } }]);
  },
);

verifies(['AUT-01', 'AUT-02'], 'a logout waits for a refresh, and revokes what it brought', async () => {
  const { server, clock, store, target, work, person, errors } = await setUp();
  const { login } = await performLogin(target, work, { person });
  const release = await store.lock(login.key, 75_000);
  const isWaiting = createDeferred<void>();
  const lock: typeof store.lock = (...which) => {
    isWaiting.resolve();
    return store.lock(...which);
  };
  const out = logOut(target, { ...work, store: { ...work.store, lock } });
  await Promise.race([isWaiting.promise, out]);
  const [before] = store.logins;
  const tokens = { ...login.tokens, accessToken: 'newer-access', refreshToken: 'newer-refresh' };
  await store.replace(login.key, before, { login: { ...login, tokens }, grantedTo: ['this entry'] });
  await release();
  await clock.advance(1_000);
  expect(await out).toHaveLength(1);
  expect(errors).toEqual([]);
  expect(store.logins).toEqual([]);
  const revoked = (await server.requests('POST /revoke')).map(({ input }) => input['token']);
  expect(revoked).toEqual(['newer-refresh', 'newer-access']);
});

describe('a client id that a person typed', () => {
  const setUpAsked = async () => {
    const { target, person, ...world } = await setUp({ metadataFields: { registration_endpoint: null } });
    const { callbackPort } = target.wish.settings;
    /** As a person registers an application by hand. */
    const register = async (token_endpoint_auth_method = 'none') => {
      const redirect_uris = [`http://127.0.0.1:${callbackPort}/callback`];
      const body = JSON.stringify({ redirect_uris, token_endpoint_auth_method });
      const headers = { 'content-type': 'application/json' };
      const registered = await fetch(`${world.server.issuer}/register`, { method: 'POST', headers, body });
      return (await registered.json()) as { readonly client_id: string; readonly client_secret: string };
    };
    const typed: string[] = [];
    const logIn = (clientId: string, settings: object = {}) =>
      performLogin({ ...target, wish: { ...target.wish, settings: { callbackPort, ...settings } } }, world.work, {
        person: {
          ...person,
          askClientId: async () => {
            typed.push(clientId);
            return clientId;
          },
        },
      });
    return { ...world, target, typed, register, logIn };
  };

  verifies('AUT-01', 'is kept for its authorization server, and used by the next login', async () => {
    const { server, work, target, typed, register, logIn } = await setUpAsked();
    const { client_id: clientId, client_secret: clientSecret } = await register('client_secret_basic');
    for (const _ of ['asked for', 'kept']) {
      const { login } = await logIn(clientId, { clientSecret });
      expect(login.client).toMatchObject({ clientId, clientSecret, origin: 'asked' });
    }
    expect(typed).toEqual([clientId]);
    expect((await beginPending(target, work))?.page).toContain(`client_id=${clientId}`);
    const kept = await createRegistrations(work.secrets).find(server.issuer);
    expect(kept, 'without the secret, which the settings have').toEqual({
      clientId,
      authentication: 'client_secret_basic',
      origin: 'asked',
      redirectUris: [`http://127.0.0.1:${target.wish.settings.callbackPort}/callback`],
    });
  });

  verifies('AUT-01', 'is asked for again where no login came of it, or its issuer has forgotten it', async () => {
    const { server, typed, register, logIn } = await setUpAsked();
    const [one, other, third] = [await register(), await register(), await register()];
    await server.set({ person: 'deny' });
    await expect(logIn(one.client_id)).rejects.toMatchObject({ code: 'LOGIN_FAILED' });
    await server.set({ person: 'approve' });
    await logIn(other.client_id);
    await server.set({ tokenFault: 'invalid_client' });
    await expect(logIn('not asked for')).rejects.toMatchObject({ data: { fault: { error: 'invalid_client' } } });
    await server.set({ tokenFault: null });
    await logIn(third.client_id);
    expect(typed).toEqual([one, other, third].map(({ client_id }) => client_id));
  });
});

describe('where nothing can be written', () => {
  const full = () =>
    new RuntimeError('STORE_UNWRITABLE', { folder: '/state', reason: 'the disk is full', isFull: true });

  verifies('AUT-01', 'no page is opened and no code used up', async () => {
    const { server, store, target, work, person } = await setUp();
    const { page } = (await beginPending(target, work)) ?? { page: '' };
    const answer = (await fetch(page, { redirect: 'manual' })).headers.get('location') ?? '';
    store.requireWritable = () => Promise.reject(full());
    for (const attempt of [
      performLogin(target, work, { person }),
      beginPending(target, work),
      finishPending(target, work, answer),
    ])
      await expect(attempt).rejects.toMatchObject({ code: 'STORE_UNWRITABLE' });
    expect(await server.counts()).toMatchObject({ registrations: 1, authorizations: 1, exchanges: 0 });
    delete store.requireWritable;
    // The same answer is still good.
    await finishPending(target, work, answer);
    expect(store.logins).toHaveLength(1);
  });

  verifies('AUT-01', 'tokens that came all the same are used here, and written later', async () => {
    const { store, target, work, person, errors } = await setUp();
    const { login: former } = await performLogin(target, work, { person });
    const { replace, lock } = store;
    for (const refuse of [{ replace: () => Promise.reject(full()) }, { lock: () => Promise.reject(full()) }]) {
      Object.assign(store, refuse);
      const { login, unwritten } = await performLogin(target, work, { person });
      expect(unwritten).toBe(errors.at(-1));
      const listed = { login, grantedTo: ['this entry'] };
      if ('replace' in refuse) expect(store.logins).toMatchObject([{ login: former }]);
      expect(await work.store.list()).toEqual([listed]);
      Object.assign(store, { replace, lock });
      await work.store.list();
      expect(store.logins).toEqual([listed]);
    }
    expect(errors).toHaveLength(2);
  });
});
