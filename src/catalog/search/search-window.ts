// Owns searching the catalog by words: an index that is built at the first search and updated as the catalog changes.

import { type ServerName, toolKey } from '../../model/names.ts';
import type { Tool } from '../../model/tool.ts';
import type { CatalogSnapshot } from '../snapshot.ts';
import { type Findable, ToolIndex } from './tool-index.ts';

export interface ToolSearchOptions {
  readonly limit?: number;
  readonly isSeen?: (tool: Tool) => boolean;
}

export interface ToolHit {
  readonly tool: Tool;
  readonly score: number;
}

export class SearchWindow {
  readonly #index = new ToolIndex();
  #indexed = new Map<ServerName, readonly Tool[]>();
  #tools = new Map<string, Tool>();
  #snapshot: CatalogSnapshot | undefined;

  /** The best first. */
  search(
    snapshot: CatalogSnapshot,
    query: string,
    { limit, isSeen = () => true }: ToolSearchOptions,
  ): readonly ToolHit[] {
    if (this.#snapshot !== snapshot) this.#follow(snapshot);
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

  /** For a query whose words no tool uses: close words that tools do use. */
  nearestWords(snapshot: CatalogSnapshot, query: string): readonly string[] {
    if (this.#snapshot !== snapshot) this.#follow(snapshot);
    return this.#index.missing(query).flatMap(({ near }) => near);
  }

  /** Indexes only the servers whose definitions changed. */
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
    this.#snapshot = snapshot;
  }
}

function isSame(slice: readonly Tool[], before: readonly Tool[] | undefined): boolean {
  return slice.length === before?.length && slice.every(({ definition }, at) => definition === before[at]?.definition);
}

/** The texts of a tool that a search reads. */
export function findable({ id, definition, meta: { annotations } }: Tool): Findable {
  const { title, description = '', inputSchema } = definition;
  return {
    key: toolKey(id),
    server: id.server,
    name: id.tool,
    description,
    inputSchema,
    annotations,
    ...(title !== undefined && { title }),
  };
}
