// Owns the proof of the order of clients at a server.

import { expect, test } from 'vitest';
import { ServerLine } from '../../../src/gateway/server-line.ts';

const [one, other, third] = [{}, {}, {}];
const never = () => new AbortController().signal;

test('clients call at once', () => {
  const line = new ServerLine();
  expect([line.enter(one, never), line.enter(other, never)]).toEqual([undefined, undefined]);
});

test('once exclusive, one client at a time, in the order in which they came', async () => {
  const line = new ServerLine();
  void line.enter(one, never);
  line.makeExclusive();
  const order: string[] = [];
  const waiting = [other, third, other].map((caller, at) => line.enter(caller, never)?.then(() => order.push(`${at}`)));
  line.leave();
  await Promise.all([waiting[0], waiting[2]]);
  expect(order).toEqual(['0', '2']);
  expect(line.enter(other, never), 'others wait longer').toBeInstanceOf(Promise);
  line.leave();
  line.leave();
  await waiting[1];
  expect(order).toEqual(['0', '2', '1']);
});

test('a call that is cancelled while it waits keeps nobody from calling', async () => {
  const line = new ServerLine();
  line.makeExclusive();
  void line.enter(one, never);
  const cancelled = new AbortController();
  const waiting = line.enter(other, () => cancelled.signal);
  cancelled.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  line.leave();
  expect(line.enter(third, never)).toBeUndefined();
});
