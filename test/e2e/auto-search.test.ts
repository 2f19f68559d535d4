// Owns the proof, through a whole runtime, that a large fleet is searched, a found tool stays, and a hidden one can be called.

import { expect } from 'vitest';
import type { RuntimeOptions } from '../../src/api.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Turn } from '../../src/turn.ts';
import { verifies } from '../verifies.ts';
import { createFolder, createRawServer, type Started, start } from './runtimes.ts';

interface Served {
  readonly instructions?: string;
  readonly entry?: JsonObject;
}

function serverOf(tools: readonly JsonObject[], { instructions, entry = {} }: Served = {}) {
  const server = createRawServer(
    { tools: { listChanged: true } },
    {
      initialize: () => ({
        protocolVersion: '2025-11-25',
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'raw', version: '1' },
        ...(instructions !== undefined && { instructions }),
      }),
      'tools/list': () => ({ tools: tools.map((tool) => ({ inputSchema: { type: 'object' }, ...tool })) }),
      'tools/call': ({ name, arguments: args }) => ({
        content: [{ type: 'text', text: `${name} ${JSON.stringify(args)}` }],
      }),
    },
  );
  return { ...server.entry, ...entry };
}

/** Far more than a tenth of any window. */
const archive = Array.from({ length: 150 }, (_, at) => ({
  name: `archive_box_${at}`,
  description: `Archive the papers of box ${at}. ${'Papers are kept for ten years. '.repeat(40)}`,
}));
const invoices = [
  {
    name: 'create_invoice',
    description: 'Create an invoice for a customer.',
    inputSchema: { type: 'object', properties: { customer: { type: 'string' } }, required: ['customer'] },
  },
  { name: 'pay_invoice', description: 'Pay an invoice.' },
];

function startLarge(plexus: JsonObject = {}, entries: { archive?: Served; invoices?: Served } = {}): Promise<Started> {
  const servers = {
    archive: serverOf(archive, entries.archive),
    invoices: serverOf(invoices, entries.invoices),
  } as NonNullable<RuntimeOptions['servers']>;
  const extraSources = [{ name: 'settings', scope: 'host' as const, read: () => ({ plexus }) }];
  return start(createFolder(), { servers, extraSources });
}

const namesOf = ({ tools }: Turn) => tools.map(({ name }) => name);
const serverTools = (turn: Turn) => namesOf(turn).filter((name) => name.startsWith('mcp__'));

verifies(
  ['SRC-01', 'SRC-02', 'SRC-05'],
  'of a large fleet a model sees search, finds a tool, keeps it and calls it',
  async () => {
    const runtime = await startLarge();
    const first = runtime.turn();
    expect(namesOf(first)).toEqual(expect.arrayContaining(['mcp_call', 'mcp_search']));
    expect(serverTools(first)).toEqual([]);
    const found = await first.call('mcp_search', { query: 'create an invoice', limit: 1 });
    expect(found.text).toContain('1. mcp__invoices__create_invoice');
    expect(found.text).toContain('"required":["customer"]');
    const second = runtime.turn();
    expect(serverTools(second)).toEqual(['mcp__invoices__create_invoice']);
    expect(second.revision).not.toBe(first.revision);
    expect((await second.call('mcp__invoices__create_invoice', { customer: 'x' })).text).toContain(
      'create_invoice {"customer":"x"}',
    );
    expect(serverTools(runtime.turn()), 'it stays').toEqual(['mcp__invoices__create_invoice']);
    expect(runtime.turn(), 'and nothing moves without a reason').toMatchObject({ revision: second.revision });
  },
);

