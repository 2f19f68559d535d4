// Owns finding tools of the catalog by words: an index that follows the catalog, made when somebody first searches.

import { type ServerName, toolKey } from '../../model/names.ts';
import type { Tool } from '../../model/tool.ts';
import type { CatalogSnapshot } from '../snapshot.ts';
import { ToolIndex } from './tool-index.ts';

export interface SearchOptions {
  readonly limit?: number;
  readonly isSeen?: (tool: Tool) => boolean;
}

export interface Hit {
  readonly tool: Tool;
  readonly score: number;
}

export class SearchWindow {
  readonly #index = new ToolIndex();
  #indexed = new Map<ServerName, readonly Tool[]>();
  #tools = new Map<string, Tool>();
  #of: CatalogSnapshot | undefined;

  /** The best first. */
  search(snapshot: CatalogSnapshot, query: string, { limit, isSeen = () => true }: SearchOptions): readonly Hit[] {
    if (this.#of !== snapshot) this.#follow(snapshot);
    const found = this.#index.search(query, {
      isSeen: (key) => {
        const tool = this.#tools.get(key);
        return tool !== undefined && isSeen(tool);
      },
      ...(limit !== undefined && { limit }),
    });
    return found.flatMap(({ key, score }) => {
      const tool = this.#tools.get(key);
      return tool ? [{ tool, score }] : [];
    });
  }

  /** Words that tools do use, close to those of a query that none of them uses. */
  nearestWords(snapshot: CatalogSnapshot, query: string): readonly string[] {
    if (this.#of !== snapshot) this.#follow(snapshot);
    return this.#index.missing(query).flatMap(({ near }) => near);
  }

  /** Only the slices of servers whose definitions are others now are read again. */
  #follow(snapshot: CatalogSnapshot): void {
    const slices = new Map<ServerName, Tool[]>();
    for (const tool of snapshot.tools) {
      const slice = slices.get(tool.id.server);
      if (slice) slice.push(tool);
      else slices.set(tool.id.server, [tool]);
    }
    for (const server of this.#indexed.keys()) if (!slices.has(server)) this.#index.replace(server, []);
    for (const [server, slice] of slices) {
      if (!isSame(slice, this.#indexed.get(server))) this.#index.replace(server, slice.map(findable));
    }
    this.#indexed = slices;
    this.#tools = new Map(snapshot.tools.map((tool) => [toolKey(tool.id), tool]));
    this.#of = snapshot;
  }
}

function isSame(slice: readonly Tool[], before: readonly Tool[] | undefined): boolean {
  return slice.length === before?.length && slice.every(({ definition }, at) => definition === before[at]?.definition);
}

function findable({ id, definition }: Tool) {
  const { title, description = '', inputSchema } = definition;
  const said = { server: id.server, name: id.tool, description, inputSchema };
  return { key: toolKey(id), ...said, ...(title !== undefined && { title }) };
}
