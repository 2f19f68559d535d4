// Owns the proof that a tool is found under the spellings of other agents where only one can be meant, and under no other.

import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAliases } from '../../../src/catalog/aliases.ts';
import { assignNames, type NamingOptions, namingStyles } from '../../../src/catalog/naming.ts';
import { type ToolId, toolKey } from '../../../src/model/names.ts';
import { runs } from '../../effort.ts';
import { verifies } from '../../verifies.ts';

const tool = (server: string, name: string): ToolId => ({ server, tool: name });

function aliasesOf(ids: readonly ToolId[], options: NamingOptions = {}) {
  const names = assignNames(ids, options);
  return createAliases(ids.map((id) => ({ id, name: names.get(toolKey(id)) ?? '' })));
}

const files = tool('files', 'read_file');
const web = tool('My Web', 'Fetch.Page');
const browser = tool('puppeteer', 'puppeteer_screenshot');
const docs = tool('context7', 'get-docs2');
const fleet = [files, web, browser, docs, tool('a_b', 'c'), tool('a', 'b_c'), tool('x', 'list'), tool('y', 'list')];

const spellings: Record<string, [spelled: string, id: ToolId]> = {
  'double underscores': ['mcp__files__read_file', files],
  'one underscore before the tool': ['mcp__files_read_file', files],
  'single underscores': ['mcp_files_read_file', files],
  'the tool alone': ['read_file', files],
  'a dot': ['files.read_file', files],
  'a slash': ['files/read_file', files],
  'a colon': ['files:read_file', files],
  'two colons': ['files::read_file', files],
  'double underscores without the prefix': ['files__read_file', files],
  'an underscore without the prefix': ['files_read_file', files],
  'a hyphen': ['files-read_file', files],
  'double hyphens': ['mcp--files--read_file', files],
  'dots after the prefix': ['mcp.files.read_file', files],
  'slashes after the prefix': ['mcp/files/read_file', files],
  'an at sign': ['@files/read_file', files],
  'the server at the end': ['read_file_mcp_files', files],
  'its own odd characters': ['My Web.Fetch.Page', web],
  'its own odd characters, in the canonical way': ['mcp__My Web__Fetch.Page', web],
  'each odd character as an underscore': ['mcp__My_Web__Fetch_Page', web],
  'odd characters as underscores, in lower case': ['mcp__my_web_fetch_page', web],
  'the server only once, where the tool repeats it': ['mcp__puppeteer_screenshot', browser],
  'no digits': ['mcp__context_get_docs', docs],
  'digits kept': ['mcp__context7_get_docs2', docs],
};

for (const [how, [spelled, id]] of Object.entries(spellings)) {
  verifies(['NAM-02', 'NAM-03', 'NAM-08'], `a tool is found when it is spelled with ${how}`, () => {
    for (const style of namingStyles) expect([style, aliasesOf(fleet, { style }).find(spelled)]).toEqual([style, id]);
  });
}

describe('long names', () => {
  const long = tool('a-server-with-a-long-name', `do_${'something_'.repeat(6)}useful`);
  const full = `mcp__${long.server}__${long.tool}`;
  const hash = createHash('sha256').update(`${long.server}\0${long.tool}`).digest('hex').slice(0, 8);
  const cut: Record<string, string> = {
    'the middle left out by dots': `${`mcp_${long.server}_${long.tool}`.slice(0, 30)}...${full.slice(-30)}`,
    'the middle left out by underscores': `${`${long.server}__${long.tool}`.slice(0, 28)}___${full.slice(-32)}`,
    'the end replaced by a hash': `${full.slice(0, 55)}_${hash}`,
    'the name of the server cut': `mcp_${long.server.slice(0, 13)}_${long.tool}`.slice(0, 64),
  };
  for (const [how, spelled] of Object.entries(cut)) {
    verifies('NAM-02', `are understood with ${how}`, () => {
      expect(aliasesOf([long, ...fleet]).find(spelled)).toEqual(long);
      const twin = tool(long.server, `${long.tool.slice(0, 40)}or_other_${long.tool.slice(-30)}`);
      if (!spelled.endsWith(hash)) expect(aliasesOf([long, twin]).find(spelled)).not.toEqual(twin);
    });
  }
});

verifies(['NAM-02', 'NAM-05'], 'what two tools may be called means neither', () => {
  const { find } = aliasesOf(fleet);
  expect([find('list'), find('mcp__a_b_c'), find('mcp_a_b_c'), find('a_b_c')]).toEqual([
    'ambiguous',
    'ambiguous',
    'ambiguous',
    'ambiguous',
  ]);
  expect(find('x.list')).toEqual(tool('x', 'list'));
  const nested = aliasesOf([tool('a__b', 'c'), tool('a', 'b__c'), tool('s', 't'), tool('z', 's.t')]);
  expect([nested.find('mcp__a__b__c'), nested.find('s.t')]).toEqual(['ambiguous', 'ambiguous']);
  expect(nested.find('mcp__s__t')).toEqual(tool('s', 't'));
});

