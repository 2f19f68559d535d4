// Owns the proof that a question which only reads never ranks a tool that destroys above one that reads, and that what a tool does
// and what a question wants are recognized by general words.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { effectOf, wishOf } from '../../../../src/catalog/search/effect.ts';
import { type Findable, ToolIndex } from '../../../../src/catalog/search/tool-index.ts';
import type { ToolAnnotations } from '../../../../src/model/tool.ts';
import { runs } from '../../../effort.ts';
import { verifies } from '../../../verifies.ts';

const tool = (name: string, description = '', annotations?: ToolAnnotations): Findable => ({
  key: name,
  server: 'shelf',
  name,
  description,
  inputSchema: {},
  ...(annotations && { annotations }),
});

function ranked(query: string, tools: readonly Findable[], limit = 50): readonly string[] {
  const index = new ToolIndex();
  index.replace('shelf', tools);
  return index.search(query, { limit }).map(({ key }) => key);
}

describe('what a tool does', () => {
  test.each<[Findable, string | undefined]>([
    [tool('list_boxes'), 'reads'],
    [tool('shelfBoxesFetch'), 'reads'],
    [tool('box_update'), 'writes'],
    [tool('drop-shelf'), 'destroys'],
    [tool('list_deleted_boxes'), 'reads'],
    [tool('boxes', 'Shows all boxes.'), 'reads'],
    [tool('boxes', 'Permanently removes a box.'), 'destroys'],
    [tool('boxes', 'All about boxes, and how to delete one.'), undefined],
    [tool('tidy_boxes', '', { destructiveHint: true }), 'destroys'],
    [tool('list_boxes', '', { destructiveHint: true, readOnlyHint: true }), 'destroys'],
    [tool('delete_box', '', { readOnlyHint: true }), 'destroys'],
    [tool('tidy_boxes', '', { readOnlyHint: true }), 'reads'],
  ])('%o', (given, expected) => expect(effectOf(given)).toBe(expected));
});

describe('what a question wants', () => {
  test.each<[string, string | undefined, boolean]>([
    ['show me all boxes', 'reads', true],
    ['how many boxes are there', 'reads', true],
    ['what did the others change lately', 'reads', true],
    ['which boxes were deleted', 'reads', false],
    ['where can I cancel the delivery', 'writes', false],
    ['how do I delete a box', 'destroys', false],
    ['get rid of the old boxes', 'destroys', false],
    ['throw the old box away', 'destroys', false],
    ['find the box and rename it', 'reads', false],
    ['add a box', 'writes', false],
    ['Show the boxes. Then add one.', undefined, false],
    ['boxes', undefined, false],
  ])('%s', (query, effect, onlyReads) => expect(wishOf(query, 1_000)).toEqual({ effect, onlyReads }));
});

verifies('SRC-06', 'a question that only reads ranks no tool that destroys above a matching one that reads', () => {
  const reading = fc.constantFrom('list_boxes', 'get_box', 'find_shelf', 'box_history', 'count_labels');
  const destroying = fc.constantFrom('delete_box', 'drop_shelf', 'purge_boxes', 'remove_label', 'box_wipe');
  const harmful = fc.constantFrom('tidy_boxes', 'shelf', 'box_tool', 'labels');
  const text = fc.constantFrom(
    '',
    'The box.',
    'Every box on a shelf, with its label.',
    'Box, box and shelf: all labels.',
  );
  const row = (name: fc.Arbitrary<string>, annotations?: ToolAnnotations) =>
    fc.tuple(name, text, fc.nat(99)).map(([each, about, id]) => tool(`${each}_${id}`, about, annotations));
  const fleet = fc.uniqueArray(
    fc.oneof(row(reading, { readOnlyHint: true }), row(destroying), row(harmful, { destructiveHint: true })),
    { maxLength: 20, selector: ({ key }) => key },
  );
  const query = fc.constantFrom(
    'show me the boxes on my shelf',
    'how many boxes are on the shelf',
    'list all labels of a box',
    'which shelf has the box with this label?',
    'What is in the box? Where is the shelf?',
  );
  fc.assert(
    fc.property(fleet, query, (tools, question) => {
      const effects = new Map(tools.map((each) => [each.key, effectOf(each)]));
      const order = ranked(question, tools).map((key) => effects.get(key));
      const firstDestroying = order.indexOf('destroys');
      expect(firstDestroying < 0 ? [] : order.slice(firstDestroying)).not.toContain('reads');
    }),
    { numRuns: runs(300) },
  );
});

test('a tool that destroys is found all the same: by a question that wants it, by its name, and where nothing reads', () => {
  const tools = [tool('list_boxes', 'Lists boxes.'), tool('delete_box', 'Deletes a box.'), tool('paint_box')];
  expect(ranked('get rid of a box', tools)[0]).toBe('delete_box');
  expect(ranked('delete box', tools)[0]).toBe('delete_box');
  expect(ranked('show me the box', [tool('delete_box', 'Deletes a box.')])).toEqual(['delete_box']);
});
