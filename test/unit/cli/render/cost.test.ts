// Owns the proof that a person reads at a glance which server costs most, and what a model gets to see of it.

import { expect, test } from 'vitest';
import { reportCost } from '../../../../src/catalog/exposure/cost.ts';
import { costText } from '../../../../src/cli/render/cost.ts';
import { plain } from '../../../../src/cli/render/text.ts';
import { heavyTools, toolsOf } from '../../catalog/exposure/tools.ts';

const report = reportCost(toolsOf({ archive: heavyTools(50, 1_000), 'mail\u001b[2J': ['send'] }));
const window = { contextWindow: 200_000, searches: true, shown: 1, hidden: 50, tokens: 600 };
const drawn = (more: Partial<typeof window> = {}) => costText(report, { ...window, ...more }, plain);

test('servers stand in the order of their cost, numbers to the right, and what drives a terminal is made visible', () => {
  const [head, first, second, all] = drawn().split('\n');
  expect(head).toMatch(/^SERVER +TOOLS +TOKENS +SHARE$/);
  expect(first).toMatch(/^archive +50 +\d+,\d{3} +99\.\d %$/);
  expect(second).toMatch(/^mail\\u001b\[2J +1 +\d+ +0\.\d %$/);
  expect(all).toMatch(/^all +51 +\d+,\d{3} +100\.0 %$/);
  expect(new Set([head, first, second, all].map((line) => line?.length)).size).toBe(1);
});

test('below it stands what a model is shown', () => {
  const last = (more: Partial<typeof window> = {}) => drawn(more).split('\n').at(-1);
  expect(last()).toMatch(
    /^A model with a context window of 200,000 tokens is shown 1 of 51 and searches for the other 50: about 600 tokens instead of \d+,\d{3}\.$/,
  );
  expect(last({ searches: false, contextWindow: 16_000 })).toContain(
    'does not get the other 50, because it cannot search',
  );
  expect(last({ hidden: 0, shown: 51 })).toMatch(/ is shown all of them: about \d\.\d % of it\.$/);
});
