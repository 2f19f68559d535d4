// Owns the proof that every tool has one name that any provider accepts, and that nobody else's arrival changes it.

import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assignNames } from '../../../src/catalog/naming.ts';
import { type ToolId, toolKey } from '../../../src/model/names.ts';
import { verifies } from '../../verifies.ts';

const tool = (server: string, name: string): ToolId => ({ server, tool: name });

function nameOf(id: ToolId, among: readonly ToolId[] = [id]): string {
  const name = assignNames(among).get(toolKey(id));
  if (name === undefined) throw new Error(`${toolKey(id)} has no name`);
  return name;
}

const hashOf = (server: string, name: string) =>
  createHash('sha256')
    .update(JSON.stringify([server, name]))
    .digest('hex')
    .slice(0, 10);

verifies(['NAM-01', 'NAM-09'], 'clean parts are joined by double underscores and stay as they are', () => {
  expect(
    [tool('files', 'read_file'), tool('my-server', 'a-b_c-1'), tool('A', 'B'), tool('s', 'x'.repeat(56))].map((id) =>
      nameOf(id),
    ),
  ).toEqual(['mcp__files__read_file', 'mcp__my-server__a-b_c-1', 'mcp__A__B', `mcp__s__${'x'.repeat(56)}`]);
});

const unclean: Record<string, [server: string, tool: string, beginning: string]> = {
  'a space': ['my server', 'read', 'mcp__my_server__read'],
  'a dot': ['files', 'read.file', 'mcp__files__read_file'],
  'a double underscore in the server': ['a__b', 'c', 'mcp__a_b__c'],
  'a double underscore in the tool': ['a', 'b__c', 'mcp__a__b_c'],
  'an underscore at the edge': ['_a', 'b_', 'mcp__a__b'],
  'letters of another alphabet': ['日本', 'чтение', 'mcp__x__x'],
  'half a character': ['a\ud83c', 'b', 'mcp__a__b'],
  'one character more than fits': ['s', 'x'.repeat(57), `mcp__s__${'x'.repeat(45)}`],
  'a server that leaves no room for the tool': ['s'.repeat(100), 'read', `mcp__${'s'.repeat(48)}`],
  'a cut right behind an underscore': ['s', `${'x'.repeat(44)}_${'y'.repeat(30)}`, `mcp__s__${'x'.repeat(44)}`],
};

for (const [what, [server, name, beginning]] of Object.entries(unclean)) {
  verifies('NAM-09', `with ${what} a name is sanitised and ends in ten digits of its identity`, () => {
    expect(nameOf(tool(server, name))).toBe(`${beginning}_${hashOf(server, name)}`);
  });
}

const anyPart = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 80 }),
  fc.string({ unit: fc.constantFrom('a', 'b', '_', '-', '.', ' ', 'é'), minLength: 1, maxLength: 8 }),
  fc.string({ unit: fc.constantFrom('a', '_'), minLength: 40, maxLength: 70 }),
);
const anyId = fc.record({ server: anyPart, tool: anyPart });
const anyIds = fc.uniqueArray(anyId, { selector: toolKey, maxLength: 20 });

verifies(
  ['NAM-09', 'NAM-07'],
  'any tools get names that differ, fit into 64 characters and hold letters, digits, _ and - only',
  () => {
    fc.assert(
      fc.property(anyIds, (ids) => {
        const names = [...assignNames(ids).values()];
        expect(new Set(names).size).toBe(ids.length);
        expect(names.filter((name) => name.length > 64 || !/^[a-zA-Z0-9_-]+$/.test(name))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  },
);

verifies(['NAM-09', 'NAM-12'], 'names do not depend on the order in which tools arrive', () => {
  fc.assert(
    fc.property(anyIds, fc.infiniteStream(fc.nat()), (ids, random) => {
      const shuffled = ids
        .map((id) => ({ id, at: random.next().value }))
        .sort((a, b) => a.at - b.at)
        .map(({ id }) => id);
      expect(Object.fromEntries(assignNames(shuffled))).toEqual(Object.fromEntries(assignNames(ids)));
    }),
  );
});

verifies('NAM-09', 'the name of a tool is the one it would have alone, whoever else is there', () => {
  fc.assert(
    fc.property(anyIds, (ids) => {
      const names = assignNames(ids);
      expect(ids.map((id) => names.get(toolKey(id)))).toEqual(ids.map((id) => nameOf(id)));
    }),
  );
});

/** A clean tool that is called just as somebody else's hash came out. */
const squatterOf = (id: ToolId, among?: readonly ToolId[]): ToolId => {
  const [, server = '', name = ''] = /^mcp__(.+?)__(.+)$/.exec(nameOf(id, among)) ?? [];
  return tool(server, name);
};

verifies('NAM-09', 'a clean name that equals a hashed one is hashed as well, in whatever order they come', () => {
  const hashed = tool('files', 'read file');
  const squatter = squatterOf(hashed);
  expect(nameOf(squatter), 'alone it keeps its name').toBe(nameOf(hashed));
  for (const among of [
    [hashed, squatter],
    [squatter, hashed],
  ]) {
    expect(nameOf(hashed, among)).toBe(`mcp__files__read_file_${hashOf('files', 'read file')}`);
    expect(nameOf(squatter, among)).toBe(`${nameOf(hashed)}_${hashOf(squatter.server, squatter.tool)}`);
  }
});

verifies(['NAM-09', 'NAM-07'], 'a clean name that equals such a second hash does not take it either', () => {
  const hashed = tool('files', 'a b');
  const squatter = squatterOf(hashed);
  const second = squatterOf(squatter, [hashed, squatter]);
  const third = squatterOf(second, [hashed, squatter, second]);
  for (const among of [
    [hashed, squatter, second],
    [second, squatter, hashed],
    [hashed, squatter, second, third],
  ]) {
    expect(new Set(assignNames(among).values()).size).toBe(among.length);
  }
});

test('a tool that is named twice has one name', () => {
  expect(assignNames([tool('a', 'b'), tool('a', 'b')])).toEqual(new Map([['["a","b"]', 'mcp__a__b']]));
});
