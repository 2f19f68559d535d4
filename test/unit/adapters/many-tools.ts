// Owns tools beside those of a test, so many that the model has to search for them and gets `mcp_call`.

import { createFakeServer } from '../../../src/testing/fake-server.ts';

const description = 'Does one of many things that nobody wants. '.repeat(10);

/** An entry of `servers`. */
export const manyTools = () =>
  createFakeServer(
    Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`other_${n}`, { description, run: () => '' }])),
  ).entry;
