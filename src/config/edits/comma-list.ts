// Owns adding and removing items of a comma-separated list between brackets, in JSON and TOML: commas come and go with their
// items, and a comment stays with the item it is about.

import {
  cut,
  endOfInk,
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

export interface CommaList {
  readonly text: string;
  /** The range between the brackets. */
  readonly inside: Range;
  readonly items: readonly Range[];
  readonly comments: 'slashes' | 'hash';
}

/** The layout of a new item, which follows its neighbors. */
export type Layout =
  | { readonly kind: 'lines'; readonly indent: string; readonly unit: string; readonly eol: string }
  | { readonly kind: 'inline'; readonly bracket: '' | ' '; readonly gap: '' | ' ' };

export interface Insertion {
  readonly whenEmpty: Layout['kind'];
  readonly write: (layout: Layout) => string;
}

export function insertItem(list: CommaList, { whenEmpty, write }: Insertion): Splice[] {
  const { text, inside, items } = list;
  const last = items.at(-1);
  const rest = tokensIn(list, { start: last?.end ?? inside.start, end: inside.end });
  const final = rest.at(-1);
  const end = final?.end ?? last?.end ?? inside.start;
  const hasComma = rest.some(isComma);
  const layout = layoutOf(list, whenEmpty, final);
  const item = write(layout) + (hasComma ? ',' : '');
  const comma = last && !hasComma ? [insertAt(last.end, ',')] : [];
  const space = text.slice(end, inside.end);
  if (layout.kind === 'inline') {
    const closing = last || space !== '' ? '' : layout.bracket;
    return [...comma, insertAt(end, (last ? layout.gap : layout.bracket) + item + closing)];
  }
  const { eol, indent } = layout;
  // A comment at the end of the list is not about the new item: a blank line keeps them apart.
  const apart = final && isOnOwnLine(text, final) ? eol : '';
  const [onLine = ''] = /^[ \t]*(?=\r?\n)/.exec(space) ?? [];
  if (last || space.includes('\n')) return [...comma, insertAt(end + onLine.length, apart + eol + indent + item)];
  const closing = eol + indentOfLine(text, inside.start);
  return [...comma, { start: end, end: inside.end, text: apart + eol + indent + item + closing }];
}

function layoutOf(list: CommaList, whenEmpty: Layout['kind'], final: Token | undefined): Layout {
  const { text, inside, items } = list;
  const last = items.at(-1);
  const outer = indentOfLine(text, inside.start);
  const own = last && indentBefore(text, last.start);
  const isOwnLine = own !== undefined && lineStart(text, last?.start ?? 0) > inside.start;
  // An item after a line comment must begin a new line, or it would be part of the comment.
  const mustBreak = final !== undefined && isLineComment(text, final);
  if (!isOwnLine && !mustBreak && (last || whenEmpty === 'inline')) return inlineLayout(list);
  const deeper = own?.startsWith(outer) ? own.slice(outer.length) : '';
  const unit = deeper === '' ? unitOf(text) : deeper;
  const indent = isOwnLine && own !== undefined ? own : outer + unit;
  return { kind: 'lines', indent, unit, eol: eolAt(text, final?.end ?? last?.end ?? inside.start) };
}

function inlineLayout({ text, inside, comments }: CommaList): Layout {
  const isEmpty = inside.start === inside.end;
  const padsBraces = comments === 'hash' || text.includes('{ ');
  const isPadded = isEmpty ? text[inside.start - 1] === '{' && padsBraces : /\s/.test(text.charAt(inside.start));
  return { kind: 'inline', bracket: isPadded ? ' ' : '', gap: /[:,=] /.test(text) ? ' ' : '' };
}

export const unitOf = (text: string) => /^([ \t]+)"/m.exec(text)?.[1] ?? '  ';

/** Removes the item, its comma, the comments directly above it, and the rest of its line. */
export function removeItem(list: CommaList, at: number): Splice[] {
  const { text, inside, items } = list;
  const [previous, item, next] = [items[at - 1], items[at], items[at + 1]];
  if (item === undefined) return [];
  const before = tokensIn(list, { start: previous?.end ?? inside.start, end: item.start });
  const after = tokensIn(list, { start: item.end, end: next?.start ?? inside.end });
  const comma = after.find(isComma);
  const body = { start: item.start, end: comma?.end ?? item.end };
  // A last item without a comma takes the comma of the item before, which is then the last.
  const spare = next || comma ? [] : before.filter(isComma).map(cut);

  const surroundings = { before, after, isLast: !next };
  const lines = wholeLines(text, body, surroundings);
  const gone = lines ?? body;
  const leavesNothing = [...before, ...after].every((token) => isComma(token) || isWithin(token, gone));
  if (!previous && !next && leavesNothing) return [cut(inside)];
  return [...spare, cut(lines ?? stretched(text, body, surroundings))];
}

interface ItemSurroundings {
  readonly before: readonly Token[];
  readonly after: readonly Token[];
  readonly isLast: boolean;
}

/** `undefined`: the item shares a line with something else. */
function wholeLines(text: string, body: Range, { before, after, isLast }: ItemSurroundings): Range | undefined {
  if (indentBefore(text, body.start) === undefined) return undefined;
  const start = startOfRemarks(text, body.start, before);
  let end = body.end;
  for (const token of after) {
    if (token.start >= end && /^[ \t]*$/.test(text.slice(end, token.start))) end = token.end;
  }
  if (!isBlankLine(text, end) || !text.includes('\n', end)) return undefined;
  const below = nextLine(text, end);
  // A blank line above is removed too, unless a comment above it would then stand directly over the next item.
  const above = lineStart(text, start - 1);
  const remark = before.findLast((token) => token.end <= above);
  const isSafe = isLast || isBlankLine(text, below) || !remark || !isOnOwnLine(text, remark);
  return { start: isBlankLine(text, above) && isSafe ? above : start, end: below };
}

/** Comments directly above an item belong to it. */
function startOfRemarks(text: string, at: number, before: readonly Token[]): number {
  let start = lineStart(text, at);
  for (const token of before.toReversed()) {
    const isDirectlyAbove = /^[ \t]*\r?\n$/.test(text.slice(token.end, start));
    if (!isDirectlyAbove || !isOnOwnLine(text, token)) break;
    start = lineStart(text, token.start);
  }
  return start;
}

const isOnOwnLine = (text: string, token: Token) => !isComma(token) && indentBefore(text, token.start) !== undefined;

/** The range with the space that would be left over. */
function stretched(text: string, { start, end }: Range, { before, isLast }: ItemSurroundings): Range {
  const final = before.at(-1);
  const isBroken = final !== undefined && isLineComment(text, final);
  const endsLine = /^[ \t]*\r?\n/.test(text.slice(end));
  if ((isLast && !isBroken) || (endsLine && indentBefore(text, start) === undefined))
    return { start: endOfInk(text, start), end };
  return { start, end: end + (/^[ \t]*/.exec(text.slice(end))?.[0].length ?? 0) };
}

interface Token extends Range {
  readonly kind: 'comma' | 'comment';
}

const patterns = {
  slashes: /\/\/[^\r\n]*|\/\*[\s\S]*?\*\/|,/g,
  hash: /#[^\r\n]*|,/g,
};

/** Between two items there is nothing but space, comments and commas. */
function tokensIn({ text, comments }: Pick<CommaList, 'text' | 'comments'>, { start, end }: Range): Token[] {
  return [...text.slice(start, end).matchAll(patterns[comments])].map(({ 0: found, index }) => ({
    kind: found === ',' ? 'comma' : 'comment',
    start: start + index,
    end: start + index + found.length,
  }));
}

const isComma = ({ kind }: Token) => kind === 'comma';
const isWithin = (inner: Range, outer: Range) => inner.start >= outer.start && inner.end <= outer.end;
const isLineComment = (text: string, token: Token) => !isComma(token) && !text.startsWith('/*', token.start);
