// Owns the proof that no more tasks than the limit run at once, that the queue keeps its order, and that no slot is ever lost.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Slots } from '../../../src/kernel/slots.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** The tasks that got a slot so far, in order, each with its release function. */
function queueUp(slots: Slots, names: readonly string[], signal = new AbortController().signal) {
  const entered: string[] = [];
  const leave = new Map<string, () => void>();
  for (const name of names) {
    const enter = (giveBack: () => void) => {
      entered.push(name);
      leave.set(name, giveBack);
    };
    slots.take(signal).then(enter, () => entered.push(`${name} gave up`));
  }
  return { entered, leave: (name: string) => leave.get(name)?.() };
}

test('as many as there are slots go in at once; the others follow in the order in which they came', async () => {
  const { entered, leave } = queueUp(new Slots(() => 2), ['a', 'b', 'c', 'd', 'e']);
  await settle();
  expect(entered).toEqual(['a', 'b']);
  leave('b');
  await settle();
  expect(entered).toEqual(['a', 'b', 'c']);
  leave('a');
  leave('c');
  await settle();
  expect(entered).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('a slot is given back once, however often its holder says so', async () => {
  const { entered, leave } = queueUp(new Slots(() => 1), ['a', 'b', 'c']);
  await settle();
  for (let time = 0; time < 3; time++) leave('a');
  await settle();
  expect(entered).toEqual(['a', 'b']);
});

test('who comes in the very moment a slot is handed on does not slip in between', async () => {
  const slots = new Slots(() => 1);
  const { entered, leave } = queueUp(slots, ['a', 'b']);
  await settle();
  leave('a');
  const late = queueUp(slots, ['late']);
  await settle();
  expect([entered, late.entered]).toEqual([['a', 'b'], []]);
});

test('who gives up leaves the line with the reason, and costs nobody else a place', async () => {
  const slots = new Slots(() => 1);
  const holder = queueUp(slots, ['a']);
  const stop = new AbortController();
  const waiting = slots.take(stop.signal);
  const next = queueUp(slots, ['c']);
  await settle();
  stop.abort('enough');
  await expect(waiting).rejects.toBe('enough');
  holder.leave('a');
  await settle();
  expect(next.entered).toEqual(['c']);
  next.leave('c');
  expect(queueUp(slots, ['d', 'e']).entered).toEqual([]);
});

test('who has given up before does not even ask', async () => {
  const slots = new Slots(() => 1);
  await expect(slots.take(AbortSignal.abort('enough'))).rejects.toBe('enough');
  const { entered } = queueUp(slots, ['a']);
  await settle();
  expect(entered).toEqual(['a']);
});

test('an abort after one’s turn changes nothing', async () => {
  const slots = new Slots(() => 1);
  const stop = new AbortController();
  const { entered, leave } = queueUp(slots, ['a', 'b'], stop.signal);
  await settle();
  leave('a');
  await settle();
  stop.abort();
  leave('b');
  const next = queueUp(slots, ['c']);
  await settle();
  expect([entered, next.entered]).toEqual([['a', 'b'], ['c']]);
});

test('whatever order they come, leave and give up in, there is room for exactly as many as before', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.array(fc.constantFrom('come', 'leave', 'give up'), { maxLength: 30 }),
      async (limit, happenings) => {
        const slots = new Slots(() => limit);
        const inside: (() => void)[] = [];
        const outside: AbortController[] = [];
        for (const each of happenings) {
          if (each === 'leave') inside.shift()?.();
          if (each === 'give up') outside.pop()?.abort('enough');
          if (each === 'come') {
            const stop = new AbortController();
            outside.push(stop);
            slots.take(stop.signal).then(
              (giveBack) => inside.push(giveBack),
              () => undefined,
            );
          }
          await settle();
          expect(inside.length).toBeLessThanOrEqual(limit);
        }
        for (const stop of outside) stop.abort();
        await settle();
        for (const giveBack of inside) giveBack();
        const { entered } = queueUp(
          slots,
          Array.from({ length: limit + 1 }, (_, at) => String(at)),
        );
        await settle();
        expect(entered).toHaveLength(limit);
      },
    ),
    { numRuns: 50 },
  );
});

test('a limit that changes counts from the next release on, up and down', async () => {
  let limit = 1;
  const { entered, leave } = queueUp(new Slots(() => limit), ['a', 'b', 'c', 'd', 'e']);
  limit = 3;
  leave('a');
  await settle();
  leave('a');
  await settle();
  expect(entered).toEqual(['a', 'b', 'c', 'd']);
  limit = 1;
  leave('b');
  leave('c');
  await settle();
  expect(entered, 'one is still at work').toEqual(['a', 'b', 'c', 'd']);
  leave('d');
  await settle();
  expect(entered).toEqual(['a', 'b', 'c', 'd', 'e']);
});
