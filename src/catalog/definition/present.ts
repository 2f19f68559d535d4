// Owns how a definition is shown to a model: in keywords that its provider accepts, without hidden characters, within limits.
// Calls are validated against the definition that the server sent, not against this one.

import { cleanText } from '../../kernel/clean-text.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../model/limits.ts';
import type { ObjectSchema, ToolDefinition } from '../../model/tool.ts';
import { canonicalAgain } from './canonical.ts';
import { cutBytes } from './cut-bytes.ts';
import { type Dialect, dialects, type Provider } from './providers.ts';
import { reduceSchema } from './reduce.ts';
import { Remarks } from './remarks.ts';
import { hiddenIn, readSchema } from './schema.ts';

export interface Presented {
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  /** The reductions and their reasons, as sentences for a person. */
  readonly changes: readonly string[];
}

/** Definitions are frozen, so each is read once per provider, however often it is shown. */
const presentedBefore = new WeakMap<ToolDefinition, Partial<Record<keyof typeof dialects, Presented>>>();

/** Without a provider: what Anthropic and OpenAI accept. For an unknown one: what all providers accept. */
export function present(definition: ToolDefinition, named?: Provider): Presented {
  const provider = named === undefined ? 'unnamed' : Object.hasOwn(dialects, named) ? named : 'any';
  let byProvider = presentedBefore.get(definition);
  if (byProvider === undefined) {
    byProvider = {};
    presentedBefore.set(definition, byProvider);
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
    // Its root was checked, or made an object.
    inputSchema: canonicalAgain(reduced) as ObjectSchema,
    changes: Object.freeze(remarks.list()),
  });
}

/** References can make a small schema grow without end: then fewer levels of them are followed, in every part alike. */
function readAsDeep(inputSchema: JsonObject, dialect: Dialect): { schema: JsonObject; remarks: Remarks } {
  for (const nesting of limits.shownSchema.nesting) {
    const remarks = new Remarks();
    const { schema, overgrown } = readSchema(inputSchema, dialect, remarks, nesting);
    if (!overgrown || nesting === limits.shownSchema.nesting.at(-1)) return { schema, remarks };
  }
  return { schema: { type: 'object' }, remarks: new Remarks() };
}
