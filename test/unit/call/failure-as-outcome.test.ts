// Owns the proof that a failure of the runtime reaches a model as text it can act on, always within bounds.

import { expect } from 'vitest';
import { failureAsOutcome } from '../../../src/call/failure-as-outcome.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import { verifies } from '../../verifies.ts';

verifies(
  ['CAL-10', 'ERR-07'],
  'a failure becomes an error result with code, what happened, what comes next and who can fix it',
  () => {
    const failure = new RuntimeError('ARGUMENTS_BAD', {
      server: 'files',
      tool: 'read',
      problems: ['"path" is missing'],
    });
    const outcome = failureAsOutcome(failure);
    expect(outcome).toEqual({
      text: outcome.text,
      content: [{ type: 'text', text: outcome.text }],
      attachments: [],
      isError: true,
      signals: [],
      meta: { server: 'files', tool: 'read', durationMs: 0, attempts: 0, fromCache: false },
    });
    for (const part of ['ARGUMENTS_BAD', '"path" is missing', 'Correct the arguments and call again.', 'fix-call'])
      expect(outcome.text).toContain(part);
  },
);

verifies('CAL-10', 'what is not ours is told as our bug', () => {
  const { text, meta, isError } = failureAsOutcome(new TypeError('x is not a function'));
  expect([meta.server, meta.tool, isError]).toEqual(['', '', true]);
  expect(text).toContain('INTERNAL');
  expect(text).toContain('report-bug');
});

const long: Record<string, RuntimeError> = {
  'a long name': new RuntimeError('TOOL_UNKNOWN', { name: 'x'.repeat(100_000), nearest: [] }),
  'a long stderr': new RuntimeError('CONNECTION_LOST', {
    server: 'files',
    reason: 'it exited',
    stderr: 'e\n'.repeat(50_000),
  }),
  'long arguments': new RuntimeError('ARGUMENTS_BAD', {
    server: 'files',
    tool: 'read',
    problems: ['🎈'.repeat(50_001)],
  }),
};

for (const [what, failure] of Object.entries(long)) {
  verifies('CAL-10', `${what} stays within 4000 characters, and neither code nor remedy is lost`, () => {
    const { text } = failureAsOutcome(failure);
    expect({
      bounded: text.length <= 4_000,
      code: text.includes(failure.code),
      remedy: text.includes(failure.remedy),
      halfCharacter: /\p{Surrogate}/u.test(text),
    }).toEqual({ bounded: true, code: true, remedy: true, halfCharacter: false });
  });
}
