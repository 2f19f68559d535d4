// Owns where everything in a TOML file stands: each table, each pair and each element of a list, with its full path.

import type { AST } from 'toml-eslint-parser';
import type { Path } from '../problem.ts';

export interface Table {
  readonly kind: 'table';
  readonly path: Path;
  readonly node: AST.TOMLTable;
}

export interface Pair {
  readonly kind: 'pair';
  readonly path: Path;
  /** The path of what holds it. */
  readonly base: Path;
  readonly node: AST.TOMLKeyValue;
}

export interface Element {
  readonly kind: 'element';
  readonly path: Path;
  readonly base: Path;
  readonly node: AST.TOMLContentNode;
  readonly array: AST.TOMLArray;
}

export type Site = Table | Pair | Element;

/** In the order they are written. */
export function readSites(program: AST.TOMLProgram): readonly Site[] {
  return program.body[0].body.flatMap((node): Site[] => {
    if (node.type === 'TOMLKeyValue') return sitesOfPair(node, []);
    const path = node.resolvedKey;
    return [{ kind: 'table', path, node }, ...node.body.flatMap((pair) => sitesOfPair(pair, path))];
  });
}

function sitesOfPair(node: AST.TOMLKeyValue, base: Path): Site[] {
  const path = [...base, ...node.key.keys.map((key) => (key.type === 'TOMLBare' ? key.name : key.value))];
  return [{ kind: 'pair', path, base, node }, ...sitesInside(node.value, path)];
}

function sitesInside(content: AST.TOMLContentNode, base: Path): Site[] {
  if (content.type === 'TOMLInlineTable') return content.body.flatMap((pair) => sitesOfPair(pair, base));
  if (content.type !== 'TOMLArray') return [];
  return content.elements.flatMap((node, at): Site[] => {
    const path = [...base, at];
    return [{ kind: 'element', path, base, node, array: content }, ...sitesInside(node, path)];
  });
}

/** The places that hold what is at `path`, whole or in part, and nothing else. What lies inside one of them comes with it. */
export function fragmentsOf(sites: readonly Site[], path: Path): readonly Site[] {
  return sites.filter((site) => startsWith(site.path, path) && (site.kind === 'table' || !startsWith(site.base, path)));
}

export const startsWith = (path: Path, beginning: Path) => beginning.every((part, at) => path[at] === part);
export const isAt = (path: Path, other: Path) => path.length === other.length && startsWith(path, other);
