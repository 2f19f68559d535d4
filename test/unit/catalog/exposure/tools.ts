// Owns tools for tests of exposure: made and named by the catalog itself, sorted by name.

import { createSnapshot } from '../../../../src/catalog/snapshot.ts';
import type { Tool, ToolDefinition } from '../../../../src/model/tool.ts';

export type Sketch = Partial<ToolDefinition> & { readonly name: string };

export function toolsOf(servers: Readonly<Record<string, readonly (string | Sketch)[]>>): readonly Tool[] {
  return createSnapshot(
    Object.entries(servers).map(([server, tools]) => ({
      server,
      label: `mcp:${server} via user`,
      freshness: 'live' as const,
      tools: tools.map((each) => ({
        inputSchema: { type: 'object' },
        ...(typeof each === 'string' ? { name: each } : each),
      })),
    })),
  ).tools;
}

/** Tools of one server, each with about the given number of characters of JSON. */
export function heavyTools(count: number, chars: number): readonly Sketch[] {
  return Array.from({ length: count }, (_, at) => ({
    name: `tool-${String(at).padStart(5, '0')}`,
    description: 'does a thing and '.repeat(Math.ceil(chars / 17)).slice(0, Math.max(0, chars - 90)),
  }));
}

export const namesOf = (tools: readonly Tool[]): readonly string[] => tools.map(({ name }) => name);
