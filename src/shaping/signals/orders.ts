// Owns finding the phrases of the signal rules in a text, and judging each by the text around it: an order begins its clause, and
// a phrase that fills its quotes is only mentioned.

import { once } from '../../kernel/once.ts';
import compiled from './compiled.json' with { type: 'json' };
import { Phrases } from './phrases.ts';
import { readRules, type SignalRule } from './rules.ts';
import type { SignalMatches, Surface } from './signal-matches.ts';

/** Behind a mark, a wide gap, a word that leads to a verb, or a character of a script without spaces. */
const clauseBegins =
  /(?<=(?:^|[\n\r"'`*>\])}#\u2010-\u206f\u2190-\u2bff\u3000-\udfff\uff00-\uff1f]|[.!?:;,]\s|-\s|\s{4}|\\[nrt]|\b(?:please|and|then|now|just|simply|so|also|must|immediately|completely|kindly|first|instead|you (?:should|will|can|need to|have to|are to))\s)\s{0,4})/iy;
/** `read_file` and `post-mortem` are names, not verbs. */
const verb = /[^\s_()./-]{1,40}[\s,:*\\]/y;
/** The quote that begins a JSON value is no quotation. */
const quoteBegins = /(?<=(?:[“‘'`]|(?<![:,[{(]\s?)")\*?)/y;
const quoteEnds = /[\w *.!…,-]{0,24}["'`”’]/y;

/** Read when the first text is searched. */
const prepared = once(() => ({
  phrases: new Phrases(compiled.phrases),
  ruleOf: readRules().flatMap((rule) => Array.from({ length: rule.phraseCount }, () => rule)),
}));

/** Returns whether any character of the text is wider than a byte: only then the searches for other scripts need to run. */
export function findOrders(text: string, surface: Surface, matches: SignalMatches): boolean {
  const { phrases, ruleOf } = prepared();
  return phrases.find(text, (phrase, start, end) => {
    const rule = ruleOf[phrase] as SignalRule;
    if (matches.isFull(rule.name) || (rule.on && !rule.on.includes(surface))) return;
    if (applies(rule, text, start, end)) matches.add(rule.name, start, end);
  });
}

function applies({ isOrder, before, written, after }: SignalRule, text: string, start: number, end: number): boolean {
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
