// Owns the proof that a server's time ends with its first list, or with its first failure.

import { expect, test } from 'vitest';
import { createConnectTimes } from '../../../src/cli/connect-times.ts';
import type { RuntimeEvent } from '../../../src/events.ts';

type Changed = Extract<RuntimeEvent, { type: 'connection.changed' }>;

test('a server takes as long as until its first list, or its first failure', () => {
  let now = 100;
  const { onEvent, tookMs, dataOf } = createConnectTimes(() => now);
  const changed = (server: string, to: Changed['to'], cause?: Changed['cause']) =>
    onEvent({ type: 'connection.changed', server, label: '', from: 'idle', to, ...(cause && { cause }) });
  const cause = { code: 'CONNECTION_LOST', message: '', remedy: 'retry-later' } as const;
  changed('a', 'connecting');
  changed('b', 'connecting');
  now = 150;
  changed('b', 'waiting', cause);
  changed('a', 'ready');
  expect(tookMs('a'), 'it has not listed its tools yet').toBe(undefined);
  now = 220;
  onEvent({ type: 'connection.listed', server: 'a', toolCount: 1 });
  changed('b', 'connecting');
  now = 900;
  changed('b', 'waiting', cause);
  expect([tookMs('a'), tookMs('b'), dataOf('a'), dataOf('c')]).toEqual([120, 50, { tookMs: 120 }, {}]);
});
