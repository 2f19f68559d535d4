import { expect, test } from 'vitest';
import { nearest } from '../../../src/config/nearest.ts';

const known = ['command', 'args', 'env', 'startupTimeoutMs', 'toolTimeoutMs', 'url'];

test.each([
  ['comand', ['command']],
  ['COMMAND', ['command']],
  ['arg', ['args']],
  ['timeout', ['startupTimeoutMs', 'toolTimeoutMs']],
  ['toolTimeout', ['toolTimeoutMs']],
  ['x', []],
  ['autoApprove', []],
  ['', []],
  ['c'.repeat(1_000_000), []],
])('close to %.20s is %j', (word, expected) => expect(nearest(word, known)).toEqual(expected));
