// Owns what the adapters promise about their speed, in the form of `../promises.mjs`.

import { frameworks } from './measures.mjs';

export const promises = Object.entries(frameworks).flatMap(([name, { wall, rate }]) => [
  { row: `${name}.call`, atMost: 15 },
  { row: `${name}.start`, atMost: 5 },
  { row: `${name}.import`, atMost: 10 },
  ...(wall === undefined
    ? []
    : [
        { row: `${name}.ten-wall`, against: name, atMost: wall },
        { row: `${name}.ten-cpu`, against: name, atMost: 0.7 },
        { row: `${name}.parallel`, against: name, atLeast: rate },
        // Usable at once, and not when the stalled server answers.
        { row: `${name}.stalled`, against: name, atMost: 0.5 },
      ]),
]);
