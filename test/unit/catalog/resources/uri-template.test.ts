// Owns the proof that a uri fits a template exactly if the template can produce it, and that matching stays cheap.

import { expect, test } from 'vitest';
import { matchesTemplate } from '../../../../src/catalog/resources/uri-template.ts';
import { processorMs } from '../../../effort.ts';

const fitting: [template: string, uri: string][] = [
  ['note://{id}', 'note://7'],
  ['note://{id}', 'note://a%20b'],
  ['issue://{owner}/{repo}/{id}', 'issue://a/b/7'],
  ['file:///{+path}', 'file:///a/b/c.txt'],
  ['file:///{path*}', 'file:///a/b/c.txt'],
  ['search://q{?text,limit}', 'search://q?text=a&limit=3'],
  ['search://q{?text}', 'search://q'],
  ['x://{a}{+b}', 'x://1/2'],
  ['x://{a}-{b}.json', 'x://one-two-three.json'],
];
const other: [template: string, uri: string][] = [
  ['note://{id}', 'note://'],
  ['note://{id}', 'note://a/b'],
  ['note://{id}', 'notes://7'],
  ['note://{id}/end', 'note://7'],
  ['x://{a}/y', 'x://y'],
  ['no-hole', 'no-hole'],
  ['broken://{id', 'broken://{id'],
  ['empty://{}', 'empty://x'],
  ['', ''],
];

test.each(fitting)('%s may have made %s', (template, uri) => expect(matchesTemplate(template, uri)).toBe(true));
test.each(other)('%s has not made %s', (template, uri) => expect(matchesTemplate(template, uri)).toBe(false));

test('a hostile template is as quick as any other', () => {
  const templates = [
    '{a}'.repeat(600),
    '{+a}a'.repeat(400),
    `{a}${'x'.repeat(1_000)}{b}`,
    '{'.repeat(2_000),
    'a'.repeat(9_000),
  ];
  const uri = `${'a'.repeat(1_000)}${'x'.repeat(1_000)}`;
  const cost = processorMs(() => {
    for (let n = 0; n < 200; n++) for (const template of templates) matchesTemplate(template, uri);
  });
  expect(cost).toBeLessThan(3_000);
});
