// Owns editing TOML text: text in, text out. An entry may be a table, an inline table, dotted keys, or all of that in several
// places. Everything else stays as it is, character by character.

import { type AST, parseTOML } from 'toml-eslint-parser';
import { unreachable } from '../../kernel/unreachable.ts';
import type { ConfigMap, KeyPath } from '../config-map.ts';
import { type CommaList, insertItem, removeItem } from './comma-list.ts';
import type { Operation } from './plan.ts';
import {
  applySplices,
  cut,
  eolAt,
  indentBefore,
  indentOfLine,
  insertAt,
  isBlankLine,
  lineStart,
  nextLine,
  type Range,
  type Splice,
} from './splice.ts';
import {
  fragmentsOf,
  isAt,
  readSites,
  startsWith,
  type TomlPair,
  type TomlSite,
  type TomlTable,
} from './toml-sites.ts';
import { inlineText, keysText, linesOf, pairText } from './toml-text.ts';

/** A last line without a line ending gets one while the text is edited. */
export function editToml(written: string, operation: Operation): string {
  const eol = eolAt(written, 0);
  const isOpen = written !== '' && !written.endsWith('\n');
  const text = isOpen ? written + eol : written;
  const edited = applySplices(text, splicesFor(read(text, eol), operation));
  return isOpen ? edited.replace(/\r?\n$/, '') : edited;
}

interface TomlSource {
  readonly text: string;
  readonly eol: string;
  readonly sites: readonly TomlSite[];
  readonly tables: readonly TomlTable[];
  /** The starts of lines that hold only a comment. */
  readonly commentLines: ReadonlySet<number>;
}

function read(text: string, eol: string): TomlSource {
  const program = parseTOML(text, { tomlVersion: '1.1' });
  const sites = readSites(program);
  const alone = program.comments.map(({ range }) => range[0]).filter((at) => indentBefore(text, at) !== undefined);
  return {
    text,
    eol,
    sites,
    tables: sites.filter((site) => site.kind === 'table'),
    commentLines: new Set(alone.map((at) => lineStart(text, at))),
  };
}

function splicesFor(source: TomlSource, operation: Operation): readonly Splice[] {
  switch (operation.kind) {
    case 'insert':
      return insert(source, operation);
    case 'replace':
      return replace(source, operation.path, operation.value);
    case 'remove':
      return removeAll(source, fragmentsOf(source.sites, operation.path));
    case 'set':
      return set(source, operation);
    default:
      return unreachable(operation);
  }
}

type InsertOperation = Extract<Operation, { kind: 'insert' }>;

/** Follows the entry's neighbors: in their braces, on a line of their table, or as a table of its own. */
function insert(source: TomlSource, { group, key, value }: InsertOperation): readonly Splice[] {
  const { sites, text, eol } = source;
  const holder = sites.find((site) => site.kind === 'pair' && isAt(site.path, group));
  const list = holder?.kind === 'pair' ? listOf(text, holder.node.value) : undefined;
  const pair = typeof key === 'string' ? pairText(key, value) : inlineText(value);
  if (list) return insertItem(list, { whenEmpty: 'inline', write: () => pair });

  const inGroup = source.tables.filter(({ path }) => startsWith(path, group));
  const table = inGroup.find(({ path }) => isAt(path, group));
  const lastPair = table?.node.body.at(-1);
  if (lastPair && inGroup.length === 1)
    return [insertAt(endOfRemarks(source, lastPair), indentOfLine(text, lastPair.range[0]) + pair + eol)];

  const header = typeof key === 'string' ? `[${keysText([...group, key])}]` : `[[${keysText(group)}]]`;
  return [insertTable(source, inGroup.at(-1), [header, ...linesOf(value)])];
}

