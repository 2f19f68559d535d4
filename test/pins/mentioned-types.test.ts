// Owns the promise that a host can name every type it meets: each type that the public signatures mention is exported.

import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect } from 'vitest';
import { verifies } from '../verifies.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const entry = `${root}src/index.ts`;

/** Names that a host never needs: parts of exported types that have all their members. */
const allowed: ReadonlySet<string> = new Set([
  'BlockFields',
  'CallCounts',
  'EventType',
  'HostOptions',
  'NotReadyWords',
  'ServerEvent',
]);

/** Types of our own that the declarations of the exported names mention and that are not exported themselves. */
function unexportedTypes(): string[] {
  const config = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root);
  const program = ts.createProgram([entry], { ...options, noEmit: true });
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(entry);
  const door = file && checker.getSymbolAtLocation(file);
  if (door === undefined) throw new Error('src/index.ts was not read');
  const original = (symbol: ts.Symbol) =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const exported = new Set(checker.getExportsOfModule(door).map(original));
  const missing = new Set<string>();
  const look = (node: ts.Node): void => {
    // Bodies and private members are nobody else's business.
    if (ts.isBlock(node) || ts.isPrivateIdentifier(node)) return;
    if (ts.isTypeReferenceNode(node) || ts.isExpressionWithTypeArguments(node)) {
      const name = ts.isTypeReferenceNode(node) ? node.typeName : node.expression;
      const found = checker.getSymbolAtLocation(name);
      const symbol = found && original(found);
      const isOurs = symbol?.declarations?.some((each) => each.getSourceFile().fileName.startsWith(`${root}src/`));
      const isParameter = symbol && symbol.flags & ts.SymbolFlags.TypeParameter;
      if (symbol && isOurs && !isParameter && !exported.has(symbol)) missing.add(symbol.name);
    }
    ts.forEachChild(node, look);
  };
  for (const symbol of exported) {
    for (const declaration of symbol.declarations ?? []) {
      // Of a constant only its type counts: an inferred one mentions nothing.
      if (ts.isVariableDeclaration(declaration)) declaration.type && look(declaration.type);
      else look(declaration);
    }
  }
  return [...missing].filter((name) => !allowed.has(name)).sort();
}

verifies('INT-04', 'every type that a public signature mentions is exported', () => {
  expect(unexportedTypes()).toEqual([]);
});
