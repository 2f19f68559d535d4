// Owns generated configuration files: every form a server may have, with comments and blank lines wherever they may be.

import fc from 'fast-check';
import { inlineText, keysText, keyText, linesOf } from '../../../../src/config/edits/toml-text.ts';

type Server = Readonly<Record<string, unknown>>;
type Servers = Readonly<Record<string, Server>>;

export interface GeneratedFile {
  readonly text: string;
  readonly servers: Servers;
  /** Finds the servers in the parsed file. */
  readonly read: (content: unknown) => Servers;
  /** The comments about each server, and under '' those about none; each occurs in the file once. */
  readonly remarks: ReadonlyMap<string, readonly string[]>;
}

const odd = ['a.b', 'a b', '"q"', "it's", 'back\\slash', 'é–漢', '#', '//', '[x]', 'a=b', '0', '-', 'toString'];

/** Every kind of name that `define.ts` accepts and no generated file holds. */
export const newName = fc.oneof(
  fc.constantFrom(...odd.map((name) => `new ${name}`)),
  fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => `new${text.replace(/\p{Cc}/gu, '')}`),
);

/** Texts that look like something else. */
const word = fc.constantFrom(
  'x',
  '# no',
  '// no',
  '/* no */',
  'a\nb',
  '"',
  "'",
  '{',
  '}',
  '],',
  '\\',
  'é',
  '[mcp_servers.a]',
);

const server: fc.Arbitrary<Server> = fc.record(
  {
    command: word,
    args: fc.array(word, { maxLength: 3 }),
    env: fc.dictionary(fc.constantFrom('A', 'B.C', 'D E'), word, { maxKeys: 2, noNullPrototype: true }),
  },
  { requiredKeys: ['command'], noNullPrototype: true },
);

interface Draft {
  readonly servers: Servers;
  /** Decide one after the other where comments, blank lines and other things are. */
  readonly dice: readonly number[];
  readonly eol: string;
  readonly indent: string;
}

const drafts: fc.Arbitrary<Draft> = fc.record({
  servers: fc
    .uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'x-y', ...odd), server), {
      minLength: 1,
      maxLength: 4,
      selector: ([name]) => name,
    })
    .map((entries) => Object.fromEntries(entries)),
  dice: fc.array(fc.nat(5), { minLength: 7, maxLength: 30 }),
  eol: fc.constantFrom('\n', '\r\n'),
  indent: fc.constantFrom('', '  ', '\t'),
});

function createPen({ dice }: Draft, [open, close]: readonly [string, string]) {
  let rolled = 0;
  const remarks = new Map<string, readonly string[]>();
  const pen = {
    remarks,
    count: () => rolled++,
    /** Once in `sides` times. */
    chance: (sides = 3) => (dice[rolled++ % dice.length] ?? 0) % sides === 0,
    remark(owner: string): string {
      const text = `${open} remark ${rolled++}, = {"[ ${close}`.trimEnd();
      remarks.set(owner, [...(remarks.get(owner) ?? []), text]);
      return text;
    },
    maybe: (owner: string) => (pen.chance() ? [pen.remark(owner)] : []),
    /** Behind something on its line. */
    aside: (owner: string) => (pen.chance() ? ` ${pen.remark(owner)}` : ''),
  };
  return pen;
}

type Pen = ReturnType<typeof createPen>;

const at = (path: readonly string[]) => (content: unknown) =>
  path.reduce<unknown>((inner, key) => Object(inner)[key] ?? {}, content) as Servers;

const listed = (content: unknown): Servers => {
  const list = Object(content).servers ?? [];
  return Object.fromEntries(list.map(({ name, ...value }: Record<string, unknown>) => [name, value]));
};

const groups = fc.constantFrom(['mcp_servers'], ['mcpServers'], ['mcp', 'servers'], ['context_servers']);

export const tomlFile: fc.Arbitrary<GeneratedFile> = fc
  .tuple(drafts, fc.constantFrom('tables', 'lines', 'braces', 'list', 'brackets'), groups)
  .map(([draft, style, group]) => {
    const pen = createPen(draft, ['#', '']);
    const isList = style === 'list' || style === 'brackets';
    const lines = {
      tables: () => tables(draft, group, pen),
      lines: () => linesOfOneTable(draft, group, pen),
      braces: () => enclosed(draft, [`${keysText(group)} = {`, '}'], pen),
      list: () => listOfTables(draft, pen),
      brackets: () => enclosed(draft, ['servers = [', ']'], pen),
    }[style]();
    const ending = pen.chance() ? ['', ...pen.maybe(''), ''] : pen.chance() ? [''] : [];
    const text = [...top(pen), ...lines, ...ending].join(draft.eol) + (pen.chance() ? '' : draft.eol);
    return { text, servers: draft.servers, read: isList ? listed : at(group), remarks: pen.remarks };
  });

