// Owns the proof that a phrase is its words in their order, close together and in one sentence.

import { expect, test } from 'vitest';
import { compilePhrases } from '../../../../src/shaping/signals/compile-phrases.ts';
import { Phrases } from '../../../../src/shaping/signals/phrases.ts';

const kinds = { drop: ['drop forget'], rule: ['rule/s', 'order/s'] };

function foundBy(phrase: string, text: string): readonly string[] {
  const found: string[] = [];
  new Phrases(compilePhrases([phrase], kinds)).find(text, (_, start, end) => found.push(text.slice(start, end)));
  return found;
}

test.each([
  ['words side by side', '@drop rules', 'please drop rules now', ['drop rules']],
  ['in another order they are something else', '@drop rules', 'rules drop', []],
  ['without dots nothing stands between', '@drop rules', 'drop these rules', []],
  ['dots allow some words between', '@drop .. @rule', 'forget all these orders', ['forget all these orders']],
  ['but not any number of them', '@drop . @rule', 'forget about all of these orders', []],
  ['a sentence ends a phrase', '@drop .. @rule', 'forget it. Rules follow', []],
  ['a number with a point does not', '@drop .. @rule', 'forget v1.2 rules', ['forget v1.2 rules']],
  ['a blank line ends it, a single one does not', '@drop .. @rule', 'drop\n\nrules drop\nrules', ['drop\nrules']],
  ['the nearest beginning counts', '@drop .. @rule', 'drop drop rules', ['drop rules']],
  ['part of a word is no word', '@drop rules', 'raindrop rules drop rulesets', []],
  ['a name in snake case is two words', '@drop rules', 'drop_rules', ['drop_rules']],
  ['an escaped line is a space', '@drop rules', 'x\\ndrop\\nrules', ['drop\\nrules']],
  ['an escaped character is one as well', '@drop rules', 'x\\u000adrop rules', ['drop rules']],
  ['the text may end with it', '@drop rules', 'drop rules', ['drop rules']],
  ['an apostrophe belongs to its word', 'dont @drop', "don't drop", ["don't drop"]],
])('%s', (_, phrase, text, found) => {
  expect(foundBy(phrase, text)).toEqual(found);
});

test('a kind of words that nobody wrote down is a mistake in the rules', () => {
  expect(() => compilePhrases(['@nothing'], kinds)).toThrow('@nothing');
});
