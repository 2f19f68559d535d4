// Owns the result of parsing a file in any format: a value, and the positions of its parts. Positions cost a second parse, so
// they are made only when a diagnostic needs one.

import type { KeyPath } from '../config-map.ts';

/** Both count from 1, as editors do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface Document {
  /** `undefined`: the file is empty. */
  readonly value: unknown;
  /** Where the part at `path` begins, or else the closest part around it. */
  locate(path: KeyPath): Promise<Position | undefined>;
  /** Keys that one map holds twice. The last one counts. */
  repeated(): Promise<readonly KeyPath[]>;
}

export interface SyntaxProblem extends Position {
  readonly message: string;
  /** The line of the problem, shortened around the column. */
  readonly excerpt: string;
}

export type ParsedDocument =
  | { readonly ok: true; readonly document: Document }
  | { readonly ok: false; readonly problem: SyntaxProblem };

/** Deeper than any configuration, and shallow enough for every recursive reader that follows. */
export const DEEPEST_NESTING = 100;

/** The second parse takes seconds for a megabyte, so larger files get no line numbers. */
const LARGEST_LOCATED_CHARS = 256 * 1024;

export class Positions {
  readonly repeated: KeyPath[] = [];
  readonly #repeated = new Set<string>();
  readonly #known = new Map<string, Position>();

  add(path: KeyPath, position: Position): void {
    const key = JSON.stringify(path);
    if (!this.#known.has(key)) this.#known.set(key, position);
  }

  /** For a repeated key keeps the later position, as parsers keep the later value, and records the repetition. */
  addKey(path: KeyPath, position: Position): void {
    const key = JSON.stringify(path);
    if (this.#known.has(key) && !this.#isInsideRepeated(path)) {
      this.#repeated.add(key);
      this.repeated.push(path);
    }
    this.#known.set(key, position);
  }

  #isInsideRepeated(path: KeyPath): boolean {
    return path.some((_, length) => this.#repeated.has(JSON.stringify(path.slice(0, length))));
  }

  find(path: KeyPath): Position | undefined {
    for (let length = path.length; length >= 0; length--) {
      const position = this.#known.get(JSON.stringify(path.slice(0, length)));
      if (position) return position;
    }
    return undefined;
  }
}

export interface DocumentDeps {
  readonly text: string;
  readonly value: unknown;
  readonly mayRepeat: boolean;
  readonly index: () => Promise<Positions>;
}

export function createDocument({ text, value, mayRepeat, index }: DocumentDeps): Document {
  let positions: Promise<Positions> | undefined;
  const located = (): Promise<Positions> => {
    positions ??= text.length > LARGEST_LOCATED_CHARS ? Promise.resolve(new Positions()) : index();
    return positions;
  };
  return {
    value,
    locate: async (path) => (await located()).find(path),
    repeated: async () => (mayRepeat ? (await located()).repeated : []),
  };
}

/** Stops once the value is too deep: it may be nested a million times. */
export function measure(value: unknown): { readonly depth: number; readonly keys: number } {
  let keys = 0;
  const depthOf = (part: object, level: number): number => {
    let depth = level;
    if (level > DEEPEST_NESTING) return depth;
    const isList = Array.isArray(part);
    for (const child of isList ? part : Object.values(part)) {
      if (!isList) keys++;
      if (typeof child === 'object' && child !== null) depth = Math.max(depth, depthOf(child, level + 1));
    }
    return depth;
  };
  return { depth: typeof value === 'object' && value !== null ? depthOf(value, 1) : 0, keys };
}

export function tooDeep(text: string): ParsedDocument {
  return failed(text, { line: 1, column: 1 }, `more than ${DEEPEST_NESTING} maps and lists lie inside each other`);
}

export function failed(text: string, position: Position, message: string): ParsedDocument {
  return { ok: false, problem: { ...position, message, excerpt: excerptOf(text, position) } };
}

const EXCERPT_CHARS = 80;

function excerptOf(text: string, { line, column }: Position): string {
  let start = 0;
  for (let passed = 1; passed < line; passed++) start = text.indexOf('\n', start) + 1;
  const end = text.indexOf('\n', start);
  const whole = text.slice(start, end < 0 ? undefined : end);
  const from = Math.max(0, column - 1 - EXCERPT_CHARS / 2);
  const before = Math.max(0, from - AROUND_CHARS);
  const shown = masked(whole.slice(before, from + EXCERPT_CHARS + AROUND_CHARS)).slice(from - before);
  return shown.slice(0, EXCERPT_CHARS).replace(/\0+/g, '…').trim();
}

/** Masking looks at so many characters on both sides of the excerpt, so that cutting cannot hide that a text is a secret. */
const AROUND_CHARS = 200;

/** Diagnostics end up in logs, so texts that may be secrets are masked, character for character: all else keeps its column. */
function masked(line: string): string {
  const mask = (secret: string) => '\0'.repeat(secret.length);
  return line
    .replace(/(?<=(?:key|token|secret|passw\w*|auth\w*|credential\w*)["']?\s*[:=]\s*["'])[^"']+/gi, mask)
    .replace(/(?=[\w+=-]*[a-z])(?=[\w+=-]*\d)[\w+=-]{20,}/gi, mask);
}
