// Owns the proof of which tools a server's configuration lets through, in all the forms in which it can be written.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Filters, isExposed, speaksOf, toolSettingsOf } from '../../../src/catalog/filter.ts';
import { verifies } from '../../verifies.ts';

const names = ['read_a', 'read_b', 'write', 'constructor'];
const exposedBy = (filters: Partial<Filters>) =>
  names.filter((name) => isExposed(name, { disabledTools: [], ...filters }));

const cases: Record<string, [filters: Partial<Filters>, exposed: string[]]> = {
  'nothing said, everything offered': [{}, names],
  'only what is enabled': [{ enabledTools: ['read_*'] }, ['read_a', 'read_b']],
  'all but what is disabled': [{ disabledTools: ['*_b'] }, ['read_a', 'write', 'constructor']],
  'a deny subtracts from an allow': [{ enabledTools: ['read_*'], disabledTools: ['read_b'] }, ['read_a']],
  'a switch for one tool': [{ tools: { write: { enabled: false } } }, ['read_a', 'read_b', 'constructor']],
  'a switch for many': [{ tools: { 'read_?': { enabled: false } } }, ['write', 'constructor']],
  'the closest switch counts': [
    { tools: { '*': { enabled: false }, 'read_*': {}, read_a: { enabled: true } } },
    ['read_a'],
  ],
  'a switch gives nothing back that a list takes': [
    {
      enabledTools: ['read_*'],
      disabledTools: ['read_b'],
      tools: { '*': { enabled: true }, read_b: { enabled: true } },
    },
    ['read_a'],
  ],
  'a switch takes from what a list gives': [
    { enabledTools: ['read_*'], tools: { read_b: { enabled: false } } },
    ['read_a'],
  ],
  'other settings of a tool do not switch it': [{ tools: { write: { alwaysLoad: true, toolTimeoutMs: 5 } } }, names],
  'an empty list enables nothing': [{ enabledTools: [] }, []],
  'an empty name is nobody’s': [{ disabledTools: [''], tools: { '': { enabled: false } } }, names],
};

for (const [sentence, [filters, exposed]] of Object.entries(cases))
  verifies(['NAM-10', 'NAM-11'], `what is offered: ${sentence}`, () => expect(exposedBy(filters)).toEqual(exposed));

verifies(
  'NAM-10',
  'of two patterns that are as close, the one that takes away wins in whatever order they stand',
  () => {
    for (const tools of [
      { 'read*': { enabled: true }, '*ad_a': { enabled: false } },
      { '*ad_a': { enabled: false }, 'read*': { enabled: true } },
    ])
      expect(isExposed('read_a', { disabledTools: [], tools })).toBe(false);
  },
);

verifies('NAM-10', 'whatever is disabled by any of the forms is not offered, whatever else is said', () => {
  const pattern = fc.constantFrom('*', 'read_*', 'read_a', 'write', '?rite', 'x', '', '**', '*?*');
  const anyFilters = fc.record({
    enabledTools: fc.option(fc.array(pattern), { nil: undefined }),
    disabledTools: fc.array(pattern),
    tools: fc.dictionary(pattern, fc.record({ enabled: fc.boolean() })),
  });
  fc.assert(
    fc.property(anyFilters, ({ enabledTools, ...rest }) => {
      const filters: Filters = { ...rest, ...(enabledTools && { enabledTools }) };
      const exposed = exposedBy(filters);
      const without = exposedBy({ ...filters, disabledTools: [] });
      expect(exposed.every((name) => without.includes(name))).toBe(true);
      expect(exposed.filter((name) => filters.disabledTools.includes(name))).toEqual([]);
      expect(
        exposed.filter((name) => filters.tools?.[name]?.enabled === false && Object.hasOwn(filters.tools, name)),
      ).toEqual([]);
    }),
  );
});

test('what an entry says of one tool comes from the closest names, key by key', () => {
  const tools = {
    'read_*': { alwaysLoad: true, toolTimeoutMs: 5 },
    '*': { exposure: 'defer' as const, toolTimeoutMs: 1, alwaysLoad: false },
    read_a: { toolTimeoutMs: 9 },
  };
  expect(toolSettingsOf('read_a', { tools })).toEqual({ exposure: 'defer', alwaysLoad: true, toolTimeoutMs: 9 });
  expect(toolSettingsOf('read_b', { tools })).toEqual({ exposure: 'defer', alwaysLoad: true, toolTimeoutMs: 5 });
  expect(toolSettingsOf('write', { tools })).toEqual({ exposure: 'defer', alwaysLoad: false, toolTimeoutMs: 1 });
  expect(toolSettingsOf('write', {})).toEqual({});
  expect(toolSettingsOf('toString', { tools: {} })).toEqual({});
});

test('two thousand names in a list are held against two thousand tools in no time', () => {
  const disabledTools = Array.from({ length: 2_000 }, (_, at) => `tool_${at * 2}`);
  const before = process.cpuUsage();
  const exposed = Array.from({ length: 2_000 }, (_, at) => isExposed(`tool_${at}`, { disabledTools })).filter(Boolean);
  const { user, system } = process.cpuUsage(before);
  expect([exposed.length, (user + system) / 1_000 < 1_000]).toEqual([1_000, true]);
});

verifies(
  'SRC-07',
  'a pattern of names speaks of a tool as it is called, canonically, by its server, and in no other way',
  () => {
    const tool = { id: { server: 'files', tool: 'read_a' }, name: 'read_a' };
    const speaking = [
      'read_a',
      'read_*',
      'mcp__files__*',
      'files.read_a',
      'files/*',
      'files__read_a',
      'files',
      'mcp__files',
    ];
    expect(speaking.filter((pattern) => !speaksOf(pattern, tool))).toEqual([]);
    expect(['read', 'file', 'mcp__file', 'web.*', ''].filter((pattern) => speaksOf(pattern, tool))).toEqual([]);
  },
);
