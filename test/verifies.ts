// Owns how a test names the promises it proves. `requirements.test.ts` reads these calls without running them.

import { type TestOptions, test } from 'vitest';
import type { RequirementId } from './requirements.ts';

/** No way to skip a test or to expect its failure: a promise that is not checked is not verified. */
export type VerifyOptions = Pick<TestOptions, 'timeout' | 'concurrent' | 'repeats'>;

/** Write `id` as a literal, or as an array of literals: the static test counts what it can read. */
export function verifies(
  id: RequirementId | readonly RequirementId[],
  behaviour: string,
  run: () => void | Promise<void>,
  options: VerifyOptions = {},
): void {
  const ids = typeof id === 'string' ? [id] : id;
  test(`[${ids.join(' ')}] ${behaviour}`, options, run);
}
