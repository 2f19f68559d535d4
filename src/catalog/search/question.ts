// Owns reading a question: which of its words count, how much, what else they may mean, and which of its sentences stand alone.

import { limits } from '../../model/limits.ts';
import { expansions } from './expansions.ts';
import { faintWords, fillers } from './fillers.ts';
import type { Posting, Postings } from './postings.ts';
import { stem } from './stem.ts';
import { eachWord, wordsOf } from './words.ts';

/** One word of the question and everything that answers to it. */
export interface Asked {
  /** 1, or less for a word that says little. */
  readonly weight: number;
  /** The word itself first, then what is less like it. */
  readonly answers: readonly { readonly posting: Posting; readonly worth: number }[];
  /** The sentences that hold it. */
  readonly parts: readonly number[];
}

export interface Question {
  readonly asked: readonly Asked[];
  /** How many sentences ask for something; each may want another tool. */
  readonly parts: number;
}

const FAINT = 0.3;
const SIMILAR = 0.5;
/** How much more its other meanings count for a word that no tool uses. */
const TRANSLATED = 1.5;
/** A sentence with fewer known words only adds to the others. */
const WORDS_OF_A_PART = 2;

const sentenceEnd = /[.!?;]+(?=\s|$)|[\n。！？；]+/;

export function readQuestion(text: string, postings: Postings): Question {
  const cut = text.slice(0, limits.ranking.queryChars);
  const sentences = cut.split(sentenceEnd).slice(0, limits.ranking.queryParts);
  const places = placesOf(sentences, (word) => !fillers.has(word));
  const words = places.size > 0 ? places : placesOf(sentences, () => true);
  const asked = [...words].map(([stemmed, { word, parts }]) => ({
    ...readWord(word, stemmed, postings),
    parts: [...parts],
  }));
  return renumber(asked.filter(({ answers }) => answers.length > 0));
}

/** The words of a question that stand in no tool, neither they nor anything like them. */
export function unknownWords(text: string, postings: Postings): readonly string[] {
  const words = new Set(wordsOf(text, limits.ranking.queryChars).filter((word) => !fillers.has(word)));
  return [...words].filter((word) => readWord(word, stem(word), postings).answers.length === 0);
}

interface Place {
  /** As it was first met. */
  readonly word: string;
  readonly parts: Set<number>;
}

/** By stem, each once. */
function placesOf(sentences: readonly string[], counts: (word: string) => boolean): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  sentences.forEach((sentence, part) => {
    eachWord(sentence, limits.ranking.queryChars, (word) => {
      if (!counts(word)) return;
      const stemmed = stem(word);
      const known = places.get(stemmed);
      if (known) known.parts.add(part);
      else if (places.size < limits.ranking.queryWords) places.set(stemmed, { word, parts: new Set([part]) });
    });
  });
  return places;
}

function readWord(word: string, stemmed: string, postings: Postings): Pick<Asked, 'weight' | 'answers'> {
  const weight = isFaint(word) ? FAINT : 1;
  const meanings = expansions().get(stemmed) ?? [];
  // A word that no tool uses was meant in the words that they do use.
  const trust = postings.get(stemmed) === undefined ? TRANSLATED : 1;
  const answers = [[stemmed, 1] as const, ...meanings].flatMap(([each, worth]) => {
    const posting = postings.get(each);
    return posting ? [{ posting, worth: Math.min(1, worth * trust) * weight }] : [];
  });
  // A word of the language is not a slip of another.
  if (answers.length > 0 || meanings.length > 0) return { weight, answers };
  return { weight, answers: postings.similar(stemmed).map((posting) => ({ posting, worth: SIMILAR * weight })) };
}

const isFaint = (word: string) => faintWords.has(word) || /^\p{N}+$/u.test(word) || /^[a-z]$/.test(word);

/** Leaves out the parts that say too little, and all of them when only one is left. */
function renumber(asked: readonly Asked[]): Question {
  const counts = new Map<number, number>();
  for (const { parts } of asked) for (const part of parts) counts.set(part, (counts.get(part) ?? 0) + 1);
  const telling = [...counts].filter(([, words]) => words >= WORDS_OF_A_PART).map(([part]) => part);
  if (telling.length < 2) return { asked: asked.map((each) => ({ ...each, parts: [] })), parts: 0 };
  const numbers = new Map(telling.map((part, number) => [part, number]));
  return {
    asked: asked.map((each) => ({ ...each, parts: each.parts.flatMap((part) => numbers.get(part) ?? []) })),
    parts: telling.length,
  };
}