/** After the last table of the group, or at the end of the file, so that no existing line falls under the new header. */
function insertTable(
  source: TomlSource,
  last: TomlTable | undefined,
  [header = '', ...lines]: readonly string[],
): Splice {
  const { text, eol } = source;
  const at = last ? endOfRemarks(source, last.node) : endOfWriting(text);
  const [first] = last?.node.body ?? [];
  const indents = [last?.node, first].map((node) => (node ? indentOfLine(text, node.range[0]) : ''));
  const block = [header, ...lines].map((line, number) => (indents[Math.min(number, 1)] ?? '') + line + eol).join('');
  const isDense = isWrittenDensely(source) && !source.commentLines.has(lineStart(text, at - 1));
  return insertAt(at, (at === 0 || isDense ? '' : eol) + block);
}

/** Whether tables follow each other without a blank line. */
function isWrittenDensely(source: TomlSource): boolean {
  const starts = source.tables.slice(1).map(({ node }) => startOfRemarks(source, node.range[0]));
  return starts.length > 0 && starts.every((start) => !isBlankLine(source.text, lineStart(source.text, start - 1)));
}

function replace(source: TomlSource, path: KeyPath, value: ConfigMap): readonly Splice[] {
  const { text, eol } = source;
  const fragments = fragmentsOf(source.sites, path);
  const whole = fragments.find((site) => isAt(site.path, path)) ?? fragments[0];
  if (whole === undefined) return [];
  const others = removeAll(
    source,
    fragments.filter((site) => site !== whole),
  );
  if (whole.kind === 'element') return [{ ...rangeOf(whole.node), text: inlineText(value) }];
  if (whole.kind === 'pair') {
    const key = isAt(whole.path, path) ? [] : [{ ...rangeOf(whole.node.key), text: keyTextOf(source, whole, path) }];
    return [...others, ...key, { ...rangeOf(whole.node.value), text: inlineText(value) }];
  }
  const { node } = whole;
  const indent = indentOfLine(text, (node.body[0] ?? node).range[0]);
  const body = linesOf(value).map((line) => indent + line + eol);
  const isHeader = isAt(whole.path, path);
  const header = isHeader ? [] : [`${indentOfLine(text, node.range[0])}[${keysText(path)}]${eol}`];
  const start = isHeader ? nextLine(text, node.range[0]) : lineStart(text, node.range[0]);
  return [...others, { start, end: nextLine(text, node.range[1]), text: [...header, ...body].join('') }];
}

/** The key's text, up to and including the entry's name. */
function keyTextOf({ text }: TomlSource, { base, node }: TomlPair, path: KeyPath): string {
  const last = node.key.keys[path.length - base.length - 1] ?? node.key;
  return text.slice(node.key.range[0], last.range[1]);
}

function set(source: TomlSource, { path, key, value }: Extract<Operation, { kind: 'set' }>): readonly Splice[] {
  const { sites, text, eol } = source;
  const present = sites.find((site) => site.kind === 'pair' && isAt(site.path, [...path, key]));
  if (present?.kind === 'pair') return [{ ...rangeOf(present.node.value), text: String(value) }];

  const fragments = fragmentsOf(sites, path);
  const whole = fragments.find((site) => isAt(site.path, path));
  const pair = pairText(key, value);
  if (whole?.kind === 'table') {
    const last = whole.node.body.at(-1) ?? whole.node;
    return [insertAt(nextLine(text, last.range[1]), indentOfLine(text, last.range[0]) + pair + eol)];
  }
  if (whole) {
    const list = listOf(text, whole.kind === 'pair' ? whole.node.value : whole.node);
    return list ? insertItem(list, { whenEmpty: 'inline', write: () => pair }) : [];
  }
  const dotted = fragments.findLast((site) => site.kind === 'pair');
  if (dotted?.kind === 'pair') {
    const line = `${indentOfLine(text, dotted.node.range[0])}${keyTextOf(source, dotted, path)}.${pair}${eol}`;
    return [insertAt(nextLine(text, dotted.node.range[1]), line)];
  }
  const [part] = fragments;
  const at = part && startOfRemarks(source, part.node.range[0]);
  return at === undefined ? [] : [insertAt(at, `[${keysText(path)}]${eol}${pair}${eol}${eol}`)];
}

