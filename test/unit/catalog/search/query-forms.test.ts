// Owns the proof that everyday forms of a query count as what they mean: phrases, arguments by their shape, irregular word forms.

import { expect, test } from 'vitest';
import { joinPhrases } from '../../../../src/catalog/search/phrases.ts';
import { takeShapes } from '../../../../src/catalog/search/shapes.ts';
import { stem } from '../../../../src/catalog/search/stem.ts';

test.each([
  ['get rid of it', 'delete of it'],
  ['turn the big light off please', 'disable the big light please'],
  ['turn the light on and then all of the others off', 'enable the light and then all of the others off'],
  ['how many are there', '~count are there'],
  ['how far is it', 'distance is it'],
  ['how do many', 'how do many'],
  ['', ''],
])('phrases: %s', (text, expected) => expect(joinPhrases(text.split(' ')).join(' ')).toBe(expected));

test.each([
  ['open /home/ann/notes/list.bib', 'open  file bib ', ['path']],
  ['read https://example.com/a?b=c now', 'read   now', ['url']],
  ['write to ann@example.com', 'write to  ', ['email']],
  ['on 2024-05-01, or on the 3rd of May 2024 at 10:30', 'on  , or on the   at  ', ['date', 'time']],
  ['and/or 3/4 of it', 'and/or 3/4 of it', []],
])('arguments by their shape: %s', (query, text, parameters) =>
  expect(takeShapes(query)).toEqual({ text, parameters }),
);

test('an argument of any length costs little', () => {
  const long = `${'a.'.repeat(2_000)}@${'/a'.repeat(2_000)}${'1.'.repeat(2_000)}`;
  expect(takeShapes(long).text.length).toBeLessThan(long.length);
});

test.each([
  ['bought', 'buying'],
  ['written', 'writes'],
  ['children', 'child'],
  ['indices', 'index'],
])('%s and %s are one word', (one, other) => expect(stem(one)).toBe(stem(other)));
