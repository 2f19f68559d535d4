// Owns parsing JSON, also with comments and trailing commas: text in, a value and positions out.

import { promisify } from 'node:util';
import type { ParseError, ParseErrorCode } from 'jsonc-parser';
import { parseJson as parseStrictly } from '../../kernel/json.ts';
import {
  createDocument,
  DEEPEST_NESTING,
  failed,
  measure,
  type ParsedDocument,
  Positions,
  tooDeep,
} from './document.ts';

/** The strict parser is tried first: it is the fastest, and enough for most files. */
export async function parseJson(written: string, { isStrict = false } = {}): Promise<ParsedDocument> {
  const text = written.replace(/^\uFEFF/, '');
  const strict = parseStrictly(text);
  if (!strict.ok) return isStrict ? failed(text, { line: 1, column: 1 }, 'it is not JSON') : parseWithComments(text);
  const { depth, keys } = measure(strict.value);
  if (depth > DEEPEST_NESTING) return tooDeep(text);
  return documentOf(text, strict.value, (await countKeys(text)) > keys);
}

async function parseWithComments(text: string): Promise<ParsedDocument> {
  const { parse, createScanner } = await import('jsonc-parser');
  if (isTooDeep(createScanner(text, true))) return tooDeep(text);
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [first] = errors;
  if (first)
    return failed(text, positionAt(text, first.offset), lookalike(text, first) ?? (await wordsFor(first.error)));
  return documentOf(text, value, true);
}

function documentOf(text: string, value: unknown, mayRepeat: boolean): ParsedDocument {
  return { ok: true, document: createDocument({ text, value, mayRepeat, index: () => locateAll(text) }) };
}

async function locateAll(text: string): Promise<Positions> {
  const { visit } = await import('jsonc-parser');
  const positions = new Positions();
  type VisitedAt = [offset: number, length: number, line: number, column: number, path: () => (string | number)[]];
  const addPlace = (...[, , line, column, path]: VisitedAt) =>
    positions.add(path(), { line: line + 1, column: column + 1 });
  visit(
    text,
    {
      onObjectProperty: (key, ...[, , line, column, path]: VisitedAt) =>
        positions.addKey([...path(), key], { line: line + 1, column: column + 1 }),
      onObjectBegin: (...where) => addPlace(...where),
      onArrayBegin: (...where) => addPlace(...where),
      onLiteralValue: (_value, ...where) => addPlace(...where),
    },
    { allowTrailingComma: true, allowEmptyContent: true },
  );
  return positions;
}

/** Counts the keys in the text, repeated ones too, which the parsed value no longer has. For strict JSON only. */
async function countKeys(text: string): Promise<number> {
  let count = 0;
  let paused = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    at = endOfString(text, at);
    while (/\s/.test(text.charAt(at))) at++;
    if (text.charAt(at) === ':') count++;
    if (at - paused < SLICE_CHARS) continue;
    paused = at;
    await nextTurn();
  }
  return count;
}

/** Looking at each character of a lock of ten megabytes takes a while; the host's other work goes on meanwhile. */
const SLICE_CHARS = 512 * 1024;
const nextTurn = promisify(setImmediate);

function endOfString(text: string, open: number): number {
  let at = open + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

interface Scanner {
  scan(): number;
}

// The scanner's own names are a `const enum`, which does not exist at run time.
const OPENING = [1, 3];
const CLOSING = [2, 4];
const END = 17;

/** Counts brackets by token, because the tolerant parser recurses and a hostile file could end the process. */
function isTooDeep(scanner: Scanner): boolean {
  let depth = 0;
  for (let token = scanner.scan(); token !== END; token = scanner.scan()) {
    if (OPENING.includes(token)) depth++;
    if (CLOSING.includes(token)) depth--;
    if (depth > DEEPEST_NESTING) return true;
  }
  return false;
}

async function wordsFor(code: ParseErrorCode): Promise<string> {
  const { printParseErrorCode } = await import('jsonc-parser');
  return words[printParseErrorCode(code)] ?? 'this is not JSON';
}

/** Characters that web pages and word processors put into copied JSON, and that look right but are not. */
function lookalike(text: string, { offset, length }: ParseError): string | undefined {
  const found = text.slice(offset, offset + length);
  if (/^[\u201c\u201d\u201e\u2018\u2019]/.test(found)) return 'a typographic quote stands here instead of "';
  if (found.startsWith("'")) return 'a \' stands here instead of "';
  if (/^[\w$]+\s*:/.test(text.slice(offset))) return 'a key must stand in double quotes';
  if (/^(\.\.\.|\u2026)/.test(found)) return 'three dots stand here for something that was left out';
  return /^[^\S \t\r\n]/.test(found) ? 'a special space stands here instead of an ordinary one' : undefined;
}

const words: Readonly<Record<string, string>> = {
  InvalidSymbol: 'this is neither a string in double quotes nor a number, true, false or null',
  InvalidNumberFormat: 'this is not a number',
  PropertyNameExpected: 'a key in double quotes is missing',
  ValueExpected: 'a value is missing',
  ColonExpected: 'a colon is missing',
  CommaExpected: 'a comma is missing before this',
  CloseBraceExpected: 'a closing } is missing',
  CloseBracketExpected: 'a closing ] is missing',
  EndOfFileExpected: 'the file should have ended before this; all of it must stand between one { and one }',
  InvalidCommentToken: 'a comment cannot stand here',
  UnexpectedEndOfComment: 'a comment is not closed',
  UnexpectedEndOfString: 'a string is not closed',
  UnexpectedEndOfNumber: 'a number is not complete',
  InvalidUnicode: 'a \\u needs four hexadecimal digits',
  InvalidEscapeCharacter: 'a backslash is followed by a character that it cannot escape; write \\\\ for a backslash',
  InvalidCharacter: 'a string holds a control character',
};

function positionAt(text: string, offset: number) {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - (before.lastIndexOf('\n') + 1) + 1 };
}
