import { expect } from 'vitest';
import { beginPending, finishPending, logOut, performLogin } from '../../../src/auth/perform-login.ts';

import { createDeferred } from '../../../src/kernel/deferred.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { startOAuth } from '../../servers/oauth.ts';
import { eventually } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';
import { createTestSecrets, freePort } from './login-world.ts';
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
  return { server, clock, store, target, work: { store, secrets: createTestSecrets(), clock }, person };
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
  const { server, store, target, work, person } = await setUp({ metadataFields: { revocation_endpoint: null } });
  await performLogin(target, work, { person });
  store.logins = store.logins.map((each) => ({
    ...each,
    login: { ...each.login, revocationEndpoint: `${server.issuer}/nothing` },
  }));
  const errors: unknown[] = [];
  expect(await logOut(target, work, (error) => errors.push(error))).toHaveLength(1);
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
  const { server, clock, store, target, work, person } = await setUp();
  const { login } = await performLogin(target, work, { person });
  const release = await store.lock(login.key, 75_000);
  const isWaiting = createDeferred<void>();
  const lock: typeof store.lock = (...which) => {
    isWaiting.resolve();
    return store.lock(...which);
  };
  const out = logOut(target, { ...work, store: { ...store, lock } }, (error) => expect(error).toBeUndefined());
  await Promise.race([isWaiting.promise, out]);
  const [before] = store.logins;
  const tokens = { ...login.tokens, accessToken: 'newer-access', refreshToken: 'newer-refresh' };
  await store.replace(login.key, before, { login: { ...login, tokens }, grantedTo: ['this entry'] });
  await release();
  await clock.advance(1_000);
  expect(await out).toHaveLength(1);
  expect(store.logins).toEqual([]);
  const revoked = (await server.requests('POST /revoke')).map(({ input }) => input['token']);
  expect(revoked).toEqual(['newer-refresh', 'newer-access']);
});
