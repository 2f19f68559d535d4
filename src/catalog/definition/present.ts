// Owns what a model is shown of a definition: readable by its provider, free of hidden characters, within the limits.
// It guides the model and judges nothing: calls are validated against the definition as it was sent.

import { cleanText } from '../../kernel/clean-text.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../model/limits.ts';
import type { ToolDefinition } from '../../model/tool.ts';
import { canonicalAgain } from './canonical.ts';
import { cutBytes } from './cut-bytes.ts';
import { type Dialect, dialects, type Provider } from './providers.ts';
import { reduceSchema } from './reduce.ts';
import { Remarks } from './remarks.ts';
import { hiddenIn, readSchema } from './schema.ts';

export interface Presented {
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** What was reduced and why, in words for a person. */
  readonly changes: readonly string[];
}

/** Definitions are frozen: each is read once for a provider, however often it is shown. */
const known = new WeakMap<ToolDefinition, Partial<Record<Provider, Presented>>>();

/** Of a provider that is not known here nothing is known: it is shown what all accept. */
export function present(definition: ToolDefinition, named: Provider): Presented {
  const provider = Object.hasOwn(dialects, named) ? named : 'any';
  let byProvider = known.get(definition);
  if (byProvider === undefined) {
    byProvider = {};
    known.set(definition, byProvider);
  }
  byProvider[provider] ??= presentAnew(definition, dialects[provider]);
  return byProvider[provider];
}

function presentAnew({ description = '', inputSchema }: ToolDefinition, dialect: Dialect): Presented {
  const { schema, remarks } = readAsDeep(inputSchema, dialect);
  const { text, found } = cleanText(description);
  for (const kind of found) remarks.sayOf(kind, hiddenIn);
  const shown = cutBytes(text, limits.descriptionBytes);
  if (shown !== text) remarks.say(`its description is cut to ${limits.descriptionBytes} bytes`);
  const reduced = reduceSchema(schema, { bytes: limits.schemaBytes, needsItems: dialect.needsItems }, remarks);
  return Object.freeze({
    description: shown,
    inputSchema: canonicalAgain(reduced),
    changes: Object.freeze(remarks.list()),
  });
}

/** References can make a small schema grow without end: then fewer of them are followed, in every part alike. */
function readAsDeep(inputSchema: JsonObject, dialect: Dialect): { schema: JsonObject; remarks: Remarks } {
  for (const nesting of limits.shownSchema.nesting) {
    const remarks = new Remarks();
    const { schema, overgrown } = readSchema(inputSchema, dialect, remarks, nesting);
    if (!overgrown || nesting === limits.shownSchema.nesting.at(-1)) return { schema, remarks };
  }
  return { schema: { type: 'object' }, remarks: new Remarks() };
}
