// Owns the proof of which values some server may take for one another, and that finding out costs no time.

import { expect, test } from 'vitest';
import { hostMatch, hostPatternOf } from '../../../src/policy/host.ts';
import { mayBeSame } from '../../../src/policy/value-readings.ts';

test('spellings of one number are the same, whatever language reads them', () => {
  for (const text of [
    '1',
    '01',
    '001',
    '1.',
    '1.0',
    '+1',
    '1e0',
    '10e-1',
    '0x1',
    '0b1',
    ' 1 ',
    '"1"',
    '\uff11',
    '\u0967',
  ])
    expect(mayBeSame(1, text), text).toBe(true);
  for (const text of ['2', '-1', '1.1', '11', '0x11', '1a', 'one']) expect(mayBeSame(1, text), text).toBe(false);
  expect([mayBeSame('1.0', 1), mayBeSame('010', 8), mayBeSame(0, -0), mayBeSame(-1, '-01')]).toEqual([
    true,
    true,
    true,
    true,
  ]);
});

test('words for yes are the same as true and as 1, words for no as false and as 0', () => {
  for (const text of ['true', 'YES', 'on', 'y', 'T', '1', '1.0', 'Enabled']) {
    expect([mayBeSame(true, text), mayBeSame(1, text), mayBeSame(false, text)], text).toEqual([true, true, false]);
  }
  for (const text of ['false', 'NO', 'off', 'n', 'F', '0', '0.0', '', 'disabled']) {
    expect([mayBeSame(false, text), mayBeSame(0, text), mayBeSame(true, text)], text).toEqual([true, true, false]);
  }
  expect([mayBeSame(true, 7), mayBeSame('yes', true), mayBeSame('write', 'read')]).toEqual([false, true, false]);
});

test('an item that stands behind a thousand others counts too', () => {
  const list = (length: number) => [...new Array<string>(length).fill('a'), 'prod'].join(',');
  expect([500, 999, 1_000, 20_000].map((length) => mayBeSame('prod', list(length)))).toEqual([true, true, true, true]);
  expect(mayBeSame('prod', new Array(900).fill('a').join(','))).toBe(false);
});

test('an item of a list that is one text counts, a word of a sentence does not', () => {
  for (const text of ['a,admin', 'admin;b', 'a|admin', 'a\nadmin', '["a","admin"]', '{admin}'])
    expect(mayBeSame('admin', text), text).toBe(true);
  for (const text of ['the admin', 'admins', 'a-admin']) expect(mayBeSame('admin', text), text).toBe(false);
});

test('long texts cost no time', () => {
  const runs = [' ', "'", '1', ',', 'a', '1,', '.', '[', '%2c', 'a.'].map((part) => `x${part.repeat(90_000)}y`);
  const pattern = hostPatternOf('evil.org');
  const before = process.cpuUsage();
  for (const text of runs) {
    mayBeSame(1, text);
    mayBeSame(1, text.slice(1));
    if (pattern) hostMatch(`http://x.org/,${text}`.slice(0, 100_000), [pattern]);
  }
  expect(process.cpuUsage(before).user / 1_000, 'milliseconds').toBeLessThan(5_000);
});
