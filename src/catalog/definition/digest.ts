// Owns recognizing what is the same as before, whoever sent it and whenever: a definition, and what a model reads of a tool.

import { hash } from 'node:crypto';
import type { Tool, ToolDefinition } from '../../model/tool.ts';

/** Definitions are frozen, their keys in order: each is written out once, however often the catalog changes around it. */
export const digestOf: (definition: ToolDefinition) => string = once((definition) => JSON.stringify(definition));

/** Of every byte that a model reads of it, and of nothing else: what only calls and people see is no news for a model. */
export const shownDigest: (tool: Tool) => string = once(({ name, description, inputSchema }) =>
  JSON.stringify([name, description, inputSchema]),
);

function once<Value extends object>(spell: (value: Value) => string): (value: Value) => string {
  const digests = new WeakMap<Value, string>();
  return (value) => {
    const known = digests.get(value);
    if (known !== undefined) return known;
    const digest = hash('sha256', spell(value), 'base64');
    digests.set(value, digest);
    return digest;
  };
}
