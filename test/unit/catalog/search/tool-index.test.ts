// Owns the proof that a query finds the tools it means, in an order that depends on the tools and the query only.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Findable, ToolIndex } from '../../../../src/catalog/search/tool-index.ts';
import type { JsonObject } from '../../../../src/kernel/json.ts';
import { processorMs, runs } from '../../../effort.ts';
import { verifies } from '../../../verifies.ts';

const tool = (server: string, name: string, description = '', inputSchema: JsonObject = {}): Findable => ({
  key: `mcp__${server}__${name}`,
  server,
  name,
  description,
  inputSchema,
});

const fleet: readonly Findable[] = [
  tool('files', 'read_file', 'Read the contents of a file.', { properties: { path: { description: 'Where it is.' } } }),
  tool('files', 'write_file', 'Create a new file, or overwrite one.'),
  tool('files', 'search_files', 'Find files whose name matches a pattern.'),
  tool('mail', 'send_message', 'Send an e-mail to somebody.', {
    properties: { to: { description: 'The recipient.' }, priority: { enum: ['urgent', 'normal'] } },
  }),
  tool('mail', 'search', 'Search the messages in a mailbox.'),
  tool('sky', 'forecast', 'What the weather will be like in a city.'),
  tool('news', 'headlines', '获取今日新闻，包含热门资讯'),
  tool('shop', 'catalog', 'Lists articles.', {
    $defs: { size: { anyOf: [{ properties: { shoelace: { type: 'string' } } }] } },
  }),
];

function indexOf(tools: readonly Findable[]): ToolIndex {
  const index = new ToolIndex();
  for (const server of new Set(tools.map((each) => each.server))) {
    index.replace(
      server,
      tools.filter((each) => each.server === server),
    );
  }
  return index;
}

const keysFor = (query: string, index = indexOf(fleet)) => index.search(query).map(({ key }) => key);
const best = (query: string) => keysFor(query)[0]?.replace(/^mcp__/, '');

describe('what is found first', () => {
  test.each([
    ['open a document', 'files__read_file'],
    ['overwriting files', 'files__write_file'],
    ['do I need an umbrella tomorrow?', 'sky__forecast'],
    ['an email to somebody', 'mail__send_message'],
    ['who is the recipient', 'mail__send_message'],
    ['something urgent', 'mail__send_message'],
    ['shoelaces', 'shop__catalog'],
    ['latest news', 'news__headlines'],
    ['今天的新闻', 'news__headlines'],
    ['wether', 'sky__forecast'],
    ['overwr', 'files__write_file'],
  ])('%s', (query, expected) => expect(best(query)).toBe(expected));

  test.each([
    ['search', 'mail__search'],
    ['Search Files', 'files__search_files'],
    ['files.read_file', 'files__read_file'],
    ['files/read_file', 'files__read_file'],
    ['mcp__mail__search', 'mail__search'],
    ['readFile', 'files__read_file'],
  ])('the tool that is named: %s', (query, expected) => expect(best(query)).toBe(expected));

  test('of two wishes each', () => {
    const query = 'First read the file with my notes from the disk. Then send it by mail to the recipient.';
    expect(keysFor(query).slice(0, 2).sort()).toEqual(['mcp__files__read_file', 'mcp__mail__send_message']);
  });

  test('a question of nothing but small words is taken by its word', () => {
    const index = indexOf([tool('a', 'show_all', 'Show everything.'), tool('a', 'other', 'Nothing of that.')]);
    expect(keysFor('show me everything', index)[0]).toBe('mcp__a__show_all');
  });
});

test('only what is seen is ranked, and no more than asked for', () => {
  const index = indexOf(fleet);
  expect(index.search('file', { limit: 2 })).toHaveLength(2);
  expect(index.search('file', { isSeen: (key) => key.endsWith('write_file') }).map(({ key }) => key)).toEqual([
    'mcp__files__write_file',
  ]);
  expect(index.search('file', { limit: 0 })).toEqual([]);
});

verifies('SRC-06', 'a changed list is found by its new words at once, and by its old ones no more', () => {
  const index = indexOf(fleet);
  index.replace('sky', [tool('sky', 'moon_phase', 'Tells how full the moon is.')]);
  expect([best('forecast'), keysFor('moon', index), index.size]).toEqual([
    'sky__forecast',
    ['mcp__sky__moon_phase'],
    8,
  ]);
  expect(keysFor('forecast', index)).not.toContain('mcp__sky__forecast');
  index.replace('sky', []);
  expect([keysFor('moon', index), index.size]).toEqual([[], 7]);
});

