// Owns the proof that tokens are refreshed once, that a slow refresh undoes nothing, and that an outage costs no login.
// `test/e2e/logins.test.ts` has the same between real processes.

import { describe, expect, test } from 'vitest';
import { createHoldingStore } from '../../../src/auth/holding-store.ts';
import type { Login } from '../../../src/auth/login-model.ts';
import { ageOf, type RefreshAnswer, Refresher } from '../../../src/auth/refresh.ts';
import type { StoredLogin } from '../../../src/auth/token-store.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';
import { createMemoryTokenStore, sampleKey, sampleLogin, sampleStored, sampleTokens } from './logins.ts';

function setUp(answer: (login: Login) => Promise<RefreshAnswer> | RefreshAnswer) {
  const clock = createFakeClock();
  const store = createMemoryTokenStore(clock);
  const before = sampleStored(1);
  store.logins = [before];
  const asked: string[] = [];
  const told: string[] = [];
  const request = async (login: Login) => {
    asked.push(login.tokens.refreshToken ?? '');
    return answer(login);
  };
  const create = () => {
    const refresher = new Refresher({
      store: createHoldingStore(store),
      clock,
      onError: (error) => told.push((error as RuntimeError).code),
    });
    return { renew: (used: StoredLogin) => refresher.renew(used, { needsRefreshToken: true, request }) };
  };
  return { clock, store, before, asked, told, create };
}

const tokens = (n: number): RefreshAnswer => ({ kind: 'tokens', login: sampleLogin(n) });

