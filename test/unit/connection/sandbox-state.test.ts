// Owns the proof that servers which declare the capability, and only those, are told the sandbox state, in the way they ask for.

import { expect } from 'vitest';
import { SandboxNotifier, type SandboxState } from '../../../src/connection/sandbox-state.ts';
import type { Session } from '../../../src/connection/session.ts';
import { verifies } from '../../verifies.ts';
import { createFakeSession } from '../session.ts';

const state: SandboxState = {
  sandboxPolicy: { type: 'workspace-write', writable_roots: ['/work'], network_access: false },
  sandboxCwd: '/work',
};
const stricter: SandboxState = { sandboxPolicy: { type: 'read-only' }, sandboxCwd: '/work' };

const sessionWith = (...abilities: string[]) =>
  createFakeSession({ capabilities: { experimental: Object.fromEntries(abilities.map((each) => [each, {}])) } });
const told = (session: Session) => ({ session, openAnew: () => undefined });
const update = (params: SandboxState) => ({ method: 'codex/sandbox-state/update', params });

verifies('RES-11', 'a server that listens for it is told of every change; one that does not is told nothing', () => {
  const news = new SandboxNotifier();
  const [listening, deaf, bare] = [
    sessionWith('codex/sandbox-state'),
    sessionWith('codex/sandbox-state-meta', 'other'),
    createFakeSession(),
  ];
  for (const each of [state, stricter]) news.announce(each, [listening, deaf, bare].map(told));
  expect([listening.asked, deaf.asked, bare.asked]).toEqual([[update(state), update(stricter)], [], []]);
});

verifies('RES-11', 'a server that comes up later gets the latest state, and nothing before one was announced', () => {
  const news = new SandboxNotifier();
  const early = sessionWith('codex/sandbox-state');
  news.tell(early);
  expect(early.asked).toEqual([]);
  news.announce(state, []);
  news.announce(stricter, []);
  const late = sessionWith('codex/sandbox-state');
  news.tell(late);
  expect(late.asked).toEqual([update(stricter)]);
});

verifies('RES-11', 'a server that wants it with its calls gets it there', () => {
  const news = new SandboxNotifier();
  const reading = sessionWith('codex/sandbox-state-meta');
  expect(news.metaFor(reading)).toBeUndefined();
  news.announce(state, [told(reading)]);
  expect(news.metaFor(reading)).toEqual({ 'codex/sandbox-state-meta': state });
  expect(news.metaFor(sessionWith('codex/sandbox-state'))).toBeUndefined();
  expect(news.metaFor(createFakeSession({ capabilities: { experimental: 'odd' } }))).toBeUndefined();
});

verifies('RES-11', 'a server that others use as well is opened anew: it would take our word for theirs', () => {
  const news = new SandboxNotifier();
  const reopened: string[] = [];
  const shared = (name: string, ability: string) => ({
    session: { ...sessionWith(ability), isShared: () => true },
    openAnew: () => void reopened.push(name),
  });
  const [told, untold] = [shared('told', 'codex/sandbox-state'), shared('untold', 'codex/sandbox-state-meta')];
  news.announce(state, [told, untold]);
  expect([reopened, told.session.asked]).toEqual([['told'], []]);
});

verifies(['TRU-02', 'RES-11'], 'a server that nobody approved is told nothing, and is not opened anew for it', () => {
  const news = new SandboxNotifier();
  const reopened: string[] = [];
  const abilities = ['codex/sandbox-state', 'codex/sandbox-state-meta'];
  const session = { ...sessionWith(...abilities), isShared: () => true };
  news.exclude(session);
  news.announce(state, [{ session, openAnew: () => void reopened.push('it') }]);
  news.tell(session);
  expect([session.asked, news.metaFor(session), reopened]).toEqual([[], undefined, []]);
});
