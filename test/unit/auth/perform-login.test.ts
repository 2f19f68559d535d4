// Owns the proof of what a login leaves behind: it is kept once it has succeeded, in place of the one before, and revoked when it is over.

import { describe, expect, onTestFinished, test } from 'vitest';
import { openCallback } from '../../../src/auth/callback.ts';
import { machineGrantOf } from '../../../src/auth/machine-login.ts';
import { beginPending, finishPending, logOut, performLogin } from '../../../src/auth/perform-login.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createMemoryStore } from '../../../src/kernel/store.ts';
import { loginFaultSentences } from '../../../src/model/login-faults.ts';
import { createLoginDesk } from '../../../src/servers/log-in-server.ts';
import { startOAuth } from '../../servers/oauth.ts';
import { createMemoryTokenStore } from './logins.ts';

async function setUp() {
  const server = await startOAuth();
  const secrets = createMemoryStore();
  const store = createMemoryTokenStore(systemClock);
  const wish = { serverUrl: server.url, settings: {}, account: '', isOwn: false, grant: 'theirs' };
  const target = { server: 'web', url: server.url, network: { env: {}, cwd: '/' }, wish };
  const person = {
    open: async (page: string) => {
      await fetch(page);
      return true;
    },
  };
  return { server, store, target, work: { store, secrets, clock: systemClock }, person };
}

describe('a login', () => {
  test('takes the place of the one before only when it has succeeded', async () => {
    const { server, store, target, work, person } = await setUp();
    await performLogin(target, work, { person });
    const [first] = store.logins;
    expect(store.logins).toMatchObject([{ login: { key: { serverUrl: server.url } }, grantedTo: ['theirs'] }]);
    await server.set({ person: 'deny' });
    await expect(performLogin(target, work, { person })).rejects.toMatchObject({ code: 'LOGIN_FAILED' });
    expect(store.logins).toEqual([first]);
    await server.set({ person: 'approve' });
    await performLogin(target, work, { person });
    expect(store.logins).toHaveLength(1);
    expect(store.logins[0]?.login.tokens).not.toEqual(first?.login.tokens);
    expect(await logOut(target, work, (error) => expect.unreachable(String(error)))).toHaveLength(1);
    expect(store.logins).toEqual([]);
    expect(await server.counts()).toMatchObject({ registrations: 1, exchanges: 2, revocations: 2 });
  });

  test('of a person who is elsewhere is finished once', async () => {
    const { store, target, work } = await setUp();
    const preview = await beginPending(target, work);
    const answer = (await fetch(preview?.page ?? '', { redirect: 'manual' })).headers.get('location') ?? '';
    await finishPending(target, work, answer);
    expect(store.logins).toHaveLength(1);
    await expect(finishPending(target, work, answer)).rejects.toMatchObject({
      data: { fault: { kind: 'nothing-pending' } },
    });
  });
});

test('a listener takes the first free address', async () => {
  const one = await openCallback(['http://127.0.0.1:0/callback']);
  onTestFinished(() => one?.close());
  expect(one?.redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
});

test('a machine is known by its grant', () => {
  expect(
    [{}, { grant: 'authorization_code' }, { grant: 'jwt_bearer' }].map((each) => machineGrantOf(each as object)),
  ).toEqual([undefined, undefined, 'jwt_bearer']);
});

test('a login that nobody began says how to begin one', () => {
  expect(loginFaultSentences({ kind: 'nothing-pending' }, 'my web').next).toContain("plexus login 'my web'");
});

test('the desk lists logins without their tokens', async () => {
  const { store, target, work, person } = await setUp();
  await performLogin(target, work, { person });
  const desk = createLoginDesk({ logins: { store: async () => store } } as unknown as Parameters<
    typeof createLoginDesk
  >[0]);
  const [info] = await desk.list();
  expect(info).toMatchObject({ serverUrl: target.url, account: '' });
  expect(JSON.stringify(info)).not.toMatch(/access-|refresh-/);
});
