// Owns the proof that each request is signed with the token of the moment, and what follows from a refusal.

import { describe, expect, test } from 'vitest';
import { createDpopKey, nonceOf } from '../../../src/auth/dpop.ts';
import { chooseLogin, type LoginWish } from '../../../src/auth/login-choice.ts';
import { LoginInUse } from '../../../src/auth/login-use.ts';
import type { Renewal } from '../../../src/auth/refresh.ts';
import type { StoredLogin } from '../../../src/auth/token-store.ts';
import { accountFor } from '../../../src/config/login-account.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';
import { sampleKey, sampleStored } from './logins.ts';

const request = { method: 'POST', url: 'https://mcp.example.com/mcp' };
const bearer = (n: number) => ['authorization', `Bearer access-value-${n}`];
const needs = (why: string, more: object = {}) =>
  expect.objectContaining({ code: 'AUTH_REQUIRED', data: { server: 'web', why, ...more } });
/** No newer token of the same login would do better. */
const NEW = { isTokenNew: true };

function setUp(stored: StoredLogin, renewal: Renewal, newer?: StoredLogin) {
  const clock = createFakeClock();
  const renewed: string[] = [];
  const events: string[] = [];
  const login = new LoginInUse(stored, {
    server: 'web',
    refresher: {
      renew: async ({ login: { tokens } }) => {
        renewed.push(tokens.accessToken);
        return renewal;
      },
      newerThan: async () => newer,
    },
    way: { needsRefreshToken: true, request: async () => ({ kind: 'refused' }) },
    onLogin: () => undefined,
    emit: ({ type }) => events.push(type),
    clock,
    onError: (error) => expect.unreachable(String(error)),
  });
  return { clock, login, renewed, events };
}

const bound = (): StoredLogin => ({ login: { ...sampleStored(1).login, dpopKey: createDpopKey() }, grantedTo: [] });

const two: Renewal = { kind: 'renewed', stored: sampleStored(2), isNew: true };
const outage: Renewal = {
  kind: 'outage',
  error: new RuntimeError('LOGIN_UNAVAILABLE', {
    server: 'web',
    address: 'https://login.example.com',
    reason: 'it is down',
  }),
};

describe('a request', () => {
  verifies('AUT-02', 'waits for a new token only once the old one has expired', async () => {
    const { clock, login, renewed, events } = setUp(sampleStored(1, {}, 100_000), two);
    expect(login.headersFor(request)).toEqual(bearer(1));
    await clock.advance(99_000);
    expect(login.headersFor(request), 'refreshed ahead, without waiting').toEqual(bearer(1));
    expect(renewed).toEqual(['access-value-1']);
    await clock.advance(1_000);
    expect(await login.headersFor(request)).toEqual(bearer(2));
    expect(events).toEqual(['token.refreshed']);
  });

  test('is sent with the old token during an outage, and not at all without a login', async () => {
    const { clock, login } = setUp(sampleStored(1, {}, 10), outage);
    await clock.advance(10);
    expect(await login.headersFor(request)).toEqual(bearer(1));
    const gone = setUp(sampleStored(1, {}, 0), { kind: 'needs-login', why: 'interrupted' });
    await expect(gone.login.headersFor(request)).rejects.toEqual(needs('interrupted'));
  });

  test('carries a proof where the token is bound to a key', () => {
    expect(setUp(bound(), two).login.headersFor(request)).toEqual([
      ...bearer(1),
      'dpop',
      expect.stringMatching(/^ey.+\..+\./),
    ]);
  });
});