const top = (pen: Pen) => [
  ...pen.maybe('').flatMap((line) => [line, '']),
  ...(pen.chance() ? [`title   =   'it'${pen.aside('')}`, ''] : []),
  ...(pen.chance() ? ['text = """', '[mcp_servers.a]', '# no comment"""', ''] : []),
];

/** Other content between servers. */
const between = (pen: Pen) => {
  if (pen.chance()) return ['', ...pen.maybe(''), `[plexus.part${pen.count()}]`, 'a=1', ''];
  return pen.chance() ? ['', ...pen.maybe('').flatMap((line) => [line, ''])] : [];
};

const tableOf = (header: string, owner: string, lines: readonly string[], pen: Pen) => [
  ...pen.maybe(owner),
  header + pen.aside(owner),
  ...lines.flatMap((line) => [...pen.maybe(owner), line + pen.aside(owner)]),
];

/** A server's variables may be a table of their own, before it, behind it or far away. */
function tables({ servers, indent }: Draft, group: readonly string[], pen: Pen): readonly string[] {
  const late: string[] = [];
  const lines = Object.entries(servers).flatMap(([name, { env, ...rest }]) => {
    const header = pen.chance()
      ? `[ ${keysText(group)} . ${JSON.stringify(name)} ]`
      : `[${keysText([...group, name])}]`;
    const isApart = env !== undefined && pen.chance(2);
    const own = linesOf(isApart || env === undefined ? rest : { ...rest, env }).map((line) => indent + line);
    const main = tableOf(header, name, own, pen);
    if (!isApart) return [...main, ...between(pen)];
    const part = tableOf(`[${keysText([...group, name, 'env'])}]`, name, linesOf(env as Server), pen);
    if (pen.chance()) return [...part, ...main, ...between(pen)];
    if (pen.chance(2)) late.push(...between(pen), ...part);
    else main.push(...between(pen), ...part);
    return [...main, ...between(pen)];
  });
  return [...lines, ...late];
}

/** One table for all: a line for each server, or a line for each of its settings, some of them far away. */
function linesOfOneTable({ servers, indent }: Draft, group: readonly string[], pen: Pen): readonly string[] {
  const late: string[] = [];
  const line = (owner: string, text: string) => [...pen.maybe(owner), indent + text + pen.aside(owner)];
  const lines = Object.entries(servers).flatMap(([name, value]) => {
    const blank = pen.chance() ? [''] : [];
    if (pen.chance(2)) return [...line(name, `${keyText(name)}=${inlineText(value)}`), ...blank];
    const [first = [], ...rest] = linesOf(value).map((each) => line(name, `${keyText(name)} . ${each}`));
    if (pen.chance(2)) late.push(...rest.flat());
    else first.push(...rest.flat());
    return [...first, ...blank];
  });
  return [`[${keysText(group)}]`, ...lines, ...late, ...(pen.chance() ? ['', '[plexus]'] : [])];
}

function listOfTables({ servers, indent }: Draft, pen: Pen): readonly string[] {
  return Object.entries(servers).flatMap(([name, { env, ...rest }]) => {
    const isApart = env !== undefined && pen.chance(2);
    const own = isApart || env === undefined ? rest : { ...rest, env };
    const lines = tableOf(
      '[[servers]]',
      name,
      linesOf({ name, ...own }).map((line) => indent + line),
      pen,
    );
    const part = isApart ? tableOf('[servers.env]', name, linesOf(env as Server), pen) : [];
    return [...lines, ...part, ...between(pen)];
  });
}

/** Between brackets, on one line or on many. */
function enclosed({ servers, indent }: Draft, [open, close]: readonly [string, string], pen: Pen): readonly string[] {
  const isList = close === ']';
  const items = Object.entries(servers).map(([name, value]): [string, string] => [
    name,
    isList ? inlineText({ name, ...value }) : `${keyText(name)} = ${inlineText(value)}`,
  ]);
  if (pen.chance(2)) return [`${open} ${items.map(([, text]) => text).join(', ')} ${close}${pen.aside('')}`];
  const hasFinalComma = pen.chance(2);
  const lines = items.flatMap(([name, text], number) => {
    const comma = hasFinalComma || number < items.length - 1 ? ',' : '';
    return [...looseRemark(pen), ...pen.maybe(name), indent + text + comma + pen.aside(name)];
  });
  return [open, ...lines, ...looseRemark(pen), close + pen.aside('')];
}

