// Owns the tests that need the real frameworks: skipped with the reason where they could not be installed.

import { describe, inject, test } from 'vitest';

const found = inject('frameworks');
const reason = 'missing' in found ? found.missing : undefined;

/** For frameworks that declare Node 22; empty where they are missing, and then no test asks for it. */
export const newerNode = 'newerNode' in found ? found.newerNode : '';

export function describeInstalled(name: string, tests: () => void | Promise<void>): void {
  describe(name, reason === undefined ? tests : () => test.skip(`NOT RUN: ${reason}`));
}
