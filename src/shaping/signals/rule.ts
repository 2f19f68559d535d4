// Owns what a rule for signals is. What is looked for is the shape of an order – a verb, what it acts on, whom it addresses –
// and never the wording of one known attack. `words.ts` has the kinds of words, `phrases.ts` says how a phrase is written.
// The smallest words of the language (the, to, this) are left to `before`, `written` and `after`: they stand everywhere, and
// a phrase that waits for them costs time in every text.

import type { Surface } from './finding.ts';

export interface Rule {
  readonly name: string;
  readonly phrases: readonly string[];
  /** Counts only where it begins a clause: who reports that others ignore instructions does not order it. */
  readonly isOrder?: true;
  /** What the text must be like just before the phrase and just behind it; both sticky. */
  readonly before?: RegExp;
  readonly after?: RegExp;
  /** What the phrase itself must be like, from its first word to its last. */
  readonly written?: RegExp;
  /** Where it counts; everywhere, unless said. */
  readonly on?: readonly Surface[];
}

export const descriptions: readonly Surface[] = ['tool_description', 'prompt', 'instructions'];
export const outputs: readonly Surface[] = ['tool_output'];

/** The beginning of a line, a string, a comment or a sentence, whatever opens it. */
export const atStart = /(?<=(?:^|[\n\r"'`\]}*-]|(?<![->])>|\\[nr]|[.!?:] |\s{4})[[<(#*\s-]{0,8})/y;
/** A request of its own: lists and quotes of sample requests are ordinary. */
export const onItsOwn = /(?<=(?:^|[\n\r]|\\[nr]|[.!?:]\s|":\s?"|\s{4})\s{0,4})/y;