verifies('SRC-05', 'a hidden tool can be called by its name and through the carrier, with its own checks', async () => {
  const turn = (await startLarge()).turn();
  expect((await turn.call('mcp__invoices__pay_invoice')).text).toContain('pay_invoice {}');
  const carried = await turn.call('mcp_call', { name: 'mcp__invoices__create_invoice', arguments: { customer: 'y' } });
  expect(carried.text).toContain('create_invoice {"customer":"y"}');
  expect(carried.meta).toMatchObject({ server: 'invoices', tool: 'create_invoice' });
  const code = (work: Promise<unknown>) => work.then(String, (error: { readonly code?: unknown }) => error.code);
  expect(await code(turn.call('mcp_call', { name: 'mcp__invoices__create_invoice', arguments: {} }))).toBe(
    'ARGUMENTS_BAD',
  );
  expect(await code(turn.call('mcp_call', { name: 'mcp__invoices__nothing' }))).toBe('TOOL_UNKNOWN');
});

verifies('SRC-01', 'search is off when a person says so', async () => {
  const runtime = await startLarge({ toolSearch: 'off' });
  expect(serverTools(runtime.turn())).toHaveLength(152);
  expect(namesOf(runtime.turn())).not.toContain('mcp_search');
});

verifies(
  ['SRC-03', 'SRC-04'],
  'a model that cannot search gets the tools that fit what the turn is about',
  async () => {
    const runtime = await startLarge();
    for (const model of [{ contextWindow: 16_000 }, { toolCalling: false }, { toolSearch: false }]) {
      const turn = runtime.view({ model }).turn({ query: 'pay an invoice' });
      expect(namesOf(turn)).not.toContain('mcp_search');
      expect(serverTools(turn)).toContain('mcp__invoices__pay_invoice');
      expect(serverTools(turn).length).toBeLessThanOrEqual(20);
    }
  },
);

verifies('SRC-07', 'what a person wants to be seen is seen, what is to be deferred is hidden', async () => {
  const shown = async (plexus: JsonObject, entries: Parameters<typeof startLarge>[1] = {}) =>
    serverTools((await startLarge(plexus, entries)).turn());
  const both = ['mcp__invoices__create_invoice', 'mcp__invoices__pay_invoice'];
  expect(await shown({ alwaysLoad: ['mcp__invoices__pay_*'] })).toEqual([both[1]]);
  expect(await shown({}, { invoices: { entry: { alwaysLoad: true } } })).toEqual(both);
  expect(await shown({}, { invoices: { entry: { exposure: 'load' } } })).toEqual(both);
  expect(await shown({}, { archive: { entry: { exposure: 'defer' } } })).toEqual(both);
  expect(await shown({}, { archive: { entry: { exposure: 'use_tool' } } })).toEqual(both);
});

verifies('SRC-07', 'tools for which one tool serves all are found and carried, never listed', async () => {
  const runtime = await startLarge({}, { invoices: { entry: { exposure: 'use_tool' } } });
  const found = await runtime.turn().call('mcp_search', { query: 'pay invoice', limit: 1 });
  expect(found.text).toContain('mcp__invoices__pay_invoice (through mcp_call)');
  expect((await runtime.turn().call('mcp_call', { name: 'mcp__invoices__pay_invoice' })).text).toContain(
    'pay_invoice {}',
  );
  expect(serverTools(runtime.turn())).toEqual([]);
});

verifies('EXT-15', 'what servers say about their use is in the system prompt, unless it is switched off', async () => {
  const entries = {
    archive: { instructions: 'Boxes are numbered.' },
    invoices: { instructions: 'Amounts are in euros.' },
  };
  const promptWith = async (plexus: JsonObject, more: Parameters<typeof startLarge>[1]) =>
    (await startLarge(plexus, more)).turn().systemPrompt;
  const prompt = await promptWith({}, entries);
  expect(prompt).toContain(
    '<mcp_server_instructions server="archive">\nBoxes are numbered.\n</mcp_server_instructions>',
  );
  expect(prompt).toContain('Amounts are in euros.');
  const one = await promptWith({}, { ...entries, archive: { ...entries.archive, entry: { instructions: false } } });
  expect(one).not.toContain('Boxes');
  expect(one).toContain('euros');
  expect(await promptWith({ instructions: false }, entries)).not.toMatch(/Boxes|euros/);
});
