// Owns the proof that listing ends: at the limits of pages, items and bytes, at a repeated cursor, and when its time is up.

import { expect, test } from 'vitest';
import { fetchTools, type ToolListing } from '../../../src/catalog/listing.ts';
import { pageFrom, walkPages } from '../../../src/catalog/pages.ts';
import type { RequestOutcome } from '../../../src/connection/session.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';
import { definitionOf } from '../session.ts';
import { createSession, page } from './session.ts';

async function list(
  answer: (params: JsonObject) => RequestOutcome,
): Promise<ToolListing & { asked: readonly unknown[] }> {
  const session = createSession(answer);
  const clock = createFakeClock();
  const listing = await fetchTools(session, definitionOf('files'), { clock, signal: new AbortController().signal });
  expect(clock.pending(), 'no timer is left').toBe(0);
  return { ...listing, asked: session.cursors };
}

const names = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `tool_${from + index}`);

verifies('RES-12', 'a list is walked to its end, each page from the cursor of the one before', async () => {
  const pages: Record<string, RequestOutcome> = {
    undefined: page(['a'], 'p2'),
    p2: page([], 'p3'),
    p3: page(['b', 'c']),
  };
  const { tools, problems, asked } = await list(({ cursor }) => pages[String(cursor)] ?? page([]));
  expect({ tools: tools.map(({ name }) => name), problems, asked }).toEqual({
    tools: ['a', 'b', 'c'],
    problems: [],
    asked: [undefined, 'p2', 'p3'],
  });
});

for (const end of ['', null]) {
  test(`a cursor that is ${JSON.stringify(end)} is the end`, async () => {
    const { asked, problems } = await list(() => page(['a'], end));
    expect({ asked, problems }).toEqual({ asked: [undefined], problems: [] });
  });
}

verifies('RES-12', 'a server that pages for ever is cut off after 400 pages, and what it listed is kept', async () => {
  const { tools, problems, asked } = await list(({ cursor = 0 }) =>
    page([`tool_${cursor}`], String(Number(cursor) + 1)),
  );
  expect([tools.length, asked.length, problems]).toEqual([
    400,
    400,
    ['the list of tools was cut off: it has more than 400 pages'],
  ]);
});

verifies('RES-12', 'exactly 400 pages are a whole list', async () => {
  const { tools, problems } = await list(({ cursor = 1 }) =>
    page([`tool_${cursor}`], Number(cursor) < 400 ? String(Number(cursor) + 1) : undefined),
  );
  expect([tools.length, problems]).toEqual([400, []]);
});

verifies('RES-12', 'of more than 10000 tools the first 10000 are kept', async () => {
  const whole = await list(() => page(names(10_000)));
  expect([whole.tools.length, whole.problems]).toEqual([10_000, []]);
  const onOnePage = await list(() => page(names(10_001)));
  expect([onOnePage.tools.length, onOnePage.problems]).toEqual([
    10_000,
    ['the list of tools was cut off: it has more than 10000 tools'],
  ]);
  const onMany = await list(({ cursor = 0 }) => page(names(4_000, Number(cursor) * 4_000), String(Number(cursor) + 1)));
  expect([onMany.tools.at(-1)?.name, onMany.asked.length]).toEqual(['tool_9999', 3]);
});

verifies('RES-12', 'a cursor seen before ends the list', async () => {
  const { tools, problems, asked } = await list(({ cursor }) => page([`tool_${cursor}`], cursor === 'a' ? 'b' : 'a'));
  expect([tools.map(({ name }) => name), problems, asked]).toEqual([
    ['tool_undefined', 'tool_a', 'tool_b'],
    ['the list of tools was cut off: it repeats a cursor'],
    [undefined, 'a', 'b'],
  ]);
});

verifies('RES-12', 'a cursor over 64 KiB ends the list, and one of 64 KiB does not', async () => {
  const fits = await list(({ cursor }) => page(['a'], cursor === undefined ? 'x'.repeat(65_536) : undefined));
  expect([fits.problems, fits.asked.length]).toEqual([['the tool "a" is listed twice; the first one counts'], 2]);
  for (const cursor of ['x'.repeat(65_537), 'é'.repeat(40_000)]) {
    const { tools, problems, asked } = await list(() => page(['a'], cursor));
    expect([tools.length, problems, asked.length]).toEqual([
      1,
      ['the list of tools was cut off: a cursor is longer than 65536 bytes'],
      1,
    ]);
  }
});

test('a cursor that is no text, and a page that is no list, end the list', async () => {
  expect((await list(() => page(['a'], 7))).problems).toEqual([
    'the list of tools was cut off: a cursor is not a text',
  ]);
  const garbage: RequestOutcome = { kind: 'result', result: 'garbage' };
  expect(await list(({ cursor }) => (cursor === undefined ? page(['a'], 'p2') : garbage))).toMatchObject({
    tools: [{ name: 'a' }],
    problems: ['the list of tools was cut off: page 2 holds no list of tools'],
  });
});

verifies('ERR-04', 'a first page that is no list is no list at all', async () => {
  for (const result of ['garbage', null, {}, { tools: {} }])
    await expect(list(() => ({ kind: 'result', result }))).rejects.toMatchObject({
      code: 'PROTOCOL_BROKEN',
      data: { server: 'files', reason: 'its answer to tools/list holds no list of tools' },
    });
});

verifies('RES-12', 'all pages together have one minute, however quick each of them is', async () => {
  const clock = createFakeClock();
  let pages = 0;
  const session = createSession(async (_params, cancellation) => {
    await cancellation.race(clock.sleep(1_001));
    return page([`tool_${pages}`], String(++pages));
  });
  const listing = fetchTools(session, definitionOf('files'), { clock, signal: new AbortController().signal });
  const ended = expect(listing).rejects.toMatchObject({
    code: 'STARTUP_TIMEOUT',
    data: { server: 'files', afterMs: 60_000, reason: 'it does not list its tools', stderr: 'last words' },
  });
  await clock.advance(59_999);
  expect(pages).toBe(59);
  await clock.advance(1);
  await ended;
  expect(pages).toBe(59);
});

test('any list is walked the same way, under its own key', async () => {
  const walked = await walkPages(
    async (cursor) => (cursor ? { things: [2] } : { things: [1], nextCursor: 'x' }),
    'things',
    { pages: 2, items: 2 },
  );
  expect(walked).toEqual({ items: [1, 2] });
});

test('what has not the shape of a page is an empty one', () => {
  const session = createSession(() => page([]));
  const onRefusal = () => ({});
  const listed = { server: 'files', session, called: 'things', onRefusal };
  expect(pageFrom({ kind: 'result', result: [1] }, listed)).toEqual({});
});
