// Owns finding the phrases of the rules, and judging each by what stands around it: an order begins its clause, and a phrase
// that fills its quotes is spoken about.

import type { Findings, Surface } from './finding.ts';
import { Phrases } from './phrases.ts';
import type { Rule } from './rule.ts';
import { rules } from './rules.ts';
import { kinds } from './words.ts';

/** Behind a mark, a wide gap, a word that leads to a verb, or a character that belongs to no alphabet with spaces. */
const clauseBegins =
  /(?<=(?:^|[\n\r"'`*>\])}#\u2010-\u206f\u2190-\u2bff\u3000-\udfff\uff00-\uff1f]|[.!?:;,]\s|-\s|\s{4}|\\[nrt]|\b(?:please|and|then|now|just|simply|so|also|must|immediately|completely|kindly|first|instead|you (?:should|will|can|need to|have to|are to))\s)\s{0,4})/iy;
/** `read_file` and `post-mortem` are names, not verbs. */
const verb = /[^\s_()./-]{1,40}[\s,:*\\]/y;
/** What a value of JSON begins with is no quotation. */
const quoteBegins = /(?<=(?:[“‘'`]|(?<![:,[{(]\s?)")\*?)/y;
const quoteEnds = /[\w *.!…,-]{0,24}["'`”’]/y;

let compiled: { readonly phrases: Phrases; readonly ruleOf: readonly Rule[] } | undefined;

/** Tells whether any character of the text is wider than a byte: what is written in such characters is looked for elsewhere. */
export function findOrders(text: string, surface: Surface, found: Findings): boolean {
  compiled ??= {
    phrases: new Phrases(
      rules.flatMap((rule) => rule.phrases),
      kinds,
    ),
    ruleOf: rules.flatMap((rule) => rule.phrases.map(() => rule)),
  };
  const { phrases, ruleOf } = compiled;
  return phrases.find(text, (phrase, start, end) => {
    const rule = ruleOf[phrase] as Rule;
    if (found.isFull(rule.name) || (rule.on && !rule.on.includes(surface))) return;
    if (counts(rule, text, start, end)) found.add(rule.name, start, end);
  });
}

function counts({ isOrder, before, written, after }: Rule, text: string, start: number, end: number): boolean {
  if (isOrder && !(fits(clauseBegins, text, start) && fits(verb, text, start))) return false;
  if (after && !fits(after, text, end)) return false;
  if (before && !fits(before, text, start)) return false;
  if (written && !written.test(text.slice(start, end))) return false;
  return !(fits(quoteBegins, text, start) && fits(quoteEnds, text, end));
}

function fits(sticky: RegExp, text: string, at: number): boolean {
  sticky.lastIndex = at;
  return sticky.test(text);
}
