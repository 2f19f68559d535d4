// Owns the proof that a state comes back only with its own request, of its own client.

import { expect, test } from 'vitest';
import { RoundSeal } from '../../../src/gateway/state-of-round.ts';
import type { ServedCall } from '../../../src/serving/service.ts';

const key = Buffer.alloc(32, 7);
const call = (params: object, principal = 'own') =>
  ({ method: 'tools/call', params, peer: { principal: { id: principal } } }) as unknown as ServedCall;
const params = { name: 'ask', arguments: { a: 1 } };

test('a state outlives a restart with the same key', () => {
  const requestState = new RoundSeal(key).seal(call(params), { state: 'upstream', isApproved: true });
  const seal = new RoundSeal(key);
  expect(seal.isOwn(requestState)).toBe(true);
  const retried = call({ ...params, requestState, inputResponses: {}, _meta: {} });
  expect(seal.open(retried)).toEqual({ state: 'upstream', isApproved: true });
  expect(requestState).not.toContain('upstream');
});

test.each([
  ['another client', call(params, 'other')],
  ['other arguments', call({ ...params, arguments: { a: 2 } })],
])('it is refused with %s', (_, wrong) => {
  const seal = new RoundSeal(key);
  const requestState = seal.seal(call(params), { state: 'upstream', isApproved: false });
  const retried = { ...wrong, params: { ...wrong.params, requestState } };
  expect(() => seal.open(retried)).toThrow('requestState belongs to another request');
});

test('what was not sealed here is left to others', () => {
  expect([undefined, 7, 'p1.x', ''].map(new RoundSeal().isOwn)).toEqual([false, false, false, false]);
});
