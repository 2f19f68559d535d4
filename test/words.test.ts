// Owns the rules of house-style.md on names and comments, and on which files have a unit test, so that none of it slips back.
// Each rule is first shown to find a made-up offender, and only then trusted on src. A pinned number may only be lowered.

import { posix } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { importedFile, nodesOf, nodesWithin, parseSource, readSources, type Source } from './sources.ts';

/** Exported type names that still exist twice. Take a name out when it is unique; add none. */
const doubleNames: readonly string[] = [];

/** File names that end in "ing" and are right: each is the field's own noun, not an activity. */
const nouns: Readonly<Record<string, string>> = {
  'naming.ts': 'assigns the names of tools; "naming" is the term for it',
  'listing.ts': "one server's list of tools, fetched and kept fresh",
  'framing.ts': 'message framing, as in every wire protocol',
  'ring.ts': 'a ring buffer',
  'testing.ts': 'the entry point plexus/testing',
};

/** File names that are still gerunds. Take a name out when it is gone; add none. */
const gerundsLeft: readonly string[] = [];

/** Comments of src that open with a pronoun in place of their subject. */
const pinnedPronounComments = 77;

/** Files of src with more than 40 lines that no unit test imports. */
const pinnedUntestedFiles = 157;

/** Gives one line per offender. */
type Finder = (sources: readonly Source[]) => string[];

const namesExportedTwice: Finder = (sources) => {
  const places = new Map<string, string[]>();
  for (const source of sources)
    for (const name of exportedTypes(source)) places.set(name, [...(places.get(name) ?? []), source.path]);
  return [...places].filter(([, paths]) => paths.length > 1).map(([name, paths]) => `${name}: ${paths.join(', ')}`);
};

/** The types, interfaces and classes that a file declares and exports; a re-export is the same type and does not count. */
function exportedTypes(source: Source): ReadonlySet<string> {
  const { statements } = parseSource(source);
  const declared = statements.filter(isTypeDeclaration);
  const listed = statements
    .filter((statement) => ts.isExportDeclaration(statement) && !statement.moduleSpecifier)
    .flatMap((statement) => nodesWithin(statement).filter(ts.isExportSpecifier))
    .map(({ propertyName, name }) => (propertyName ?? name).text);
  const exported = declared.filter(
    ({ name, modifiers }) =>
      modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) || listed.includes(name?.text ?? ''),
  );
  return new Set(exported.flatMap(({ name }) => name?.text ?? []));
}

const isTypeDeclaration = (node: ts.Node) =>
  ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isClassDeclaration(node);

const gerundFiles: Finder = (sources) =>
  sources.map(({ path }) => path).filter((path) => /ing\.ts$/.test(path) && nouns[posix.basename(path)] === undefined);

const PRONOUN = /^(?:who|whoever|whose|whom|nobody|somebody|what|where)\b/i;
/** Looking for comments is slow, so it is done only in files that may have such a one. */
const MAY_HAVE_PRONOUN = /[/*]\s*(?:who|nobody|somebody|what|where)/i;

const pronounComments: Finder = (sources) =>
  sources.flatMap((source) =>
    (MAY_HAVE_PRONOUN.test(source.text) ? commentsOf(source) : [])
      .filter(({ text }) => PRONOUN.test(text))
      .map(({ line, text }) => `${source.path}:${line} ${text.slice(0, 80)}`),
  );

interface Comment {
  readonly line: number;
  /** Without the marks around it; the lines of one comment are joined. */
  readonly text: string;
}

/** Consecutive `//` lines are one comment; one behind code is a comment of its own. */
function commentsOf(source: Source): readonly Comment[] {
  const file = parseSource(source);
  const lineAt = (position: number) => file.getLineAndCharacterOfPosition(position).line + 1;
  const ranges = new Map<number, ts.CommentRange>();
  const visit = (node: ts.Node): void => {
    const leading = ts.getLeadingCommentRanges(source.text, node.getFullStart()) ?? [];
    const trailing = ts.getTrailingCommentRanges(source.text, node.getEnd()) ?? [];
    for (const range of [...leading, ...trailing]) ranges.set(range.pos, range);
    for (const child of node.getChildren(file)) visit(child);
  };
  visit(file);
  const comments: (Comment & { readonly end: number; readonly isLine: boolean })[] = [];
  for (const { pos, end, kind } of [...ranges.values()].sort((a, b) => a.pos - b.pos)) {
    const isBehindCode = source.text.slice(source.text.lastIndexOf('\n', pos) + 1, pos).trim() !== '';
    const isLine = kind === ts.SyntaxKind.SingleLineCommentTrivia && !isBehindCode;
    const text = source.text
      .slice(pos, end)
      .replace(/^\/\*\*?|\*\/$|^\/\/|^\s*\*(?!\/)/gm, '')
      .replace(/\s+/g, ' ')
      .trim();
    const previous = comments.at(-1);
    if (isLine && previous?.isLine && previous.end + 1 === lineAt(pos))
      comments.splice(-1, 1, { ...previous, text: `${previous.text} ${text}`, end: lineAt(end) });
    else comments.push({ line: lineAt(pos), text, end: lineAt(end), isLine });
  }
  return comments;
}