verifies('NAM-05', 'a name as it is given wins over every other reading', () => {
  const ids = [tool('a', 'x'), tool('b', 'a_x'), tool('mcp_a', 'x')];
  expect(aliasesOf(ids, { style: 'bare' }).find('a_x')).toEqual(tool('b', 'a_x'));
  expect(aliasesOf(ids, { style: 'single' }).find('mcp_a_x')).toEqual(tool('a', 'x'));
});

verifies('NAM-05', 'of two that differ in odd characters only, each is found as it is written', () => {
  const { find } = aliasesOf([tool('a-b', 't'), tool('a_b', 't'), tool('A_B', 't')]);
  expect([find('a-b.t'), find('a_b.t'), find('A_B.t')]).toEqual([tool('a-b', 't'), tool('a_b', 't'), tool('A_B', 't')]);
  expect([find('a.b.t'), find('mcp__A-B__t')]).toEqual(['ambiguous', 'ambiguous']);
});

verifies(
  ['NAM-02', 'NAM-09'],
  'a hashed name is understood in every style, and after what it clashed with has gone',
  () => {
    const odd = tool('my server', 'read it');
    const mine = tool('a_b', 'c');
    for (const style of namingStyles) {
      const other = assignNames([odd], { style, maxLength: 40 }).get(toolKey(odd)) ?? '';
      expect(aliasesOf([odd, ...fleet]).find(other)).toEqual(odd);
      const clashed = assignNames([mine, tool('a', 'b_c'), tool('z', 'c')], { style }).get(toolKey(mine)) ?? '';
      expect(aliasesOf([mine], { style }).find(clashed)).toEqual(mine);
    }
    const [name = ''] = assignNames([odd]).values();
    expect(aliasesOf([odd], { style: 'bare' }).find(`mcp__other__${name.slice(-11)}`)).toBeUndefined();
  },
);

verifies('NAM-05', 'nothing is guessed', () => {
  const { find } = aliasesOf(fleet);
  const wrong = ['', 'mcp__', 'mcp__files', 'files', 'files.', '.read_file', 'files.read_fil', 'file.read_file'];
  const odd = [
    'readfile',
    'mcp__files__',
    '__proto__',
    'constructor',
    'mcp__context__get_docs',
    'x'.repeat(100_000),
    '_',
  ];
  expect([...wrong, ...odd].map(find)).toEqual([...wrong, ...odd].map(() => undefined));
});

test('names of nothing but odd characters are found as they are written, and not taken for each other', () => {
  const ids = [tool('日本', '読む'), tool('中国', '读')];
  const { find } = aliasesOf(ids);
  expect([find('日本.読む'), find('中国/读'), find('日本.读'), find('mcp__x__x'), find('_')]).toEqual([
    ...ids,
    undefined,
    undefined,
    undefined,
  ]);
});

test('in any fleet a spelling leads to a tool that can be spelled so, or to none', () => {
  const part = fc.string({ unit: fc.constantFrom('a', 'b', '_', '-', '.', 'A', '1'), minLength: 1, maxLength: 4 });
  const anyId = fc.record({ server: part, tool: part });
  const anyIds = fc.uniqueArray(anyId, { selector: toolKey, minLength: 1, maxLength: 12 });
  const letters = (text: string) => text.toLowerCase().replace(/[^a-z]/g, '');
  fc.assert(
    fc.property(anyIds, fc.nat(), fc.constantFrom('.', '/', '__', '_', ':', '-'), (ids, at, separator) => {
      const { find } = aliasesOf(ids);
      const wanted = ids[at % ids.length] ?? tool('', '');
      const found = find(`${wanted.server}${separator}${wanted.tool}`);
      if (found === undefined || found === 'ambiguous') return;
      const pair = letters(wanted.server + wanted.tool);
      expect([letters(found.server + found.tool), letters(found.tool)]).toContain(pair);
    }),
    { numRuns: runs(1_000) },
  );
});

test('a spelling that is the pair itself is found, or ambiguous, and never anybody else’s', () => {
  const part = fc.string({ unit: fc.constantFrom('a', 'b', '_', '-', '.'), minLength: 1, maxLength: 4 });
  const anyIds = fc.uniqueArray(fc.record({ server: part, tool: part }), {
    selector: toolKey,
    minLength: 1,
    maxLength: 12,
  });
  fc.assert(
    fc.property(anyIds, fc.nat(), (ids, at) => {
      const wanted = ids[at % ids.length] ?? tool('', '');
      expect([wanted, 'ambiguous']).toContainEqual(
        aliasesOf(ids, { style: 'canonical' }).find(`${wanted.server}/${wanted.tool}`),
      );
    }),
    { numRuns: runs(1_000) },
  );
});
