// Owns the proof that only a person’s approval of this very definition lets a workspace’s server start.

import { describe, expect, test } from 'vitest';
import { createMemoryStore } from '../../../src/kernel/store.ts';
import type { Scope, ServerDefinition } from '../../../src/model/server.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { createGate } from '../../../src/trust/gate.ts';
import { verifies } from '../../verifies.ts';
import { defined, stdio } from './definition.ts';

function createTestGate() {
  const clock = createFakeClock(Date.UTC(2026, 0, 2));
  const store = createMemoryStore(clock);
  const gate = createGate({
    store,
    clock,
    isWorkspaceScope: (scope: Scope) => scope === 'project',
    fingerprint: async ({ launch }: ServerDefinition) => JSON.stringify(launch),
  });
  return { gate, store };
}

const changed = defined({ ...stdio, args: ['other.js'] });

describe('the gate', () => {
  verifies('TRU-01', 'asks before a process from the workspace, and lets the person’s own start', async () => {
    const { gate } = createTestGate();
    expect(await gate.judge(defined())).toBe('asks');
    for (const scope of ['user', 'host', 'enterprise'] as const) {
      expect(await gate.judge(defined(stdio, scope))).toBe('trusted');
    }
  });

  verifies('TRU-02', 'lets a remote server of the workspace connect, for it starts nothing here', async () => {
    const { gate } = createTestGate();
    expect(await gate.judge(defined({ kind: 'auto', url: 'https://a.example', headers: {} }))).toBe('trusted');
    expect(await gate.judge(defined({ kind: 'in-process', serve: () => undefined }))).toBe('trusted');
  });

  verifies(['TRU-01', 'EXT-04'], 'remembers an approval of exactly what was approved', async () => {
    const { gate } = createTestGate();
    await gate.approve(defined());
    expect(await gate.judge(defined())).toBe('trusted');
    expect(await gate.judge(changed)).toBe('asks');
    expect(await gate.judge({ ...defined(), name: 'renamed' })).toBe('asks');
  });

  test('keeps what was approved, once each, newest last', async () => {
    const { gate } = createTestGate();
    for (const definition of [defined(), changed, defined()]) await gate.approve(definition);
    const approval = { name: 'files', file: '/work/.mcp.json', approvedAt: '2026-01-02T00:00:00.000Z' };
    expect(await gate.approvals('files')).toEqual([
      { ...approval, fingerprint: JSON.stringify(changed.launch), commandLine: ['node', 'other.js'] },
      { ...approval, fingerprint: JSON.stringify(stdio), commandLine: ['node', 'server.js'] },
    ]);
  });

  test('loses none of two approvals given at once', async () => {
    const { gate } = createTestGate();
    await Promise.all([gate.approve(defined()), gate.approve(changed)]);
    expect([await gate.judge(defined()), await gate.judge(changed)]).toEqual(['trusted', 'trusted']);
  });

  test('forgets every approval of a name', async () => {
    const { gate } = createTestGate();
    await gate.approve(defined());
    await gate.revoke('files');
    expect(await gate.judge(defined())).toBe('asks');
  });

  test.each(['', 'null', '{}', '[1, {"fingerprint": 5}]', '[{'])('takes %j for no approval', async (remembered) => {
    const { gate, store } = createTestGate();
    await store.set('approvals/files', remembered);
    expect(await gate.judge(defined())).toBe('asks');
    await gate.approve(defined());
    expect(await gate.judge(defined())).toBe('trusted');
  });
});