function removeAll(source: TomlSource, fragments: readonly TomlSite[]): readonly Splice[] {
  const { text } = source;
  const inBraces = fragments.flatMap((site) => removeFromBraces(text, site) ?? []);
  const lines = fragments.filter((site) => removeFromBraces(text, site) === undefined);
  const ranges = lines.map((site) => ({
    start: startOfRemarks(source, site.node.range[0]),
    end: nextLine(text, site.node.range[1]),
    isTable: site.kind === 'table',
  }));
  return [
    ...inBraces,
    ...joined(text, ranges).map((range) => cut(range.isTable ? withBlankLine(source, range) : range)),
  ];
}

function removeFromBraces(text: string, site: TomlSite): Splice[] | undefined {
  if (site.kind === 'table') return undefined;
  const holder = site.kind === 'element' ? site.array : site.node.parent;
  const list = holder.type === 'TOMLInlineTable' || holder.type === 'TOMLArray' ? listOf(text, holder) : undefined;
  return (
    list &&
    removeItem(
      list,
      list.items.findIndex(({ start }) => start === site.node.range[0]),
    )
  );
}

interface LineRange extends Range {
  readonly isTable: boolean;
}

/** Joins ranges that follow each other, with the blank lines between them. */
function joined(text: string, ranges: readonly LineRange[]): readonly LineRange[] {
  const done: LineRange[] = [];
  for (const range of ranges) {
    const before = done.at(-1);
    const follows = before !== undefined && text.slice(before.end, range.start).trim() === '';
    if (follows) done.pop();
    done.push(follows ? { start: before.start, end: range.end, isTable: before.isTable || range.isTable } : range);
  }
  return done;
}

/** The blank line above a table is removed with it; for the first table, the one below. */
function withBlankLine({ text, commentLines }: TomlSource, { start, end }: Range): Range {
  const isLast = text.slice(end).trim() === '';
  if (start === 0) return { start, end: !isLast && isBlankLine(text, end) ? nextLine(text, end) : end };
  const above = lineStart(text, start - 1);
  // Without the blank line, a comment above would stand directly over the next table.
  const isSafe = isLast || isBlankLine(text, end) || !commentLines.has(lineStart(text, above - 1));
  return { start: isBlankLine(text, above) && isSafe ? above : start, end };
}

/** Comments directly above a table or pair belong to it. */
function startOfRemarks({ text, commentLines }: TomlSource, at: number): number {
  let start = lineStart(text, at);
  while (start > 0 && commentLines.has(lineStart(text, start - 1))) start = lineStart(text, start - 1);
  return start;
}

/** Comments directly below a table or pair belong to it, unless something else follows them directly. */
function endOfRemarks({ text, commentLines }: TomlSource, { range }: AST.TOMLNode): number {
  const end = nextLine(text, range[1]);
  let after = end;
  while (commentLines.has(after)) after = nextLine(text, after);
  return isBlankLine(text, after) ? after : end;
}

/** The position before the blank lines at the end of the file. */
const endOfWriting = (text: string) => (text.trim() === '' ? 0 : nextLine(text, text.trimEnd().length));

function listOf(text: string, node: AST.TOMLNode): CommaList | undefined {
  if (node.type !== 'TOMLInlineTable' && node.type !== 'TOMLArray') return undefined;
  const items: readonly AST.TOMLNode[] = node.type === 'TOMLArray' ? node.elements : node.body;
  const { start, end } = rangeOf(node);
  return { text, inside: { start: start + 1, end: end - 1 }, items: items.map(rangeOf), comments: 'hash' };
}

const rangeOf = ({ range: [start, end] }: { readonly range: AST.Range }): Range => ({ start, end });
