// Owns long work that lets the event loop run in between: work is a generator that says how much it has done since its last pause,
// so one algorithm serves callers that wait for it and callers that need the answer at once.

import type { Cancellation } from './cancellation.ts';

/**
 * Yields the units of work done since the last yield, about one for a character that is searched. The work may be dropped at any
 * yield, so it must leave nothing half done that others can see.
 */
export type Slices<Value> = Generator<number, Value, void>;

/** The units between two turns of the event loop: some ten milliseconds, whatever the work is. */
export const SLICE_UNITS = 1024 * 1024;

/** No work goes on for longer than this without a yield, so that a slice is never much longer than it should be. */
export const STEP_UNITS = 256 * 1024;

/** A part of a value (an object, a list, a number) costs as much as so many characters. */
export const PART_UNITS = 16;

export function atOnce<Value>(work: Slices<Value>): Value {
  for (let step = work.next(); ; step = work.next()) if (step.done) return step.value;
}

/** Begins at once. Rejects with the reason when it finds itself cancelled after a pause. */
export async function inSlices<Value>(work: Slices<Value>, cancellation?: Cancellation): Promise<Value> {
  let units = 0;
  for (let step = work.next(); ; step = work.next()) {
    if (step.done) return step.value;
    units += step.value;
    if (units < SLICE_UNITS) continue;
    units = 0;
    await nextTurn();
    if (cancellation?.cancelled) throw cancellation.reason;
  }
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
