// Owns parsing a search query: which of its words count, how much, which words of tools match them, and which of its
// sentences are scored on their own.

import { latePattern } from '../../kernel/late-pattern.ts';
import { limits } from '../../model/limits.ts';
import { expansions, NEAR } from './expansions.ts';
import { faintWords, fillers } from './fillers.ts';
import { isHinted, joinPhrases, plainOf } from './phrases.ts';
import type { Posting, Postings } from './postings.ts';
import { sentencesOf } from './sentences.ts';
import { takeShapes } from './shapes.ts';
import { stem } from './stem.ts';
import { wordsOf } from './words.ts';

interface TermMatch {
  readonly posting: Posting;
  readonly worth: number;
  /** Another word of the same meaning, also in another language. */
  readonly isSynonym: boolean;
}

/** One word of the query and every word of tools that matches it. */
export interface QueryTerm {
  /** 1, or less for a word that says little. */
  readonly weight: number;
  /** The word itself first, then less similar ones. */
  readonly matches: readonly TermMatch[];
  /** The numbers of the sentences that contain the word. */
  readonly sentences: readonly number[];
}

export interface ParsedQuery {
  readonly terms: readonly QueryTerm[];
  /** How many sentences are scored on their own; each may ask for another tool. */
  readonly sentences: number;
}

const FAINT = 0.3;
const SIMILAR = 0.5;
/** For a word that no tool uses, its expansions count this much more. */
const TRANSLATED = 1.5;
/** A sentence with fewer matched words is not scored on its own. */
const WORDS_OF_A_SENTENCE = 2;

export function parseQuery(text: string, postings: Postings): ParsedQuery {
  const shaped = takeShapes(text.slice(0, limits.ranking.queryChars));
  const sentences = sentencesOf(shaped.text).slice(0, limits.ranking.queryParts);
  const places = placesOf(sentences, (word) => !fillers.has(word));
  const words = places.size > 0 ? places : placesOf(sentences, () => true);
  const terms = [...words].map(([stemmed, place]) => ({
    ...readTerm(place.word, stemmed, postings),
    sentences: [...place.sentences],
  }));
  const parameters = shaped.parameters
    .filter((word) => !words.has(stem(word)))
    .map((word) => ({ ...readTerm(word, stem(word), postings, FAINT), sentences: [] }));
  return renumber([...terms, ...parameters].filter(({ matches }) => matches.length > 0));
}

/** The words of the query that no tool uses, neither as written nor in an expansion or a similar spelling. */
export function unknownWords(text: string, postings: Postings): readonly string[] {
  const words = new Set(wordsOf(text, limits.ranking.queryChars).filter((word) => !fillers.has(word)));
  return [...words].filter((word) => readTerm(word, stem(word), postings).matches.length === 0);
}

interface TermPlace {
  /** The first spelling of the stem in the query. */
  readonly word: string;
  readonly sentences: Set<number>;
}

/** By stem. */
function placesOf(sentences: readonly string[], counts: (word: string) => boolean): ReadonlyMap<string, TermPlace> {
  const places = new Map<string, TermPlace>();
  sentences.forEach((sentence, number) => {
    for (const word of joinPhrases(wordsOf(sentence, limits.ranking.queryChars))) {
      if (!counts(word)) continue;
      const stemmed = stem(plainOf(word));
      const place = places.get(stemmed);
      if (place) place.sentences.add(number);
      else if (places.size < limits.ranking.queryWords) places.set(stemmed, { word, sentences: new Set([number]) });
    }
  });
  return places;
}

function readTerm(
  word: string,
  stemmed: string,
  postings: Postings,
  weight = isFaint(word) ? FAINT : 1,
): Pick<QueryTerm, 'weight' | 'matches'> {
  const meanings = expansions().get(stemmed) ?? [];
  // If no tool uses the word itself, its expansions are the likeliest meaning.
  const trust = postings.get(stemmed) === undefined ? TRANSLATED : 1;
  const matches = [[stemmed, 1] as const, ...meanings].flatMap(([each, worth]) => {
    const posting = postings.get(each);
    const isSynonym = worth >= NEAR && worth < 1;
    return posting ? [{ posting, worth: Math.min(1, worth * trust) * weight, isSynonym }] : [];
  });
  // A word that the tables know is no misspelling of another.
  if (matches.length > 0 || meanings.length > 0) return { weight, matches };
  return {
    weight,
    matches: postings.similar(stemmed).map((posting) => ({ posting, worth: SIMILAR * weight, isSynonym: false })),
  };
}

const digits = latePattern(String.raw`^\p{N}+$`, 'u');
const isFaint = (word: string) => isHinted(word) || faintWords.has(word) || digits().test(word) || /^[a-z]$/.test(word);

/** Drops the sentences with too few words, and all of them if only one is left. */
function renumber(terms: readonly QueryTerm[]): ParsedQuery {
  const counts = new Map<number, number>();
  for (const { sentences } of terms)
    for (const sentence of sentences) counts.set(sentence, (counts.get(sentence) ?? 0) + 1);
  const kept = [...counts].filter(([, words]) => words >= WORDS_OF_A_SENTENCE).map(([sentence]) => sentence);
  if (kept.length < 2) return { terms: terms.map((each) => ({ ...each, sentences: [] })), sentences: 0 };
  const numbers = new Map(kept.map((sentence, number) => [sentence, number]));
  return {
    terms: terms.map((each) => ({
      ...each,
      sentences: each.sentences.flatMap((sentence) => numbers.get(sentence) ?? []),
    })),
    sentences: kept.length,
  };
}