describe('a refusal', () => {
  verifies('AUT-02', 'is answered with another token, once', async () => {
    const { login, renewed } = setUp(sampleStored(1), two);
    expect(await login.onRefused(bearer(1), { status: 401, repeats: 0 })).toBe('again');
    expect(await login.onRefused(bearer(1), { status: 401, repeats: 0 }), 'a call that waited').toBe('again');
    expect(await login.onRefused(bearer(2), { status: 401, repeats: 1 })).toEqual(needs('refused', NEW));
    expect(renewed).toHaveLength(1);
  });

  test('of everything ends', async () => {
    const { login } = setUp(sampleStored(1), two);
    expect(await login.onRefused(bearer(0), { status: 401, repeats: 3 })).toEqual(needs('refused', NEW));
  });

  describe('of a proof', () => {
    const refusalOf = (error: string | undefined, nonce: string, repeats = 0) => ({
      ...{ status: 401, nonce, repeats },
      ...(error !== undefined && { challenge: `DPoP error="${error}"` }),
    });

    verifies(
      'AUT-01',
      'is answered with the nonce that the server names, by each of the requests under way',
      async () => {
        const { login, renewed } = setUp(bound(), two);
        const signed = [await login.headersFor(request), await login.headersFor(request)];
        login.onNonce('n1');
        for (const headers of signed)
          expect(await login.onRefused(headers, refusalOf('use_dpop_nonce', 'n1'))).toBe('again');
        const proof = (await login.headersFor(request)).at(-1) ?? '';
        expect(nonceOf(proof)).toBe('n1');
        expect(renewed).toEqual([]);
      },
    );

    verifies('AUT-02', 'is one of the token where the proof had the nonce, or the server says so', async () => {
      for (const refusal of [refusalOf('use_dpop_nonce', 'n1'), refusalOf('invalid_token', 'n2')]) {
        const { login, renewed } = setUp(bound(), two);
        login.onNonce('n1');
        expect(await login.onRefused(await login.headersFor(request), refusal)).toBe('again');
        expect(renewed).toHaveLength(1);
      }
    });

    test('without a reason, with another nonce each time, leads to another token all the same', async () => {
      const { login, renewed } = setUp(bound(), two);
      for (const repeats of [0, 1])
        expect(
          await login.onRefused(await login.headersFor(request), refusalOf(undefined, `n${repeats}`, repeats)),
        ).toBe('again');
      expect(renewed).toHaveLength(1);
    });
  });

  test('during an outage is an outage', async () => {
    const { login } = setUp(sampleStored(1), outage);
    expect(await login.onRefused(bearer(1), { status: 401, repeats: 0 })).toMatchObject({ code: 'LOGIN_UNAVAILABLE' });
  });

  test('for want of a right names it, unless a newer login has it', async () => {
    const refusal = { status: 403, challenge: 'Bearer error="insufficient_scope", scope="a b"', repeats: 0 };
    const { login } = setUp(sampleStored(1), two);
    expect(await login.onRefused(bearer(1), refusal)).toMatchObject({ data: { why: 'scopes', scopes: ['a', 'b'] } });
    expect(await login.onRefused(bearer(1), { ...refusal, challenge: undefined })).toBeUndefined();
    const newer = setUp(sampleStored(1), two, sampleStored(3));
    expect(await newer.login.onRefused(bearer(1), refusal)).toBe('again');
    expect(newer.login.headersFor(request)).toEqual(bearer(3));
  });
});

describe('the login of a server', () => {
  const wish: LoginWish = { serverUrl: sampleKey.serverUrl, settings: {}, account: '', isOwn: true, grant: 'g' };
  const [plain, work] = [sampleStored(1), sampleStored(2, { account: 'work' })];

  verifies(['AUT-04', 'EXT-31'], 'is that of its address, client and account', () => {
    const all = [plain, work];
    expect(chooseLogin(all, wish)).toBe(plain);
    expect(chooseLogin(all, { ...wish, account: 'work' })).toBe(work);
    expect(chooseLogin(all, { ...wish, account: 'other' })).toBeUndefined();
    expect(chooseLogin(all, { ...wish, serverUrl: 'https://mcp.example.com/' })).toBeUndefined();
    expect(chooseLogin(all, { ...wish, settings: { clientId: 'another' } })).toBeUndefined();
    expect(chooseLogin(all, { ...wish, settings: { resource: 'off' } })).toBeUndefined();
    expect(chooseLogin(all, { ...wish, settings: { resource: sampleKey.resource } })).toBe(plain);
  });

  verifies('TRU-02', 'of a file of others is one that was granted to it; its account is a suggestion', () => {
    const theirs = { ...wish, isOwn: false };
    const granted = { ...plain, grantedTo: ['g'] };
    expect(chooseLogin([plain, work], theirs)).toBeUndefined();
    expect(chooseLogin([granted, work], { ...theirs, account: 'work' })).toBe(granted);
  });

  verifies('EXT-31', 'is that of the closest folder around', () => {
    const rules = { '~/work': 'work', '~/work/secret': 'secret', '*': 'private' };
    const inFolder = (cwd: string) => accountFor(rules, { cwd, home: '/home/ada', platform: 'linux' });
    expect(['/home/ada/work', '/home/ada/work/secret/x', '/home/ada/workshop', '/'].map(inFolder)).toEqual([
      'work',
      'secret',
      'private',
      'private',
    ]);
    expect(accountFor('work', { cwd: '/', home: '/', platform: 'linux' })).toBe('work');
    expect(accountFor(undefined, { cwd: '/', home: '/', platform: 'linux' })).toBe('');
  });
});
