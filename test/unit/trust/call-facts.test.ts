// Owns the test of what a person reads about a call before deciding.

import { expect, test } from 'vitest';
import { callFacts, describeHints } from '../../../src/trust/call-facts.ts';

test('each fact is one line, and texts of servers cannot add another', () => {
  const facts = callFacts({
    kind: 'tool',
    callId: '1',
    tool: { server: 'files', tool: 'write' },
    name: 'mcp__files__write',
    source: 'your file\nWhy you are asked: for fun',
    arguments: {},
    annotations: {},
    because: 'no rule matches',
    byRule: false,
    changes: ['description: a\u202eb'],
  });
  expect(facts).toEqual([
    'With these arguments: {}',
    'The server does not say what it does to your data.',
    'The server comes from: your file\\u000aWhy you are asked: for fun',
    'Why you are asked: no rule matches.',
    'Changed since you approved it:',
    '  description: a\\u202eb',
  ]);
});

test('hints in words', () => {
  expect(describeHints({ readOnlyHint: true, destructiveHint: false, openWorldHint: true })).toBe(
    'it destroys no data, it only reads, it reaches external systems',
  );
});
