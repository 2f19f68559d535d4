// Owns what the model gets to read: text, cut, wrapped. Acts on the way back.

import type { ServerName } from '../model/names.ts';
import type { ToolOutcome } from '../model/tool.ts';
import { createNonce, wrap } from '../shaping/boundary.ts';
import { extractText } from '../shaping/text.ts';
import { truncate } from '../shaping/truncate.ts';
import type { Stage } from './pipeline.ts';

/** Order is meaning: the cut comes before the wrap, so that the closing mark is never lost. */
export function shape(maxChars: (server: ServerName) => number): Stage {
  return (next) => async (call) => shaped(await next(call), maxChars);
}

function shaped(outcome: ToolOutcome, maxChars: (server: ServerName) => number): ToolOutcome {
  const { text, attachments } = extractText(outcome.content, outcome.structured);
  const cut = truncate(text, maxChars(outcome.meta.server));
  return {
    ...outcome,
    text: wrap(cut.text, outcome.meta, createNonce()),
    attachments,
    ...(cut.truncated && { truncated: cut.truncated }),
  };
}
