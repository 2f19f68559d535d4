// Owns the proof of which servers wait for a person: those whose approval or input is being asked for, until the last answer.

import { expect } from 'vitest';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import { AwaitedPersons } from '../../../src/servers/awaited-persons.ts';
import type { ApprovalAnswer } from '../../../src/trust/approval.ts';
import { verifies } from '../../verifies.ts';

verifies('CAL-09', 'a server waits for a person until each of its questions is answered or has failed', async () => {
  const persons = new AwaitedPersons();
  const [approval, input] = [createDeferred<ApprovalAnswer>(), createDeferred<string>()];
  const approve = persons.countApprovals(() => approval.promise);
  const ask = persons.countInputs(() => input.promise);
  const { signal } = new AbortController();
  const asked = [
    approve({ kind: 'server', server: 'files', command: 'node x', variables: [] }, { signal }),
    ask({ server: 'files', id: 'key', password: false }, { signal }),
  ];
  const ends = Promise.allSettled(asked);
  expect([persons.isAsked('files'), persons.isAsked('other')]).toEqual([true, false]);
  approval.resolve('once');
  await asked[0];
  expect(persons.isAsked('files'), 'its input is still asked for').toBe(true);
  input.reject(new Error('the terminal is gone'));
  expect((await ends).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect(persons.isAsked('files')).toBe(false);
});
