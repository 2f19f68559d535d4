// Owns cutting a text that is too long for the model: head and tail stay, and a notice says what is missing.

import type { Truncation } from '../model/tool.ts';

export interface Cut {
  readonly text: string;
  readonly truncated?: Truncation;
}

/** Most of what a reader needs stands at the beginning; errors and sums often stand at the end. */
const HEAD_SHARE = 0.75;

export function truncate(text: string, maxChars: number): Cut {
  if (text.length <= maxChars) return { text };
  const head = withoutHalfPair(text.slice(0, Math.ceil(maxChars * HEAD_SHARE)));
  const tail = withoutHalfPair(text.slice(text.length - Math.floor(maxChars * (1 - HEAD_SHARE))));
  const keptChars = head.length + tail.length;
  // Plain ASCII: one wider character would make two bytes of every character around it.
  const notice = `[... ${text.length - keptChars} of ${text.length} characters left out ...]`;
  return { text: `${head}\n${notice}\n${tail}`, truncated: { totalChars: text.length, keptChars } };
}

/** A character outside the basic plane is two code units; half of one is not a character. */
function withoutHalfPair(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, '').replace(/^[\uDC00-\uDFFF]/, '');
}
