// Owns making work in slices of a plain function, for tests of what is done with it.

import type { Slices } from '../../src/kernel/slices.ts';

export const inOneSlice = (work: (text: string) => string): ((text: string) => Slices<string>) =>
  function* (text) {
    yield text.length;
    return work(text);
  };

/** The units of each step of the work, which is done to its end, and what came of it. */
export function stepsOf<Value>(work: Slices<Value>): { readonly steps: readonly number[]; readonly value: Value } {
  const steps: number[] = [];
  let step = work.next();
  for (; !step.done; step = work.next()) steps.push(step.value);
  return { steps, value: step.value };
}
