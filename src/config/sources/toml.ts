// Owns parsing TOML: text in, a value and positions out.

import { parse, TomlError } from 'smol-toml';
import type { AST } from 'toml-eslint-parser';
import type { KeyPath } from '../config-map.ts';
import {
  createDocument,
  DEEPEST_NESTING,
  failed,
  measure,
  type ParsedDocument,
  Positions,
  tooDeep,
} from './document.ts';

/** TOML is written by hand, so never large; a hostile file of ten megabytes would delay the start for half a minute. */
const LARGEST_CHARS = 1024 * 1024;

export function parseToml(written: string): ParsedDocument {
  const text = written.replace(/^\uFEFF/, '');
  if (text.length > LARGEST_CHARS) {
    return failed(
      text,
      { line: 1, column: 1 },
      `a TOML file may have at most ${LARGEST_CHARS} characters, and this has ${text.length}`,
    );
  }
  let value: Record<string, unknown>;
  try {
    value = parse(text, { maxDepth: DEEPEST_NESTING });
  } catch (error) {
    if (error instanceof TomlError) return failed(text, error, firstLine(error));
    throw error;
  }
  if (hasLongKeys(text) && measure(value).depth > DEEPEST_NESTING) return tooDeep(text);
  const document = createDocument({
    text,
    value: Object.keys(value).length === 0 ? undefined : value,
    mayRepeat: false,
    index: () => locateAll(text),
  });
  return { ok: true, document };
}

/** The parser limits how deep brackets nest, but not how many maps the dots of one key make. */
function hasLongKeys(text: string): boolean {
  let dots = 0;
  let line = -1;
  for (let at = text.indexOf('.'); at >= 0; at = text.indexOf('.', at + 1)) {
    const start = text.lastIndexOf('\n', at);
    dots = start === line ? dots + 1 : 1;
    line = start;
    if (dots > MOST_DOTS) return true;
  }
  return false;
}

const MOST_DOTS = 20;

/** The other lines of the parser's message draw the position, which a diagnostic shows in its own way. */
const firstLine = (error: Error) =>
  error.message
    .split('\n', 1)
    .join('')
    .replace(/^Invalid TOML document: /, '');

async function locateAll(text: string): Promise<Positions> {
  const { parseTOML } = await import('toml-eslint-parser');
  const positions = new Positions();
  try {
    for (const node of parseTOML(text, { tomlVersion: '1.1' }).body[0].body) {
      if (node.type === 'TOMLKeyValue') addPair(positions, node, []);
      else addTable(positions, node);
    }
  } catch (error) {
    // The two parsers differ in rare cases; then the value is known, but its lines are not.
    if (!(error instanceof SyntaxError)) throw error;
  }
  return positions;
}

function addTable(positions: Positions, table: AST.TOMLTable): void {
  addEvery(positions, [], table.resolvedKey, table);
  for (const pair of table.body) addPair(positions, pair, table.resolvedKey);
}

function addPair(positions: Positions, pair: AST.TOMLKeyValue, base: KeyPath): void {
  const keys = pair.key.keys.map((key) => (key.type === 'TOMLBare' ? key.name : key.value));
  addEvery(positions, base, keys, pair);
  addContent(positions, pair.value, [...base, ...keys]);
}

function addContent(positions: Positions, content: AST.TOMLContentNode, path: KeyPath): void {
  if (content.type === 'TOMLInlineTable') for (const pair of content.body) addPair(positions, pair, path);
  if (content.type !== 'TOMLArray') return;
  for (const [at, element] of content.elements.entries()) {
    positions.add([...path, at], positionOf(element));
    addContent(positions, element, [...path, at]);
  }
}

/** `[a.b]` and `a.b = 1` are also the position of `a`, unless an earlier line is. */
function addEvery(positions: Positions, base: KeyPath, keys: KeyPath, node: LocatedNode): void {
  for (let length = 1; length <= keys.length; length++)
    positions.add([...base, ...keys.slice(0, length)], positionOf(node));
}

type LocatedNode = Pick<AST.TOMLNode, 'loc'>;
const positionOf = ({ loc }: LocatedNode) => ({ line: loc.start.line, column: loc.start.column + 1 });
