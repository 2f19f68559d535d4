// Owns the proof of the tokens of clients: stored hashed, bound to a profile, and worth nothing once revoked.

import { expect, test } from 'vitest';
import { addToken, isTokenName, listTokens, openTokens, revokeToken } from '../../../src/gateway/tokens.ts';
import { createMemoryStore } from '../../../src/kernel/store.ts';

const request = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

test('a token is found by its text, and stored as a hash', async () => {
  const store = createMemoryStore();
  const token = (await addToken(store, { name: 'editor', profile: 'work', now: 0 })) ?? '';
  expect(token).toMatch(/^plexus_[\w-]{43}$/);
  expect(await store.get('gateway.clients')).not.toContain(token.slice(7));
  const tokens = await openTokens(store, () => expect.fail('nothing was revoked'));
  expect(tokens.find(request(token))).toMatchObject({ name: 'editor', profile: 'work' });
  expect(tokens.find(request(`${token}x`))).toBeUndefined();
  expect(tokens.find({ headers: {} })).toBeUndefined();
  expect(await addToken(store, { name: 'editor', profile: 'other', now: 0 })).toBeUndefined();
  tokens.close();
});

test('a running gateway learns of new and revoked tokens', async () => {
  const store = createMemoryStore();
  const revoked: string[] = [];
  const tokens = await openTokens(store, ({ name }) => revoked.push(name));
  const [one, two] = await Promise.all(
    ['one', 'two'].map((name) => addToken(store, { name, profile: 'p', now: 0 }) as Promise<string>),
  );
  expect([tokens.find(request(one ?? ''))?.name, tokens.find(request(two ?? ''))?.name]).toEqual(['one', 'two']);
  expect([await revokeToken(store, 'one'), await revokeToken(store, 'one')]).toEqual([true, false]);
  expect(revoked).toEqual(['one']);
  expect(tokens.find(request(one ?? ''))).toBeUndefined();
  expect((await listTokens(store)).map(({ name }) => name)).toEqual(['two']);
  tokens.close();
});

test('a store that holds something else gives no access', async () => {
  const store = createMemoryStore();
  await store.set('gateway.clients', '[{"name":"x"},null,7]');
  expect(await listTokens(store)).toEqual([]);
});

test.each(['a', 'my-editor', 'a.b_c'])('%s is a name', (name) => expect(isTokenName(name)).toBe(true));
test.each(['', '-a', 'a b', 'a\n', 'ä', 'x'.repeat(65)])('%j is no name', (name) =>
  expect(isTokenName(name)).toBe(false),
);
