// Owns walking through the parts of a value, however deep it is and however many it has: without recursion, and with pauses.

import { keysOf } from './many-keys.ts';
import { PART_UNITS, type Slices } from './slices.ts';

/** Called with every text, object and list. `false` leaves the parts of it out; a thrown error ends the walk. */
export type OnPart = (part: string | object, level: number) => boolean;

interface Place {
  readonly parts: readonly unknown[] | undefined;
  readonly object: Readonly<Record<string, unknown>>;
  readonly keys: readonly string[];
  next: number;
}

const PARTS_PER_STEP = 4_096;

/** The value itself is at level 1. */
export function* walk(value: unknown, visit: OnPart): Slices<void> {
  const open: Place[] = [];
  const look = (part: unknown) => {
    if (typeof part === 'string') visit(part, open.length + 1);
    else if (typeof part === 'object' && part !== null && visit(part, open.length + 1)) open.push(placeIn(part));
  };
  look(value);
  let parts = 0;
  for (let place = open.at(-1); place !== undefined; place = open.at(-1)) {
    const { parts: list, object, keys } = place;
    const count = list?.length ?? keys.length;
    // On through the texts and numbers of one list or object, until something within it is opened.
    for (const depth = open.length; place.next < count && open.length === depth; parts++) {
      const at = place.next++;
      look(list === undefined ? object[keys[at] as string] : list[at]);
      if (parts % PARTS_PER_STEP === PARTS_PER_STEP - 1) yield PARTS_PER_STEP * PART_UNITS;
    }
    if (place.next === count && open.at(-1) === place) open.pop();
  }
}

const NO_KEYS: readonly string[] = [];

function placeIn(part: object): Place {
  const parts = Array.isArray(part) ? (part as readonly unknown[]) : undefined;
  return { parts, object: part as Place['object'], keys: parts === undefined ? keysOf(part) : NO_KEYS, next: 0 };
}
