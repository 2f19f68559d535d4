// Owns what a tool does to the world, and what a query wants to be done: to read, to write or to destroy. A tool that does what is
// wanted ranks a little higher. A tool that destroys ranks below every tool that reads, for a query that only reads.

import type { ToolAnnotations } from '../../model/tool.ts';
import type { Findable } from './fields.ts';
import { joinPhrases, plainOf } from './phrases.ts';
import { sentencesOf } from './sentences.ts';
import lines from './verbs.json' with { type: 'json' };
import { wordsOf } from './words.ts';

export type Effect = keyof typeof lines;

export interface Wish {
  /** `undefined` if the query does not say, or its sentences disagree. */
  readonly effect: Effect | undefined;
  /** Whether nothing in the query could mean to destroy. */
  readonly onlyReads: boolean;
}

/** How the score of a tool changes that does what is wanted, and of one that reads instead of writing or the other way round. */
const AGREES = 1.1;
const CONFLICTS = 0.85;

/** How many words of a description may precede its verb. */
const WORDS_BEFORE_VERB = 2;
const LONGEST_BEGINNING = 100;

type Verbs = ReadonlyMap<string, Effect>;

/** As they stand in names and at the beginning of descriptions: `delete`, `deletes`. `deleted` is an attribute there. */
const verbs = lazily(() => readVerbs((verb) => [verb, `${verb}s`]));
/** As they stand in sentences: `deleting`, `deleted` as well. */
const forms = lazily(() =>
  readVerbs((verb) => {
    const short = verb.endsWith('e') ? verb.slice(0, -1) : verb;
    return [verb, `${verb}s`, `${short}ed`, `${short}ing`];
  }),
);

/** By its hints and the first verb of its name, otherwise of its description. Of two claims the more dangerous one counts. */
export function effectOf({ name, description, annotations }: Findable): Effect | undefined {
  const beginning = wordsOf(description, LONGEST_BEGINNING).slice(0, WORDS_BEFORE_VERB + 1);
  const effect = firstEffect(wordsOf(name)) ?? firstEffect(beginning);
  return hintedEffect(annotations, effect);
}

function hintedEffect(hints: ToolAnnotations | undefined, effect: Effect | undefined): Effect | undefined {
  if (hints?.destructiveHint === true || effect === 'destroys') return 'destroys';
  return hints?.readOnlyHint === true ? 'reads' : effect;
}

/** A question about facts; "where can I cancel it?" asks for something to be done. */
const asks =
  /^\s*(?:please\s+)?(?:what|which|who|whom|whose|when|where|why|how (?:many|much|long|far|big|old|often|is|are|was|did|does|has)|is|are|was|were|did|does|do i|has|have|am i)\b/i;
const requests = /\b(?:can|could|should|shall|may|might|would|do) (?:i|we|you)\b/i;

export function wishOf(query: string, maxChars: number): Wish {
  const wishes = sentencesOf(query.slice(0, maxChars))
    .map(sentenceWish)
    .filter(({ effect }) => effect !== undefined);
  const effect = wishes[0]?.effect;
  if (wishes.some((each) => each.effect !== effect)) return { effect: undefined, onlyReads: false };
  return { effect, onlyReads: effect === 'reads' && wishes.every(({ onlyReads }) => onlyReads) };
}

function sentenceWish(sentence: string): Wish {
  const effects = joinPhrases(wordsOf(sentence)).flatMap((word) => forms().get(plainOf(word)) ?? []);
  const change = effects.find((each) => each !== 'reads');
  if (!asks.test(sentence)) return { effect: effects[0], onlyReads: effects[0] === 'reads' && change === undefined };
  if (change !== undefined && requests.test(sentence)) return { effect: change, onlyReads: false };
  return { effect: 'reads', onlyReads: !effects.includes('destroys') };
}

/** Changes the scores, one a slot, in place. A tool that the query calls by its name keeps its place. */
export function lean(
  scores: Float32Array,
  { effect: wanted, onlyReads }: Wish,
  effectAt: (slot: number) => Effect | undefined,
  named: readonly number[],
): void {
  if (wanted === undefined) return;
  let leastReading = Number.POSITIVE_INFINITY;
  let mostDestroying = 0;
  const destroying: number[] = [];
  for (let slot = 0; slot < scores.length; slot++) {
    const effect = scores[slot] === 0 ? undefined : effectAt(slot);
    if (effect === undefined || named.includes(slot)) continue;
    // Rounded as the table rounds it: two scores that become equal there must be seen as equal here.
    const score = Math.fround((scores[slot] ?? 0) * factor(wanted, effect));
    scores[slot] = score;
    if (effect === 'reads') leastReading = Math.min(leastReading, score);
    if (effect === 'destroys') {
      destroying.push(slot);
      mostDestroying = Math.max(mostDestroying, score);
    }
  }
  if (!onlyReads || mostDestroying < leastReading) return;
  // Half of the least, so that rounding cannot make them equal; their own order stays.
  for (const slot of destroying) scores[slot] = (((scores[slot] ?? 0) / mostDestroying) * leastReading) / 2;
}

function factor(wanted: Effect, effect: Effect): number {
  if (wanted === effect) return AGREES;
  return wanted === 'reads' || effect === 'reads' ? CONFLICTS : 1;
}

function firstEffect(words: readonly string[]): Effect | undefined {
  for (const word of words) {
    const effect = verbs().get(word);
    if (effect !== undefined) return effect;
  }
  return undefined;
}

/** Read at the first use: a process that never searches does not pay for it. */
function lazily(read: () => Verbs): () => Verbs {
  let table: Verbs | undefined;
  return () => {
    table ??= read();
    return table;
  };
}

function readVerbs(formsOf: (verb: string) => readonly string[]): Verbs {
  const effects = Object.keys(lines) as readonly Effect[];
  return new Map(
    effects.flatMap((effect) =>
      lines[effect].flatMap((line) => line.split(' ').flatMap(formsOf)).map((form) => [form, effect] as const),
    ),
  );
}