describe('the order', () => {
  const named = (...names: readonly string[]) => ({ properties: Object.fromEntries(names.map((name) => [name, {}])) });
  const crowd = Array.from({ length: 8 }, (_, at) => tool('crowd', `other_${at}`, 'Lists things.'));
  const order = (query: string, ...tools: readonly Findable[]) =>
    keysFor(query, indexOf([...crowd, ...tools])).filter((key) => !key.includes('crowd'));

  verifies('SRC-06', 'a tool that is called so comes before one that is only about it', () => {
    const about = tool('zebra', 'zebra_stripes', 'Zebra: all about the zebra.', named('zebra'));
    expect(order('zebra', tool('a', 'zebra'), { ...about, title: 'Zebra zebra' })).toEqual([
      'mcp__a__zebra',
      'mcp__zebra__zebra_stripes',
    ]);
    const both = tool('mail', 'sends', 'Send mail: send your mail.', named('mail', 'send'));
    expect(order('mail.send', { ...both, title: 'Send mail' }, tool('mail', 'send'))[0]).toBe('mcp__mail__send');
  });

  const places: Readonly<Record<string, Findable>> = {
    name: tool('a', 'zebra_one'),
    title: { ...tool('b', 'two'), title: 'Zebra' },
    server: tool('zebra', 'three'),
    description: tool('d', 'four', 'A zebra.'),
    parameter: tool('e', 'five', '', named('zebra')),
  };
  for (const [place, found] of Object.entries(places)) {
    verifies('SRC-06', `a tool is found by a word of its ${place} alone`, () => {
      expect(order('zebra', found, tool('z', 'none', 'Nothing of it.'))).toEqual([found.key]);
    });
  }

  verifies('SRC-06', 'a word counts most in the name, then in title, description, parameters and server', () => {
    const inOrder = ['name', 'title', 'description', 'parameter', 'server'].map((place) => places[place]?.key);
    expect(order('zebra', ...Object.values(places).toReversed())).toEqual(inOrder);
  });

  verifies(
    'SRC-06',
    'a rare word counts more than a frequent one, and a word that is repeated little more than once',
    () => {
      expect(keysFor('list zebra', indexOf([...crowd, tool('z', 'rare', 'A zebra.')]))[0]).toBe('mcp__z__rare');
      const [loud, both] = [tool('l', 'one', 'zebra '.repeat(9)), tool('m', 'two', 'A zebra in a zoo.')];
      expect(order('zebra zoo', loud, both)).toEqual(['mcp__m__two', 'mcp__l__one']);
    },
  );
});

test('words that no tool has are told, with those that come closest', () => {
  const index = indexOf(fleet);
  expect(index.missing('xylophone of the mailbux')).toEqual([{ word: 'xylophone', near: [] }]);
  expect(index.missing('shoolaaces')).toEqual([{ word: 'shoolaaces', near: ['shoelace'] }]);
});

test('the same tools give the same answer, whatever came and went before and in which order', () => {
  const words = fc.constantFrom('file', 'mail', 'read', 'send', 'weather', 'new', 'name', 'list', '天气', 'x');
  const tools = fc.array(
    fc.record({
      server: fc.constantFrom('a', 'b', 'c'),
      name: fc.array(words, { minLength: 1, maxLength: 3 }),
      text: fc.array(words, { maxLength: 6 }),
    }),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(tools, tools, fc.array(words, { minLength: 1, maxLength: 4 }), (rows, before, query) => {
      const made = rows.map(({ server, name, text }, at) => ({
        ...tool(server, name.join('_'), text.join(' ')),
        key: `${at}`,
      }));
      const index = indexOf(before.map(({ server, name, text }) => tool(server, name.join('_'), text.join(' '))));
      for (const server of ['c', 'a', 'b']) {
        index.replace(
          server,
          made.filter((each) => each.server === server),
        );
      }
      const question = query.join(' ');
      expect(index.search(question, { limit: 20 })).toEqual(indexOf(made).search(question, { limit: 20 }));
      expect(index.size).toBe(made.length);
    }),
    { numRuns: runs(200) },
  );
});

describe('hostile input', () => {
  test('a question of a megabyte, of surrogates, of nothing', () => {
    const index = indexOf(fleet);
    const queries = ['file '.repeat(200_000), 'x'.repeat(1_000_000), '\ud800'.repeat(10_000), '.'.repeat(1_000_000)];
    const cost = processorMs(() => {
      for (const query of queries) expect(index.search(query).length).toBeLessThanOrEqual(10);
    });
    expect(cost).toBeLessThan(10_000);
    expect([keysFor(''), keysFor('   '), keysFor('🚀')]).toEqual([[], [], []]);
  });

  test('names that objects have of their own', () => {
    const index = indexOf([tool('__proto__', 'constructor', 'toString hasOwnProperty __proto__')]);
    expect(keysFor('constructor', index)).toEqual(['mcp____proto____constructor']);
    expect(keysFor('valueOf', index)).toEqual([]);
  });

  test('a schema without bottom or end, and a description that repeats one word', () => {
    let deep: JsonObject = { properties: { treasure: {} } };
    for (let level = 0; level < 10_000; level++) deep = { properties: { level: deep } };
    const wide = Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [`p${at}`, { description: 'wide' }]));
    const index = indexOf([
      tool('a', 'deep', '', deep),
      tool('a', 'wide', '', { properties: wide, anyOf: 'no list', enum: [1, null, 'yes'] }),
      tool('a', 'loud', 'weather '.repeat(200_000)),
      tool('b', 'weather', 'The weather of today.'),
      { ...tool('b', 'odd'), inputSchema: [] as unknown as JsonObject },
    ]);
    expect(keysFor('weather of today', index)[0]).toBe('mcp__b__weather');
    expect(keysFor('wide', index)[0]).toBe('mcp__a__wide');
  });

  test('servers that come and go with ever new words leave nothing behind that slows others', () => {
    const index = indexOf(fleet);
    for (let round = 0; round < 50; round++) {
      const words = Array.from(
        { length: 1_000 },
        (_, at) => `w${String.fromCharCode(97 + (at % 26))}${letters(round * 1_000 + at)}`,
      );
      index.replace('noise', [tool('noise', 'noise', words.join(' '))]);
    }
    index.replace('noise', []);
    expect([index.size, keysFor('read a file', index)]).toEqual([8, keysFor('read a file')]);
  });
});

const letters = (number: number) => number.toString(26).replace(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)] ?? '');
