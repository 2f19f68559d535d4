// Owns the proof that a listener hears everything from its subscription on and can break nothing.

import { expect, test } from 'vitest';
import { createEvents, Emitter } from '../../../src/kernel/emitter.ts';
import { verifies } from '../../verifies.ts';

function setUp() {
  const reported: unknown[] = [];
  const emitter = new Emitter<string>((error) => reported.push(error));
  return { emitter, reported };
}

test('every listener hears every event, in the order of subscription', () => {
  const { emitter } = setUp();
  const heard: string[] = [];
  emitter.on((event) => heard.push(`first ${event}`));
  emitter.on((event) => heard.push(`second ${event}`));
  emitter.emit('a');
  emitter.emit('b');
  expect(heard).toEqual(['first a', 'second a', 'first b', 'second b']);
});

test('a listener that throws is reported, and the others hear the event', () => {
  const { emitter, reported } = setUp();
  const heard: string[] = [];
  const broken = new Error('broken');
  emitter.on(() => {
    throw broken;
  });
  emitter.on((event) => heard.push(event));
  emitter.emit('a');
  expect({ heard, reported }).toEqual({ heard: ['a'], reported: [broken] });
});

test('a listener that rejects is reported like one that throws', async () => {
  const { emitter, reported } = setUp();
  const broken = new Error('broken, but later');
  emitter.on(async () => {
    throw broken;
  });
  emitter.emit('a');
  await new Promise((resolve) => setImmediate(resolve));
  expect(reported).toEqual([broken]);
});

test('the same function may listen twice and leave once', () => {
  const { emitter } = setUp();
  const heard: string[] = [];
  const listener = (event: string) => heard.push(event);
  const leave = emitter.on(listener);
  emitter.on(listener);
  emitter.emit('both');
  leave();
  leave();
  emitter.emit('one');
  expect(heard).toEqual(['both', 'both', 'one']);
});

test('who leaves during an event hears nothing more, and who joins hears the next one', () => {
  const { emitter } = setUp();
  const heard: string[] = [];
  const leaves: (() => void)[] = [];
  let joined = 0;
  emitter.on(() => {
    leaves[0]?.();
    if (joined++ === 0) emitter.on((event) => heard.push(`joined ${event}`));
  });
  leaves.push(emitter.on((event) => heard.push(`left ${event}`)));
  emitter.emit('a');
  emitter.emit('b');
  expect(heard).toEqual(['joined b']);
});

test('emit can be handed out as a plain function', () => {
  const { emitter } = setUp();
  const heard: string[] = [];
  emitter.on((event) => heard.push(event));
  const { emit } = emitter;
  emit('a');
  expect(heard).toEqual(['a']);
});

verifies('EXT-44', 'an event is cleaned for those who hear its type, and for nobody else', () => {
  const cleaned: string[] = [];
  const heard: string[] = [];
  const { emit, on } = createEvents<{ readonly type: string }>(
    () => undefined,
    (event) => {
      cleaned.push(event.type);
      return { type: event.type.toUpperCase() };
    },
  );
  const unsubscribe = on(({ type }) => heard.push(`some ${type}`), ['a', 'A']);
  emit({ type: 'a' });
  emit({ type: 'b' });
  expect({ cleaned, heard }).toEqual({ cleaned: ['a'], heard: ['some A'] });
  on(({ type }) => heard.push(`all ${type}`));
  emit({ type: 'b' });
  unsubscribe();
  emit({ type: 'a' });
  expect({ cleaned, heard }).toEqual({ cleaned: ['a', 'b', 'a'], heard: ['some A', 'all B', 'all A'] });
});
