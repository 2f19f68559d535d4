// Owns the proof that every tool has one name that any provider accepts, and that no other server's arrival changes it.

import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  assignNames,
  canonicalName,
  collisionsAmong,
  type NamingOptions,
  namingStyles,
} from '../../../src/catalog/naming.ts';
import { type ToolId, toolKey } from '../../../src/model/names.ts';
import { runs } from '../../effort.ts';
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
      { numRuns: runs(500) },
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

/** A clean tool whose name equals the hashed name of another tool. */
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

const styles: Record<string, [options: NamingOptions, names: string[]]> = {
  'canonical, also when nothing is said': [{}, ['mcp__files__read_file', 'mcp__my-server__x']],
  canonical: [{ style: 'canonical' }, ['mcp__files__read_file', 'mcp__my-server__x']],
  compact: [{ style: 'compact' }, ['mcp__files_read_file', 'mcp__my-server_x']],
  single: [{ style: 'single' }, ['mcp_files_read_file', 'mcp_my-server_x']],
  bare: [{ style: 'bare' }, ['read_file', 'x']],
};

for (const [style, [options, expected]] of Object.entries(styles)) {
  verifies('NAM-01', `the style says how a clean name is put together: ${style}`, () => {
    const ids = [tool('files', 'read_file'), tool('my-server', 'x')];
    expect([...assignNames(ids, options).values()]).toEqual(expected);
  });
}

verifies(
  ['NAM-08', 'NAM-01'],
  'of tools that a style would call the same, each is hashed, and none has the plain name',
  () => {
    const both = (a: ToolId, b: ToolId, options: NamingOptions) => [...assignNames([a, b], options).values()];
    expect(both(tool('a', 'read'), tool('b', 'read'), { style: 'bare' })).toEqual([
      `read_${hashOf('a', 'read')}`,
      `read_${hashOf('b', 'read')}`,
    ]);
    expect(both(tool('a_b', 'c'), tool('a', 'b_c'), { style: 'compact' })).toEqual([
      `mcp__a_b_c_${hashOf('a_b', 'c')}`,
      `mcp__a_b_c_${hashOf('a', 'b_c')}`,
    ]);
    expect(both(tool('a_b', 'c'), tool('a', 'b_c'), { style: 'single' })).toEqual([
      `mcp_a_b_c_${hashOf('a_b', 'c')}`,
      `mcp_a_b_c_${hashOf('a', 'b_c')}`,
    ]);
  },
);

verifies('NAM-01', 'when the rival goes, the plain name returns', () => {
  const mine = tool('a', 'read');
  const alone = assignNames([mine], { style: 'bare' });
  assignNames([mine, tool('b', 'read')], { style: 'bare' });
  expect(assignNames([mine], { style: 'bare' })).toEqual(alone);
});

verifies('NAM-07', 'a name that is reserved is given to no server: the tool that would have it is hashed', () => {
  const reserved = new Set(['ListMcpResources', 'mcp_search', 'mcp__a__b']);
  const name = (id: ToolId, options: NamingOptions) => assignNames([id], { ...options, reserved }).get(toolKey(id));
  const list = tool('evil', 'ListMcpResources');
  expect(name(list, { style: 'bare' })).toBe(`ListMcpResources_${hashOf('evil', 'ListMcpResources')}`);
  expect(name(tool('evil', 'search'), { style: 'bare' })).toBe('search');
  expect(name(tool('search', 'x'), { style: 'single' })).toBe('mcp_search_x');
  expect(name(tool('a', 'b'), {})).toBe(`mcp__a__b_${hashOf('a', 'b')}`);
});

verifies('NAM-07', 'a hashed name that is reserved gets another hash, and all stay apart', () => {
  const odd = tool('a', 'b c');
  const taken = nameOf(odd);
  const names = [...assignNames([odd, tool('a', 'b')], { reserved: new Set([taken]) }).values()];
  expect(names).toEqual([expect.stringMatching(/^mcp__a__b_c_[0-9a-f]{10}$/), 'mcp__a__b']);
  expect(names).not.toContain(taken);
});

verifies('NAM-09', 'how long a name may be is a setting, and a longer one ends in its hash', () => {
  const long = tool('server', 'x'.repeat(60));
  expect(nameOf(long)).toHaveLength(64);
  expect(assignNames([long], { maxLength: 128 }).get(toolKey(long))).toBe(`mcp__server__${'x'.repeat(60)}`);
  expect(assignNames([long], { maxLength: 20 }).get(toolKey(long))).toBe(`mcp__serv_${hashOf(long.server, long.tool)}`);
});

test('the canonical name is that of the default style, whatever else was asked for', () => {
  const id = tool('a b', 'c');
  assignNames([id], { style: 'bare', maxLength: 20 });
  expect([canonicalName(id), canonicalName(tool('a', 'b'))]).toEqual([
    `mcp__a_b__c_${hashOf('a b', 'c')}`,
    'mcp__a__b',
  ]);
});

