// Owns the proof of how a step of a call's progress reads.

import { expect, test } from 'vitest';
import { stepText } from '../../../../src/cli/render/progress.ts';

test.each([
  [{ progress: 1, total: 4, message: 'copying' }, '1/4 (25 %) copying'],
  [{ progress: 3 }, 'step 3'],
  [{ progress: 0.1 + 0.2, total: 1 }, '0.3/1 (30 %)'],
  [{ progress: 9, total: 4 }, '9/4 (100 %)'],
  [{ progress: 1, total: 0, message: ' begins ' }, '1/0 begins'],
])('%j is %j', (step, text) => expect(stepText(step)).toBe(text));
