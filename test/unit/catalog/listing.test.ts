// Owns the proof that one server's tools are read: healthy tools are kept, filtered ones hidden, broken ones reported.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Catalog } from '../../../src/catalog/catalog.ts';
import { isExposed } from '../../../src/catalog/filter.ts';
import { fetchTools } from '../../../src/catalog/listing.ts';
import type { RequestOutcome, Session } from '../../../src/connection/session.ts';
import type { ServerSettings } from '../../../src/model/server.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';
import { definitionOf } from '../session.ts';
import { createSession, page } from './session.ts';

const patience = () => ({ clock: createFakeClock(), signal: new AbortController().signal });
const list = (answer: RequestOutcome, settings: Partial<ServerSettings> = {}) =>
  fetchTools(
    createSession(() => answer),
    definitionOf('files', settings),
    patience(),
  );
const listOf = (...tools: unknown[]) => list({ kind: 'result', result: { tools } });

test('a definition is kept as it came, fields nobody knows included', async () => {
  const definition = {
    name: 'read',
    title: 'Read',
    description: 'Reads.',
    inputSchema: { type: 'object' },
    future: [1],
  };
  expect(await listOf(definition)).toEqual({ tools: [definition], problems: [], listedAt: 0 });
});

test('a missing schema is the open one, and a description that is no text is left out', async () => {
  expect((await listOf({ name: 'read', description: 42 })).tools).toEqual([
    { name: 'read', inputSchema: { type: 'object' } },
  ]);
});

verifies('EXT-11', 'a broken definition costs itself and never its neighbors', async () => {
  const healthy = { name: 'read', inputSchema: {} };
  const broken = [null, 'x', [], {}, { name: '' }, { name: 42 }, { name: 'a', inputSchema: 'none' }];
  expect(
    await listOf(...broken, healthy, { name: 'b', inputSchema: null }, { ...healthy, description: 'again' }),
  ).toEqual({
    tools: [healthy],
    listedAt: 0,
    problems: [
      ...Array.from({ length: 6 }, () => 'a tool without a name was left out'),
      'the tool "a" was left out: its inputSchema is not an object',
      'the tool "b" was left out: its inputSchema is not an object',
      'the tool "read" is listed twice; the first one counts',
    ],
  });
});

const wrongHeader = { type: 'object', properties: { a: { type: 'number', 'x-mcp-header': 'A' } } };
const lineOf = (era: Session['era'], transport: Session['transport']) =>
  fetchTools(
    createSession(
      () => ({ kind: 'result', result: { tools: [{ name: 'read', inputSchema: wrongHeader }, { name: 'write' }] } }),
      { era, transport },
    ),
    definitionOf('files'),
    patience(),
  );

test('where arguments become headers, a tool that declares them wrongly is left out', async () => {
  const { tools, problems } = await lineOf('modern', 'http');
  expect(tools.map(({ name }) => name)).toEqual(['write']);
  expect(problems).toEqual([
    'the tool "read" was left out: its parameter "a" declares x-mcp-header but is not of type string, integer or boolean',
  ]);
});

test.each([
  ['legacy', 'http'],
  ['modern', 'stdio'],
  ['modern', 'ws'],
] as const)('a wrong declaration harms nobody in the %s era over %s', async (era, transport) => {
  const { tools, problems } = await lineOf(era, transport);
  expect(tools.map(({ name }) => name)).toEqual(['read', 'write']);
  expect(problems).toEqual([]);
});

test('any items at all are survived', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.jsonValue()), async (items) => {
      const { tools, problems } = await listOf(...items);
      expect(tools.length + problems.length).toBe(items.length);
    }),
  );
});

test('a server without the capability is not asked', async () => {
  const session = createSession(() => page(['a']), { capabilities: { resources: {} } });
  expect(await fetchTools(session, definitionOf('files'), patience())).toEqual({
    tools: [],
    problems: [],
    listedAt: 0,
    capabilities: ['resources'],
  });
  expect(session.cursors).toEqual([]);
});

const refusals: Record<string, [answer: RequestOutcome, code: string, data: unknown]> = {
  'an error': [
    { kind: 'error', code: -32603, message: 'out of order' },
    'PROTOCOL_BROKEN',
    { server: 'files', reason: 'it answered tools/list with an error (out of order)' },
  ],
  'a lost connection': [
    { kind: 'lost', sent: true },
    'CONNECTION_LOST',
    { server: 'files', reason: 'it said nothing', stderr: 'last words' },
  ],
  'a page over the limit': [
    { kind: 'oversized' },
    'LIST_TOO_LONG',
    { server: 'files', reason: 'one page of its tools is larger than a message may be' },
  ],
};

test.each(Object.entries(refusals))('%s in place of a list has its own code', async (_, [answer, code, data]) => {
  await expect(list(answer)).rejects.toMatchObject({ code, data });
});

const filters: Record<string, [settings: Partial<ServerSettings>, exposed: string[], hidden: string[]]> = {
  'nothing said, everything offered': [{}, ['read_a', 'read_b', 'write'], []],
  'only what is enabled': [{ enabledTools: ['read_*'] }, ['read_a', 'read_b'], ['write']],
  'all but what is disabled': [{ disabledTools: ['*_b'] }, ['read_a', 'write'], ['read_b']],
  'a deny subtracts from an allow': [
    { enabledTools: ['read_*'], disabledTools: ['read_?'] },
    [],
    ['read_a', 'read_b', 'write'],
  ],
  'an empty list enables nothing': [{ enabledTools: [] }, [], ['read_a', 'read_b', 'write']],
  'a name is exact': [{ enabledTools: ['read', 'write'] }, ['write'], ['read_a', 'read_b']],
};

for (const [sentence, [settings, exposed, hidden]] of Object.entries(filters)) {
  verifies('NAM-10', `when tools are listed: ${sentence}`, async () => {
    const catalog = new Catalog({ clock: createFakeClock(), emit: () => undefined });
    const session = createSession(() => page(['read_a', 'read_b', 'write']));
    await catalog.list(definitionOf('files', settings), session);
    const entry = catalog.get('files');
    expect([entry?.tools.map(({ name }) => name), entry?.hidden, entry?.problems]).toEqual([exposed, hidden, []]);
  });
}

test('a filter looks at the name of the server itself, whatever it holds', () => {
  expect(isExposed('a b__c', { enabledTools: ['a b__*'], disabledTools: [] })).toBe(true);
});