/** Fleets in which everything goes wrong at once: few servers, few words, and names that equal the hash of another tool. */
const word = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('a', 'b', 'a_b', 'b_c', 'c', 'a-b', 'A', 'read') },
  { weight: 2, arbitrary: fc.constantFrom('a__b', '_a', 'a_', 'a b', 'a.b', '🙂', '🙂🙂', ' ', '_', 'x'.repeat(500)) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }) },
);
const anyOptions = fc.record({
  style: fc.constantFrom(...namingStyles),
  maxLength: fc.constantFrom(20, 32, 64, 256),
  reserved: fc.subarray(['read', 'a', 'mcp__a__b', 'mcp_a_b', 'mcp__a_b']).map((names) => new Set(names)),
});
const anyFleet = fc
  .tuple(fc.uniqueArray(fc.record({ server: word, tool: word }), { selector: toolKey, maxLength: 30 }), anyOptions)
  .map(([ids, options]) => {
    const names = [...assignNames(ids, options).values()];
    const squatters = names.flatMap((name) => [
      tool('a', name),
      ...[...name.matchAll(/_/g)].map(({ index }) => tool(name.slice(4, index), name.slice(index + 1))),
    ]);
    const all = [...ids, ...squatters.filter((id) => id.server !== '' && id.tool !== '').slice(0, 20)];
    return { options, ids: [...new Map(all.map((id) => [toolKey(id), id])).values()] };
  });

verifies(
  ['NAM-01', 'NAM-07', 'NAM-09'],
  'in every style and fleet all names differ, fit, hold no odd character, and are nobody’s reserved one',
  () => {
    fc.assert(
      fc.property(anyFleet, ({ ids, options }) => {
        const names = [...assignNames(ids, options).values()];
        const fits = new RegExp(`^[A-Za-z0-9_-]{1,${options.maxLength}}$`);
        expect([names.length, new Set(names).size]).toEqual([ids.length, ids.length]);
        expect(names.filter((name) => !fits.test(name) || options.reserved.has(name))).toEqual([]);
      }),
      { numRuns: runs(500) },
    );
  },
);

verifies(['NAM-01', 'NAM-12'], 'in every style and fleet names are the same in whatever order tools arrive', () => {
  const anyOrder = anyFleet.chain(({ ids, options }) =>
    fc.record({
      ids: fc.constant(ids),
      options: fc.constant(options),
      shuffled: fc.shuffledSubarray(ids, { minLength: ids.length, maxLength: ids.length }),
    }),
  );
  fc.assert(
    fc.property(anyOrder, ({ ids, options, shuffled }) => {
      const byKey = (names: ReadonlyMap<string, string>) => Object.fromEntries(names);
      expect(byKey(assignNames(shuffled, options))).toEqual(byKey(assignNames(ids, options)));
    }),
    { numRuns: runs(300) },
  );
});

verifies(['NAM-01', 'NAM-09'], 'in every style a tool whose own name nobody else would have keeps it', () => {
  fc.assert(
    fc.property(anyFleet, ({ ids, options }) => {
      const names = assignNames(ids, options);
      const nameAlone = (id: ToolId, taken: readonly string[] = []) =>
        assignNames([id], { ...options, reserved: new Set([...options.reserved, ...taken]) }).get(toolKey(id)) ?? '';
      const possible = ids.map((id) => [nameAlone(id), nameAlone(id, [nameAlone(id)])]);
      const kept = ids.filter((_, at) =>
        possible.every((theirs, other) => other === at || !theirs.includes(possible[at]?.[0] ?? '')),
      );
      expect(kept.map((id) => names.get(toolKey(id)))).toEqual(kept.map((id) => nameAlone(id)));
    }),
    { numRuns: runs(300) },
  );
});

test('ten thousand clean names, asked for again, cost a few milliseconds', () => {
  const ids = Array.from({ length: 10_000 }, (_, at) => tool(`server-${at % 100}`, `do_something_${at}`));
  const cost = () => {
    const before = process.cpuUsage();
    assignNames(ids);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  const costs = Array.from({ length: 10 }, cost);
  // Five to eight on a busy machine with two cores; a slower one may take many times as long.
  expect(Math.min(...costs)).toBeLessThan(150);
});

describe('collisions', () => {
  const named = (ids: readonly ToolId[], options: NamingOptions) => {
    const names = assignNames(ids, options);
    return ids.map((id) => ({ id, name: names.get(toolKey(id)) ?? '' }));
  };
  const one = { server: 'one', tool: 'read' };
  const two = { server: 'two', tool: 'read' };
  const odd = { server: 'two', tool: 'read it' };

  verifies(['INT-03', 'NAM-07'], 'are told with the names that the tools have instead', () => {
    const reserved = new Set(['write']);
    const write = { server: 'one', tool: 'write' };
    const tools = named([one, two, odd, write], { style: 'bare', reserved });
    expect(collisionsAmong(tools, { style: 'bare', reserved })).toEqual([
      { name: 'read', isReserved: false, tools: [one, two].map((id, at) => ({ ...id, name: tools[at]?.name })) },
      { name: 'write', isReserved: true, tools: [{ ...write, name: tools[3]?.name }] },
    ]);
    expect(new Set(tools.map(({ name }) => name)).size).toBe(4);
  });

  test('of canonical names there are none but with reserved ones', () => {
    expect(collisionsAmong(named([one, two, odd], {}), {})).toEqual([]);
    const reserved = new Set(['mcp__one__read']);
    const tools = named([one, two], { reserved });
    expect(collisionsAmong(tools, { reserved })).toEqual([
      { name: 'mcp__one__read', isReserved: true, tools: [{ ...one, name: tools[0]?.name }] },
    ]);
    expect(tools[1]?.name).toBe('mcp__two__read');
  });
});