describe('a refresh', () => {
  verifies(['AUT-02', 'EXT-07'], 'happens once for all that need it, in this process and in others', async () => {
    const { store, before, asked, create } = setUp(() => tokens(2));
    const [one, other] = [create(), create()];
    const renewals = await Promise.all([
      one.renew(before),
      one.renew(before),
      other.renew(before),
      other.renew(before),
    ]);
    expect(renewals.map((each) => each.kind === 'renewed' && each.stored.login.tokens.accessToken)).toEqual(
      Array(4).fill('access-value-2'),
    );
    expect(asked).toEqual(['refresh-value-1']);
    expect(store.logins).toEqual([sampleStored(2)]);
  });

  verifies('AUT-02', 'that is refused deletes nothing, and says it to others without another request', async () => {
    const { store, before, asked, create } = setUp(() => ({ kind: 'refused' }));
    expect(await create().renew(before)).toEqual({ kind: 'needs-login', why: 'refused' });
    expect(await create().renew(before)).toEqual({ kind: 'needs-login', why: 'refused' });
    expect(asked).toHaveLength(1);
    expect(store.logins).toEqual([{ ...before, needsLogin: 'refused' }]);
  });

  verifies('AUT-02', 'that is refused for tokens which were replaced meanwhile gives those', async () => {
    const { store, before, create } = setUp(async () => {
      store.logins = [sampleStored(9)];
      return { kind: 'refused' };
    });
    expect(await create().renew(before)).toEqual({ kind: 'renewed', stored: sampleStored(9) });
    expect(store.logins).toEqual([sampleStored(9)]);
  });

  verifies('AUT-02', 'never replaces a newer login', async () => {
    const { store, before, create } = setUp(async () => {
      store.logins = [sampleStored(9)];
      return tokens(2);
    });
    expect(await create().renew(before)).toEqual({ kind: 'renewed', stored: sampleStored(9) });
    expect(store.logins).toEqual([sampleStored(9)]);
  });

  test('wins over the refusal that a process got which took the lock over too early', async () => {
    const { store, before, create } = setUp(async () => {
      store.logins = [{ ...before, needsLogin: 'interrupted' }];
      return tokens(2);
    });
    await create().renew(before);
    expect(store.logins).toEqual([sampleStored(2)]);
  });

  test('of a login that was logged out meanwhile brings it not back', async () => {
    const { store, before, create } = setUp(async () => {
      store.logins = [];
      return tokens(2);
    });
    expect(await create().renew(before)).toEqual({ kind: 'needs-login', why: 'gone' });
    expect(store.logins).toEqual([]);
  });

  verifies('EXT-07', 'that was interrupted is tried once more, and then needs a login', async () => {
    const { store, before, asked, create } = setUp(() => ({ kind: 'refused' }));
    // As a process leaves it that dies after its request has left.
    store.logins = [{ ...before, refreshBegan: 5 }];
    expect(await create().renew(before)).toEqual({ kind: 'needs-login', why: 'interrupted' });
    expect(await create().renew(before)).toEqual({ kind: 'needs-login', why: 'interrupted' });
    expect(asked).toHaveLength(1);
    expect(store.logins).toEqual([{ ...before, needsLogin: 'interrupted' }]);
  });

  test('that was interrupted before its request left succeeds', async () => {
    const { store, before, create } = setUp(() => tokens(2));
    store.logins = [{ ...before, refreshBegan: 5 }];
    await create().renew(before);
    expect(store.logins).toEqual([sampleStored(2)]);
  });

  verifies('AUT-02', 'that meets an outage costs nothing, and is not repeated at once', async () => {
    const data = { server: 'web', address: 'https://login.example.com', reason: 'it answered HTTP 503' };
    let answer: RefreshAnswer = { kind: 'outage', error: new RuntimeError('LOGIN_UNAVAILABLE', data) };
    const { clock, store, before, asked, create } = setUp(() => answer);
    const refresher = create();
    for (let n = 0; n < 3; n++) expect(await refresher.renew(before)).toEqual(answer);
    expect(asked).toHaveLength(1);
    expect(store.logins).toMatchObject([{ login: before.login }]);
    await clock.advance(5_000);
    answer = tokens(2);
    expect(await refresher.renew(before)).toEqual({ kind: 'renewed', stored: sampleStored(2), isNew: true });
  });

  test('is not put off by a clock that was set back during an outage', async () => {
    const data = { server: 'web', address: 'https://login.example.com', reason: 'it answered HTTP 503' };
    let answer: RefreshAnswer = { kind: 'outage', error: new RuntimeError('LOGIN_UNAVAILABLE', data) };
    const { clock, before, create } = setUp(() => answer);
    const refresher = create();
    await refresher.renew(before);
    const { now } = clock;
    clock.now = () => now() - 86_400_000;
    answer = tokens(2);
    expect(await refresher.renew(before)).toMatchObject({ kind: 'renewed' });
  });

  test('works on where its result cannot be written', async () => {
    const { store, before, asked, told, create } = setUp(({ tokens: { refreshToken } }) =>
      tokens(refreshToken === 'refresh-value-1' ? 2 : 3),
    );
    const { replace } = store;
    store.replace = async (key, expected, next) => {
      if (next?.refreshBegan === undefined)
        throw new RuntimeError('STORE_UNWRITABLE', { folder: '/state', reason: 'the disk is full' });
      return replace(key, expected, next);
    };
    const refresher = create();
    expect(await refresher.renew(before)).toEqual({ kind: 'renewed', stored: sampleStored(2), isNew: true });
    expect(told).toEqual(['STORE_UNWRITABLE']);
    // What is stored is used up, and not asked for again: first the tokens are written that could not be.
    await expect(refresher.renew(sampleStored(2))).rejects.toMatchObject({ code: 'STORE_UNWRITABLE' });
    store.replace = replace;
    expect(await refresher.renew(sampleStored(2))).toMatchObject({ kind: 'renewed', isNew: true });
    expect(asked).toEqual(['refresh-value-1', 'refresh-value-2']);
  });

  test('needs a refresh token', async () => {
    const { store, create } = setUp(() => tokens(2));
    const { login } = sampleStored(1);
    const bare: StoredLogin = {
      login: { ...login, tokens: { ...login.tokens, refreshToken: undefined } },
      grantedTo: [],
    };
    store.logins = [bare];
    expect(await create().renew(bare)).toEqual({ kind: 'needs-login', why: 'expired' });
    expect(store.logins[0]?.login.key).toEqual(sampleKey);
  });
});

test('a token is refreshed a minute before its end, or in the last fifth of a short life', () => {
  const lasting = (lifeMs: number) => (now: number) =>
    ageOf({ ...sampleTokens(1), receivedAt: 0, expiresAt: lifeMs }, now);
  expect([0, 3_539_999, 3_540_000, 3_600_000].map(lasting(3_600_000))).toEqual(['fresh', 'fresh', 'soon', 'expired']);
  expect([0, 7_999, 8_000, 10_000].map(lasting(10_000))).toEqual(['fresh', 'fresh', 'soon', 'expired']);
  expect(ageOf(sampleTokens(1), 1e12)).toBe('fresh');
});
