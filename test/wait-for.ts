// Owns waiting in tests until an expectation holds. The limit is for a test that hangs, not for a slow machine.

import { vi } from 'vitest';

const HUNG_MS = 45_000;

/** Resolves when `expectation` no longer throws, and fails with its last error otherwise. */
export function waitFor<Value>(expectation: () => Value | Promise<Value>): Promise<Value> {
  return vi.waitFor(expectation, { timeout: HUNG_MS, interval: 5 });
}
