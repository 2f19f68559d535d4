// Owns digests by which equal things are recognized: a definition, and what a model reads of a tool.

import { hash } from 'node:crypto';
import type { Tool, ToolDefinition } from '../../model/tool.ts';

/** Definitions are frozen and their keys sorted: each is serialized once, however often the catalog changes. */
export const digestOf: (definition: ToolDefinition) => string = cached((definition) => JSON.stringify(definition));

/** Covers exactly what a model reads of a tool: a change that only calls or people see is none for a model. */
export const shownDigest: (tool: Tool) => string = cached(({ name, description, inputSchema }) =>
  JSON.stringify([name, description, inputSchema]),
);

function cached<Value extends object>(serialize: (value: Value) => string): (value: Value) => string {
  const digests = new WeakMap<Value, string>();
  return (value) => {
    const before = digests.get(value);
    if (before !== undefined) return before;
    const digest = hash('sha256', serialize(value), 'base64');
    digests.set(value, digest);
    return digest;
  };
}
