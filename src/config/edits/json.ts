// Owns editing JSON text, with comments and trailing commas: text in, text out. Everything else stays as it is, character by
// character; the library's own editor moves comments and reformats neighbors, so only its parser is used.

import { type Node, parseTree } from 'jsonc-parser';
import { unreachable } from '../../kernel/unreachable.ts';
import { type ConfigMap, isMap, type KeyPath } from '../config-map.ts';
import { type CommaList, insertItem, type Layout, removeItem, unitOf } from './comma-list.ts';
import type { Operation } from './plan.ts';
import { applySplices, eolAt, indentBefore, indentOfLine, type Splice } from './splice.ts';

export function editJson(text: string, operation: Operation): string {
  const root = parseTree(text, [], { allowTrailingComma: true, allowEmptyContent: true });
  if (root === undefined) return operation.kind === 'insert' ? beginDocument(text, operation) : text;
  return applySplices(text, splicesFor({ text, root }, operation));
}

interface JsonSource {
  readonly text: string;
  readonly root: Node;
}

function splicesFor(source: JsonSource, operation: Operation): Splice[] {
  switch (operation.kind) {
    case 'insert':
      return insert(source, operation);
    case 'replace': {
      const node = find(source.root, operation.path);
      return node ? [rewritten(source.text, node, operation.value)] : [];
    }
    case 'remove':
      return remove(source, operation.path);
    case 'set': {
      const entry = find(source.root, operation.path);
      const node = entry && find(entry, [operation.key]);
      if (node) return [{ ...rangeOf(node), text: String(operation.value) }];
      return entry ? addTo(source, entry, operation.key, operation.value) : [];
    }
    default:
      return unreachable(operation);
  }
}

function insert(source: JsonSource, { group, key, value }: Extract<Operation, { kind: 'insert' }>): Splice[] {
  const container = find(source.root, group);
  if (container?.children) return addTo(source, container, key, value);
  // Only the group of a file without servers, or without inputs, can be missing or null.
  const first = typeof key === 'number' ? [value] : { [key]: value };
  const holder = find(source.root, group.slice(0, -1)) ?? source.root;
  return container ? [rewritten(source.text, container, first)] : addTo(source, holder, group.at(-1) ?? '', first);
}

function addTo({ text, root }: JsonSource, container: Node, key: string | number, value: unknown): Splice[] {
  const isLong = text.slice(root.offset, root.offset + root.length).includes('\n') || !root.children?.length;
  const label = typeof key === 'string' ? JSON.stringify(key) : undefined;
  return insertItem(listOf(text, container), {
    whenEmpty: isLong ? 'lines' : 'inline',
    write(layout) {
      const colon = layout.kind === 'inline' ? `:${layout.gap}` : ': ';
      return (label === undefined ? '' : label + colon) + written(value, layout);
    },
  });
}

/** Removes a repeated key every time it occurs, the last one first, so that the positions before it stay valid. */
function remove(source: JsonSource, path: KeyPath): Splice[] {
  const { text, root } = source;
  const container = find(root, path.slice(0, -1));
  const key = path.at(-1);
  const children = container?.children ?? [];
  const doomed = [...children.keys()].filter((at) => at === key || keyOf(children[at]) === key);
  const [last] = doomed.slice(-1);
  if (container === undefined || last === undefined) return [];
  if (doomed.length === 1) return removeItem(listOf(text, container), last);
  const shorter = applySplices(text, removeItem(listOf(text, container), last));
  return [{ start: 0, end: text.length, text: editJson(shorter, { kind: 'remove', path }) }];
}

function listOf(text: string, { offset, length, children = [] }: Node): CommaList {
  const inside = { start: offset + 1, end: offset + length - 1 };
  return { text, inside, items: children.map(rangeOf), comments: 'slashes' };
}

const rangeOf = ({ offset, length }: Node) => ({ start: offset, end: offset + length });
const keyOf = (node: Node | undefined): unknown => (node?.type === 'property' ? node.children?.[0]?.value : undefined);

/** Of a repeated key, the last one counts. */
function find(node: Node, [key, ...rest]: KeyPath): Node | undefined {
  if (key === undefined) return node;
  const child =
    typeof key === 'number'
      ? node.children?.[key]
      : node.children?.findLast((each) => keyOf(each) === key)?.children?.[1];
  return child && find(child, rest);
}

function rewritten(text: string, node: Node, value: unknown): Splice {
  const range = rangeOf(node);
  const line = node.parent?.type === 'property' ? node.parent.offset : node.offset;
  const isOwnLine = indentBefore(text, line) !== undefined && text.includes('\n');
  const isLong = text.slice(range.start, range.end).includes('\n');
  const indent = indentOfLine(text, line);
  const layout: Layout =
    isOwnLine || isLong
      ? { kind: 'lines', indent, unit: unitOf(text), eol: eolAt(text, line) }
      : { kind: 'inline', bracket: text[range.start + 1] === ' ' ? ' ' : '', gap: /[:,] /.test(text) ? ' ' : '' };
  return { ...range, text: written(value, layout) };
}

/** Lists of plain values are written on one line, as people write them. */
function written(value: unknown, layout: Layout): string {
  const inline: Layout = layout.kind === 'inline' ? layout : { kind: 'inline', bracket: ' ', gap: ' ' };
  if (Array.isArray(value)) {
    const isPlain = value.every((each) => typeof each !== 'object' || each === null);
    const parts = value.map((each) => written(each, isPlain ? inline : deeper(layout)));
    return isPlain ? `[${parts.join(`,${inline.gap}`)}]` : enclosed('[', parts, ']', layout);
  }
  if (!isMap(value)) return JSON.stringify(value);
  const colon = `:${inline.gap}`;
  const parts = Object.entries(value).map(([key, each]) => JSON.stringify(key) + colon + written(each, deeper(layout)));
  return enclosed('{', parts, '}', layout);
}

const deeper = (layout: Layout): Layout =>
  layout.kind === 'inline' ? layout : { ...layout, indent: layout.indent + layout.unit };

function enclosed(open: string, parts: readonly string[], close: string, layout: Layout): string {
  if (parts.length === 0) return open + close;
  if (layout.kind === 'inline') return open + layout.bracket + parts.join(`,${layout.gap}`) + layout.bracket + close;
  const { eol, indent, unit } = layout;
  return open + parts.map((part) => eol + indent + unit + part).join(',') + eol + indent + close;
}

/** For a file that is empty, or holds only comments. */
function beginDocument(text: string, { group, key, value }: Extract<Operation, { kind: 'insert' }>): string {
  const eol = eolAt(text, 0);
  const content = [...group, key].reduceRight<unknown>((inner, part) => ({ [part]: inner }), value) as ConfigMap;
  const document = written(content, { kind: 'lines', indent: '', unit: '  ', eol }) + eol;
  const comments = text.trim() === '' ? '' : text.replace(/(?<!\n)$/, eol);
  return comments + document;
}
