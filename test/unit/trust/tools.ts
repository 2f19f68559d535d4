// Owns a tool that tests start from, frozen as in the catalog, and hostile tools of any size.

import { checkDefinition } from '../../../src/catalog/definition/check.ts';
import type { ToolDefinition } from '../../../src/model/tool.ts';

export const readFile = {
  name: 'read_file',
  title: 'Read a file',
  description: 'Reads a file of the project and gives its text.',
  inputSchema: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Where it lies.' },
      lines: { type: 'integer', minimum: 1 },
    },
    required: ['path'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true },
};

/** As a catalog would hand it on. */
export function tool(change: object = {}): ToolDefinition {
  const checked = checkDefinition(structuredClone({ ...readFile, ...change }));
  if (typeof checked === 'string') throw new TypeError(checked);
  return checked;
}

export const nested = (depth: number): object =>
  depth === 0 ? { type: 'string' } : { type: 'object', properties: { a: nested(depth - 1) } };

export const wide = (count: number): object =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`p${at}`, { type: 'string', description: 'x'.repeat(500) }]),
  );
