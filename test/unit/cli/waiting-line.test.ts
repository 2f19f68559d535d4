// Owns the proof of the line that shows what a command waits for, and how far it is.

import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { plain } from '../../../src/cli/render/text.ts';
import { createWaitingLine } from '../../../src/cli/terminal.ts';
import { withRuntime } from '../../../src/cli/with-runtime.ts';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import { createFakeServer } from '../../../src/testing/fake-server.ts';
import { createTestContext } from './context.ts';

const CLEAR = '\r\u001b[2K';

function openLine(width = 30) {
  let shown = '';
  const screen = new Writable({
    write(chunk, _encoding, done) {
      shown += chunk;
      done();
    },
  });
  return { line: createWaitingLine(screen, { ...plain, width }), shown: () => shown };
}

test('steps of the work are shown at once, in one line that is gone when the work ends', async () => {
  const { line, shown } = openLine();
  const work = createDeferred<string>();
  const waiting = line.waitFor('calling copy', work.promise);
  line.showStep('1/2 (50 %)\nfirst');
  line.showStep('2/2 (100 %) and now a long text');
  expect(shown()).toBe(`calling copy … 1/2 (50 %) fir…${CLEAR}calling copy … 2/2 (100 %) an…`);
  work.resolve('done');
  expect(await waiting).toBe('done');
  expect(shown().endsWith(CLEAR)).toBe(true);
  line.showStep('too late');
  expect(shown().endsWith(CLEAR)).toBe(true);
});

test('a step does not write into a question', async () => {
  const { line, shown } = openLine();
  const [work, question] = [createDeferred<void>(), createDeferred<void>()];
  const waiting = line.waitFor('calling', work.promise);
  const asked = line.pauseFor(question.promise);
  line.showStep('1/2');
  expect(shown()).toBe('');
  question.resolve();
  await asked;
  work.resolve();
  await waiting;
});

test('without a terminal nothing is shown', async () => {
  const line = createWaitingLine(undefined, plain);
  const waiting = line.waitFor('calling', Promise.resolve(1));
  line.showStep('1/2');
  expect(await waiting).toBe(1);
});

test('a command that is about one server says which it waits for', async () => {
  const said: string[] = [];
  const { context } = createTestContext({
    waitFor: (what, work) => {
      said.push(what);
      return work;
    },
  });
  const { entry } = createFakeServer({ greet: { run: () => 'hello' } });
  const servers = { notes: entry, files: entry };
  for (const only of [['notes'], ['notes', 'files']])
    await withRuntime(context, { servers, only }, async () => undefined);
  expect(said).toEqual([
    ...['connecting to notes', 'waiting for notes', 'closing the servers'],
    ...['connecting to the servers', 'waiting for the servers', 'closing the servers'],
  ]);
});
