// Owns the compiled sources that the generated pages are read from, and how a declaration is written in Markdown.

import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const root = fileURLToPath(new URL('../../..', import.meta.url));

export const doors = {
  plexus: 'src/index.ts',
  'plexus/testing': 'src/testing/testing.ts',
  'plexus/ai-sdk': 'src/adapters/ai-sdk.ts',
  'plexus/anthropic': 'src/adapters/anthropic.ts',
  'plexus/google': 'src/adapters/google.ts',
  'plexus/langchain': 'src/adapters/langchain.ts',
  'plexus/openai': 'src/adapters/openai.ts',
  'plexus/agent': 'src/agent/agent.ts',
  'plexus/gateway': 'src/gateway/gateway.ts',
  'plexus/openai-agents': 'src/adapters/openai-agents.ts',
} as const;

export type Door = keyof typeof doors;
export const doorNames = Object.keys(doors) as readonly Door[];

let compiled: ts.Program | undefined;

/** Compiling takes seconds, so all pages share one program. */
export function program(): ts.Program {
  if (compiled) return compiled;
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, root);
  compiled = ts.createProgram(
    Object.values(doors).map((path) => root + path),
    options,
  );
  return compiled;
}

export interface Export {
  /** The symbol of the declaration itself. */
  readonly symbol: ts.Symbol;
  /** It can be imported as a type only. */
  readonly isType: boolean;
}

/** What a door exports, by name. */
export function exportsOf(door: Door): ReadonlyMap<string, Export> {
  const checker = program().getTypeChecker();
  const file = program().getSourceFile(root + doors[door]);
  const module = file && checker.getSymbolAtLocation(file);
  const exported = module ? checker.getExportsOfModule(module) : [];
  return new Map(
    exported.map((symbol) => {
      const original = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      const isType = symbol.declarations?.some(isTypeOnly) || !(original.flags & ts.SymbolFlags.Value);
      return [symbol.name, { symbol: original, isType: isType === true }];
    }),
  );
}

const isTypeOnly = (node: ts.Declaration) =>
  ts.isExportSpecifier(node) && (node.isTypeOnly || node.parent.parent.isTypeOnly);

/** The doc comment of a declaration as one line. */
export function docOf(symbol: ts.Symbol): string {
  return ts
    .displayPartsToString(symbol.getDocumentationComment(program().getTypeChecker()))
    .replace(/\s+/g, ' ')
    .trim();
}

/** Code without its comments, in one line, as it fits into a table. */
export function oneLine(code: string): string {
  return code
    .replace(/\b[A-Z]\w+\b/g, (name) => renamed().get(name) ?? name)
    .replace(/\/\*[\s\S]*?\*\//g, ' ')
    .replace(/\breadonly /g, '')
    .replace(/\s+/g, ' ')
    .replace(/^\| /, '')
    .replace(/([({<[]) \| /g, '$1')
    .replace(/; }/g, ' }')
    .trim();
}

export const inTable = (text: string) => text.replaceAll('|', '\\|');

let renames: ReadonlyMap<string, string> | undefined;

/** Some types have another name outside than in the source. */
function renamed(): ReadonlyMap<string, string> {
  renames ??= new Map([...exportsOf('plexus')].map(([name, { symbol }]) => [symbol.name, name]));
  return renames;
}
