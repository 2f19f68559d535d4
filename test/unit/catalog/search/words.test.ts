// Owns the proof that text is split into the words that people search for, whatever it holds.

import { expect, test } from 'vitest';
import { stem } from '../../../../src/catalog/search/stem.ts';
import { wordsOf } from '../../../../src/catalog/search/words.ts';

test.each([
  ['get_file-contents', ['get', 'file', 'contents']],
  ['getHTTPServerURLs', ['get', 'http', 'server', 'urls']],
  ['list2Items of v3.1', ['list', '2', 'items', 'of', 'v', '3', '1']],
  ["the server's users' data, don't", ['the', 'server', 'users', 'data', 'dont']],
  ['it’s', ['it']],
  ['E-mail, an x-ray, get-e-mails', ['email', 'an', 'xray', 'get', 'e', 'mails']],
  ['获取天气 forecast', ['获取', '取天', '天气', 'forecast']],
  ['날씨', ['날씨']],
  ['雨', ['雨']],
  ['Ärger über Öl', ['ärger', 'über', 'öl']],
  ['İstanbul City', ['i̇stanbul', 'city']],
  ['ｆｕｌｌ width', ['full', 'width']],
  ['\ud800 lone \udc00 halves 🚀', ['lone', 'halves']],
  ['__proto__ constructor', ['proto', 'constructor']],
  ['', []],
])('%j is cut into %j', (text, words) => expect(wordsOf(text)).toEqual(words));

test('a text is read no further than allowed, and no word is longer than a word', () => {
  expect(wordsOf('one two three', 7)).toEqual(['one', 'two']);
  expect(wordsOf('x'.repeat(1_000_000))).toEqual(['x'.repeat(40)]);
});

test.each([
  [['file', 'files'], 'file'],
  [['search', 'searches', 'searched', 'searching'], 'search'],
  [['create', 'creates', 'created', 'creating'], 'creat'],
  [['query', 'queries', 'querying'], 'queri'],
  [['translate', 'translation', 'translator'], 'translat'],
  [['run', 'running', 'runs'], 'run'],
  [['news'], 'news'],
  [['new'], 'new'],
  [['train', 'trains'], 'train'],
  [['training', 'trainings'], 'training'],
  [['agreed'], 'agre'],
  [['sing'], 'sing'],
  [['is', 'a', '天气', 'über'], undefined],
])('%j have one stem', (words, stemmed) => {
  for (const word of words) expect(stem(word), word).toBe(stemmed ?? word);
});
