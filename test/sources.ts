// Owns how tests read the source files of this repository: as text, as the nodes of the TypeScript parser, and what they import.

import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import ts from 'typescript';

export interface Source {
  /** From the root of the repository, with slashes: `src/call/pipeline.ts`. */
  readonly path: string;
  readonly text: string;
}

const read = new Map<string, readonly Source[]>();
const parsed = new WeakMap<Source, ts.SourceFile>();

/** Every TypeScript file below a folder of the repository; read once, since many rules look at the same files. */
export function readSources(folder = 'src'): readonly Source[] {
  const sources = read.get(folder) ?? filesBelow(folder);
  read.set(folder, sources);
  return sources;
}

function filesBelow(folder: string): readonly Source[] {
  const root = new URL('../', import.meta.url);
  return readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.ts') && !path.includes('/node_modules/'))
    .map((path) => ({ path, text: readFileSync(new URL(path, root), 'utf8') }));
}

export function parseSource(source: Source): ts.SourceFile {
  const file = parsed.get(source) ?? ts.createSourceFile(source.path, source.text, ts.ScriptTarget.ESNext, true);
  parsed.set(source, file);
  return file;
}

export const nodesOf = (source: Source): ts.Node[] => nodesWithin(parseSource(source));

/** The node itself and everything below it, in order. */
export function nodesWithin(top: ts.Node): ts.Node[] {
  const nodes: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    nodes.push(node);
    ts.forEachChild(node, visit);
  };
  visit(top);
  return nodes;
}

/** The file that an import names, from the root of the repository; `undefined` for a package, for data, and for other nodes. */
export function importedFile(node: ts.Node, { path }: Source): string | undefined {
  const specifier = specifierOf(node);
  if (!specifier?.startsWith('.') || specifier.endsWith('.json')) return undefined;
  return posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts');
}

function specifierOf(node: ts.Node): string | undefined {
  let specifier: ts.Node | undefined;
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) specifier = node.moduleSpecifier;
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) specifier = node.argument.literal;
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) specifier = node.arguments[0];
  return specifier && ts.isStringLiteralLike(specifier) ? specifier.text : undefined;
}
