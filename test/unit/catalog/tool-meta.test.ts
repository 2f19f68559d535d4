// Owns the proof of what a host learns of a tool besides its name and schema, wherever its server puts it.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findByToolName, metaOf, prefixed } from '../../../src/catalog/tool-meta.ts';
import type { ToolDefinition, ToolMeta } from '../../../src/model/tool.ts';
import { verifies } from '../../verifies.ts';

const id = { server: 'files', tool: 'read' };
const define = (more: object): ToolDefinition => ({ name: 'read', inputSchema: { type: 'object' }, ...more });

const metas: Record<string, [definition: object, meta: Partial<ToolMeta>]> = {
  'nothing is said': [{}, {}],
  'the title is the tool’s': [
    { title: 'Read', annotations: { title: 'R' } },
    { title: 'Read', annotations: { title: 'R' } },
  ],
  'the title is an annotation': [{ annotations: { title: 'R' } }, { title: 'R', annotations: { title: 'R' } }],
  'all is in _meta': [
    { _meta: { category: 'disk', tags: ['a', 'b', 'a'], version: '1.2' } },
    { category: 'disk', tags: ['a', 'b'], version: '1.2' },
  ],
  'the keys of _meta have an owner': [
    { _meta: { 'com.example/category': 'disk', 'com.example/tags': 'a, b,,', 'x/version': 3 } },
    { category: 'disk', tags: ['a', 'b'], version: '3' },
  ],
  'all is among the annotations': [
    { annotations: { category: 'disk', tags: ['a'], readOnlyHint: true } },
    { category: 'disk', tags: ['a'], annotations: { readOnlyHint: true } },
  ],
  'all is beside the name': [
    { category: 'disk', tags: ['a'], version: '2' },
    { category: 'disk', tags: ['a'], version: '2' },
  ],
  '_meta comes first, as far as it makes sense': [
    { _meta: { category: 5, tags: {}, version: 'a' }, category: 'disk', tags: ['b'], version: 'b' },
    { category: 'disk', tags: ['b'], version: 'a' },
  ],
  'nothing is of its kind': [
    {
      title: 7,
      _meta: [],
      annotations: { title: {}, readOnlyHint: 'true', destructiveHint: 1 },
      tags: [1, ''],
      category: ' ',
    },
    {},
  ],
};

for (const [what, [definition, meta]] of Object.entries(metas)) {
  verifies('NAM-14', `a tool says who it is from and what its server tells of it: ${what}`, () => {
    expect(metaOf(define(definition), id)).toEqual({ server: 'files', annotations: {}, ...meta });
  });
}

verifies('NAM-14', 'whatever a server sends, something short and sensible is told', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom('_meta', 'annotations', 'title', 'tags', 'category', 'version'), fc.anything()),
      (more) => {
        const { tags = [], category = '', version = '' } = metaOf(define(more), id);
        expect([...tags, category, version].every((each) => typeof each === 'string' && each.length <= 200)).toBe(true);
      },
    ),
  );
  const { tags = [], category = '' } = metaOf(
    define({
      tags: Array(9_999)
        .fill('x')
        .map((x, at) => x + at),
      category: 'c'.repeat(1e6),
    }),
    id,
  );
  expect([tags.length, category.length]).toEqual([50, 200]);
});

verifies('NAM-13', 'a description begins with the prefix, where there is one', () => {
  expect(prefixed('Reads.', '', id)).toBe('Reads.');
  expect(prefixed('Reads.', '[MCP: {server}] ', id)).toBe('[MCP: files] Reads.');
  expect(prefixed('', '[MCP: {server}] ', id)).toBe('[MCP: files]');
  expect(prefixed('{server}', '{server}/{server}: ', { server: '$& $1', tool: 'x' })).toBe('$& $1/$& $1: {server}');
});

verifies('NAM-08', 'all tools that their servers call the same are found, by server', () => {
  const named = [
    { id: { server: 'web', tool: 'read' }, name: 'read_2' },
    { id: { server: 'files', tool: 'read' }, name: 'read_1' },
    { id: { server: 'files', tool: 'read_all' }, name: 'read_all' },
  ];
  expect(findByToolName(named, 'read')).toEqual([
    { server: 'files', tool: 'read', name: 'read_1' },
    { server: 'web', tool: 'read', name: 'read_2' },
  ]);
  expect(findByToolName(named, 'Read')).toEqual([]);
});

test('what is told is frozen', () => {
  const meta = metaOf(define({ tags: ['a'], annotations: { readOnlyHint: true } }), id);
  expect([meta, meta.tags, meta.annotations].every(Object.isFrozen)).toBe(true);
});
