// Owns the proof of how often a model can have a person asked for a login, and what it is told.

import { expect, test } from 'vitest';
import { authenticateName, createAuthenticateTool } from '../../../src/builtins/authenticate.ts';
import type { Connections } from '../../../src/connection/connections.ts';
import { Cancellation } from '../../../src/kernel/cancellation.ts';
import { createMemoryStore } from '../../../src/kernel/store.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import { endAsk, type LoginAskDeps, LoginAsks } from '../../../src/servers/login-asks.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';

function setUp(isPersonHere: boolean, cause = new RuntimeError('AUTH_REQUIRED', { server: 'web', account: 'work' })) {
  const clock = createFakeClock();
  const store = createMemoryStore(clock);
  const done: string[] = [];
  const entry = { definition: { name: 'web' }, connection: { state: { kind: 'blocked', cause } } };
  const connections = { get: () => entry, all: () => [entry] } as unknown as Connections;
  const desk: LoginAskDeps['desk'] = {
    login: async (server, options) => {
      done.push(`login ${server} ${options?.account}`);
      return { serverUrl: 'https://a', issuer: 'https://b', account: '', scopes: [] };
    },
    begin: async (server, options) => {
      done.push(`begin ${server} ${options?.account}`);
      return { server: 'https://a', issuer: 'https://b', scopes: [], page: 'https://b/page' };
    },
  };
  const asks = new LoginAsks({ desk, connections, store, isPersonHere: () => isPersonHere });
  const tool = createAuthenticateTool('web', 'mcp__web__authenticate', asks);
  const context = { cancellation: new Cancellation(), tools: [], load: () => undefined, introduce: () => '' };
  const call = async () =>
    (await tool.perform({}, context)).content.map((block) => 'text' in block && block.text).join();
  return { clock, store, done, asks, desk, call };
}

verifies('EXT-17', 'a login is asked for once in fifteen minutes, and again after a login', async () => {
  const { clock, store, done, call } = setUp(true);
  expect(await call()).toBe('The user has logged in to "web". Its tools can be used now.');
  expect(await call()).toContain('Do not ask again now; they can run: plexus login web --account work');
  await clock.advance(15 * 60_000);
  await call();
  await endAsk(store, 'web');
  await call();
  expect(done).toEqual(Array(3).fill('login web work'));
});

verifies('EXT-17', 'where no person can be asked, the model gets the page', async () => {
  const { done, call } = setUp(false);
  expect(await call()).toMatch(/Page: https:\/\/b\/page Command: plexus login web --account work --finish URL$/);
  expect(done).toEqual(['begin web work']);
});

test('a page that could not be made does not count', async () => {
  const { asks, desk } = setUp(false);
  const failure = new RuntimeError('LOGIN_UNAVAILABLE', { server: 'web', address: 'https://b', reason: 'it is down' });
  const { begin } = desk;
  Object.assign(desk, { begin: () => Promise.reject(failure) });
  await expect(asks.ask('web', new AbortController().signal)).rejects.toBe(failure);
  Object.assign(desk, { begin });
  expect(await asks.ask('web', new AbortController().signal)).toMatchObject({ kind: 'link' });
});

test('only servers wait that a login helps', () => {
  expect(setUp(true).asks.waiting()).toEqual(['web']);
  const off = new RuntimeError('AUTH_REQUIRED', { server: 'web', isLoginOff: true });
  expect(setUp(true, off).asks.waiting()).toEqual([]);
});

test('the name of the tool has a hash where it is taken', () => {
  expect(authenticateName('web', () => false)).toBe('mcp__web__authenticate');
  expect(authenticateName('web', () => true)).toMatch(/^mcp__web__authenticate_[0-9a-f]{10}$/);
});