/** An import of nothing but types runs no line of a file, so it does not count; a file of nothing but types has none to run. */
function untestedFiles(sources: readonly Source[], tests: readonly Source[]): string[] {
  const imported = new Set(
    tests.flatMap((each) =>
      nodesOf(each).flatMap((node) => (isTypeImport(node) ? [] : (importedFile(node, each) ?? []))),
    ),
  );
  return sources
    .filter((source) => source.text.trimEnd().split('\n').length > 40 && !imported.has(source.path) && hasCode(source))
    .map(({ path }) => path);
}

const hasCode = (source: Source) =>
  parseSource(source).statements.some(
    (statement) =>
      !(
        ts.isImportDeclaration(statement) ||
        ts.isExportDeclaration(statement) ||
        ts.isInterfaceDeclaration(statement) ||
        ts.isTypeAliasDeclaration(statement)
      ),
  );

function isTypeImport(node: ts.Node): boolean {
  if (ts.isImportTypeNode(node)) return true;
  if (!ts.isImportDeclaration(node)) return false;
  const bindings = node.importClause?.namedBindings;
  if (node.importClause?.isTypeOnly) return true;
  return (
    bindings !== undefined && ts.isNamedImports(bindings) && bindings.elements.every(({ isTypeOnly }) => isTypeOnly)
  );
}

const files = (texts: Readonly<Record<string, string>>): readonly Source[] =>
  Object.entries(texts).map(([path, text]) => ({ path, text }));

describe('no exported type, interface or class has the name of another', () => {
  test('finds one of each kind, and no re-export', () => {
    const a =
      'export interface A {} export type B = 1; export class C {} interface D {} export { type D }; type E = 1;';
    const b = `export type A = 1; export interface B {} export type C = 1; export type D = 1; export type E = 1;`;
    const c = `export type { A } from './a.ts'; type B = 2; export const C = 1;`;
    const found = namesExportedTwice(files({ 'src/a.ts': a, 'src/b.ts': b, 'src/c.ts': c }));
    expect(found).toEqual(['A', 'B', 'C', 'D'].map((name) => `${name}: src/a.ts, src/b.ts`));
  });
  test('in src', () => {
    const found = namesExportedTwice(readSources());
    expect(found.filter((line) => !doubleNames.includes(line.split(':')[0] ?? ''))).toEqual([]);
  });
});

describe('no file is named by a gerund', () => {
  test('finds them, also at the end of a longer name', () => {
    const paths = ['src/finding.ts', 'src/call/batch-quoting.ts', 'src/catalog/naming.ts', 'src/shaping/text.ts'];
    expect(gerundFiles(paths.map((path) => ({ path, text: '' })))).toEqual(paths.slice(0, 2));
  });
  test('in src', () => expect(gerundFiles(readSources()).filter((path) => !gerundsLeft.includes(path))).toEqual([]));
});

describe('a comment opens with its subject, not with a pronoun', () => {
  test('finds every kind of comment, and nothing in texts', () => {
    const text = [
      '// Owns what it owns.',
      '// Who follows in the same comment does not count.',
      "const a = '// What'; // What stands behind code",
      '/** Whoever reads this. */',
      'function b() {',
      '  // Nobody is here.',
      '}',
      '/**',
      ' * Where it is.',
      ' */',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is source text to be parsed
      'const c = `// Somebody ${/* Somebody */ 1} // Who`;',
      '/** A file that knows what it owns. Whatever, whichever: fine. */',
    ].join('\n');
    expect(pronounComments(files({ 'src/a.ts': text })).map((line) => line.split(' ', 2).join(' '))).toEqual([
      'src/a.ts:3 What',
      'src/a.ts:4 Whoever',
      'src/a.ts:6 Nobody',
      'src/a.ts:8 Where',
      'src/a.ts:11 Somebody',
    ]);
  });
  test(`in src, at most ${pinnedPronounComments} do not`, () => {
    const found = pronounComments(readSources());
    expect(found.length, found.join('\n')).toBeLessThanOrEqual(pinnedPronounComments);
  });
});

describe('a file of more than 40 lines has a unit test that imports it', () => {
  test('finds those that are not imported, or only for their types', () => {
    const long = 'run();\n'.repeat(41);
    const types = 'export type { A } from "./a.ts"; interface B {}\n'.repeat(41);
    const sources = {
      'src/a.ts': long,
      'src/b.ts': long,
      'src/c.ts': long,
      'src/d.ts': 'run();\n'.repeat(40),
      'src/types.ts': types,
    };
    const tests = {
      'test/unit/a.test.ts': `import { a, type B } from '../../src/a.ts';`,
      'test/unit/b.test.ts': `import type { B } from '../../src/b.ts'; import { type B as C } from '../../src/b.ts';`,
    };
    expect(untestedFiles(files(sources), files(tests))).toEqual(['src/b.ts', 'src/c.ts']);
  });
  test(`in src, all but ${pinnedUntestedFiles}`, () => {
    // Unit tests of calls start their runtime with this helper, and import it in place of `src/runtime.ts`.
    const helper = readSources('test').filter(({ path }) => path === 'test/runtime.ts');
    const tests = [...readSources('test/unit'), ...readSources('test/frameworks'), ...helper];
    const found = untestedFiles(readSources(), tests);
    expect(found.length, found.join('\n')).toBeLessThanOrEqual(pinnedUntestedFiles);
  });
});
