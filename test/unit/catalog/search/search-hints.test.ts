// Owns the proof that searching the catalog uses the hints that servers give for their tools.

import { expect } from 'vitest';
import { SearchWindow } from '../../../../src/catalog/search/search-window.ts';
import { createSnapshot } from '../../../../src/catalog/snapshot.ts';
import type { ToolAnnotations } from '../../../../src/model/tool.ts';
import { verifies } from '../../../verifies.ts';

function snapshotOf(hints: Readonly<Record<string, ToolAnnotations>>) {
  const tools = Object.entries(hints).map(([name, annotations]) => ({
    ...{ name, annotations },
    description: 'About the boxes on a shelf.',
    inputSchema: { type: 'object' },
  }));
  return createSnapshot([{ server: 'shelf', label: 'mcp:shelf via user', freshness: 'live', tools }]);
}

verifies(
  'SRC-06',
  'hints of a live catalog keep what destroys below what reads, and a changed hint counts at once',
  () => {
    const window = new SearchWindow();
    const order = (hints: Readonly<Record<string, ToolAnnotations>>) =>
      window.search(snapshotOf(hints), 'show me the boxes on the shelf', {}).map(({ tool }) => tool.id.tool);
    // `box_shelf_boxes` fits best by its words.
    expect(order({ box_shelf_boxes: { destructiveHint: true }, overview: { readOnlyHint: true } })).toEqual([
      'overview',
      'box_shelf_boxes',
    ]);
    expect(order({ box_shelf_boxes: { readOnlyHint: true }, overview: { readOnlyHint: true } })).toEqual([
      'box_shelf_boxes',
      'overview',
    ]);
  },
);
