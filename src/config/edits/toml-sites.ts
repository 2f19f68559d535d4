// Owns the places in a TOML text: each table, each pair and each element of a list, with its full path.

import type { AST } from 'toml-eslint-parser';
import type { KeyPath } from '../config-map.ts';

export interface TomlTable {
  readonly kind: 'table';
  readonly path: KeyPath;
  readonly node: AST.TOMLTable;
}

export interface TomlPair {
  readonly kind: 'pair';
  readonly path: KeyPath;
  /** The path of the table that holds the pair. */
  readonly base: KeyPath;
  readonly node: AST.TOMLKeyValue;
}

export interface TomlElement {
  readonly kind: 'element';
  readonly path: KeyPath;
  readonly base: KeyPath;
  readonly node: AST.TOMLContentNode;
  readonly array: AST.TOMLArray;
}

export type TomlSite = TomlTable | TomlPair | TomlElement;

/** In the order of the text. */
export function readSites(program: AST.TOMLProgram): readonly TomlSite[] {
  return program.body[0].body.flatMap((node): TomlSite[] => {
    if (node.type === 'TOMLKeyValue') return sitesOfPair(node, []);
    const path = node.resolvedKey;
    return [{ kind: 'table', path, node }, ...node.body.flatMap((pair) => sitesOfPair(pair, path))];
  });
}

function sitesOfPair(node: AST.TOMLKeyValue, base: KeyPath): TomlSite[] {
  const path = [...base, ...node.key.keys.map((key) => (key.type === 'TOMLBare' ? key.name : key.value))];
  return [{ kind: 'pair', path, base, node }, ...sitesInside(node.value, path)];
}

function sitesInside(content: AST.TOMLContentNode, base: KeyPath): TomlSite[] {
  if (content.type === 'TOMLInlineTable') return content.body.flatMap((pair) => sitesOfPair(pair, base));
  if (content.type !== 'TOMLArray') return [];
  return content.elements.flatMap((node, at): TomlSite[] => {
    const path = [...base, at];
    return [{ kind: 'element', path, base, node, array: content }, ...sitesInside(node, path)];
  });
}

/** The outermost places that hold the value at `path` or parts of it, and nothing else. */
export function fragmentsOf(sites: readonly TomlSite[], path: KeyPath): readonly TomlSite[] {
  return sites.filter((site) => startsWith(site.path, path) && (site.kind === 'table' || !startsWith(site.base, path)));
}

export const startsWith = (path: KeyPath, beginning: KeyPath) => beginning.every((part, at) => path[at] === part);
export const isAt = (path: KeyPath, other: KeyPath) => path.length === other.length && startsWith(path, other);