const looseRemark = (pen: Pen) => (pen.chance(4) ? ['', ...pen.maybe(''), ''] : []);

export const jsonFile: fc.Arbitrary<GeneratedFile> = fc
  .tuple(drafts, fc.constantFrom('lines', 'line', 'minified', 'wild'), groups, fc.boolean())
  .map(([draft, style, group, isList]) => {
    const pen = createPen(draft, pickSlashes(draft));
    const path = isList ? ['servers'] : group;
    const text = style === 'lines' ? jsonLines(draft, path, isList, pen) : jsonLine(draft, path, isList, style, pen);
    const bom = pen.chance(5) ? '\uFEFF' : '';
    return {
      text: bom + text + (pen.chance() ? '' : draft.eol),
      servers: draft.servers,
      read: isList ? listed : at(path),
      remarks: pen.remarks,
    };
  });

const pickSlashes = ({ dice }: Draft) => ((dice[0] ?? 0) % 2 === 0 ? (['//', ''] as const) : (['/*', '*/'] as const));

function jsonLines({ servers, indent, eol }: Draft, path: readonly string[], isList: boolean, pen: Pen): string {
  const unit = indent === '' ? '    ' : indent;
  const hasFinalComma = pen.chance(2);
  const pretty = (value: unknown) => JSON.stringify(value, undefined, unit);
  const items = Object.entries(servers).flatMap(([name, value], number) => {
    const comma = hasFinalComma || number < Object.keys(servers).length - 1 ? ',' : '';
    const body = isList ? pretty({ name, ...value }) : `${JSON.stringify(name)}: ${pretty(value)}`;
    return [...looseRemark(pen), ...pen.maybe(name), `${body}${comma}${pen.aside(name)}`];
  });
  const group = [isList ? '[' : '{', ...indented([...items, ...looseRemark(pen)], unit), isList ? ']' : '}'];
  const whole = path.reduceRight((lines, key, depth) => {
    const before = pen.chance() ? [...pen.maybe(''), '"plexus": {},'] : [];
    const [first = '', ...rest] = lines;
    const last = rest.pop() ?? '';
    const after = pen.chance() ? [`${last},`, `"other${depth}": 1`] : [last];
    return ['{', ...indented([...before, `${JSON.stringify(key)}: ${first}`, ...rest, ...after], unit), '}'];
  }, group);
  return [...pen.maybe(''), ...whole].join('\n').replaceAll('\n', eol);
}

const indented = (lines: readonly string[], unit: string) =>
  lines.flatMap((line) => line.split('\n')).map((line) => (line === '' ? '' : unit + line));

/** `wild`: comments and space stand wherever they may, between any two tokens. */
function jsonLine({ servers, eol }: Draft, path: readonly string[], isList: boolean, style: string, pen: Pen): string {
  const trivia = ['', ' ', eol, `${eol}  `, '/* , */', ` // { ,${eol}`, `${eol}${eol}`, '\t'];
  const gap = () => {
    if (style === 'minified') return '';
    return style === 'wild'
      ? (trivia[[2, 3, 2, 3].reduce((sum, sides) => sum * 2 + (pen.chance(sides) ? 1 : 0), 0) % trivia.length] ?? '')
      : ' ';
  };
  const print = (value: unknown): string => {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const isArray = Array.isArray(value);
    const items = isArray
      ? value.map(print)
      : Object.entries(value).map(
          ([key, each]) => `${JSON.stringify(key)}${style === 'wild' ? gap() : ''}:${gap()}${print(each)}`,
        );
    const comma = style === 'wild' && items.length > 0 && pen.chance(4) ? `,${gap()}` : '';
    const inner = items.join(`${style === 'wild' ? gap() : ''},${gap()}`);
    const padding = items.length > 0 ? gap() : '';
    return (isArray ? '[' : '{') + padding + inner + (items.length > 0 ? gap() : '') + comma + (isArray ? ']' : '}');
  };
  const group = isList ? Object.entries(servers).map(([name, value]) => ({ name, ...value })) : servers;
  return print(path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), group));
}
