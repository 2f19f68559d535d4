// Owns the proof of the names on merged routes.

import { expect, test } from 'vitest';
import { mergedNames, nameAll, ownedUri, readOwnedUri } from '../../../src/gateway/names.ts';
import { toolKey } from '../../../src/model/names.ts';

test('a tool has the name of its server before its own, at most 64 characters, and never that of another', () => {
  const ids = [
    { server: 'files', tool: 'read' },
    { server: 'a', tool: 'b__c' },
    { server: 'a__b', tool: 'c' },
    { server: 'x'.repeat(60), tool: 'y'.repeat(60) },
  ];
  const names = mergedNames(ids);
  expect(names.get(toolKey({ server: 'files', tool: 'read' }))).toBe('files__read');
  expect(new Set(names.values()).size).toBe(4);
  for (const name of names.values()) expect(name.length).toBeLessThanOrEqual(64);
});

test('alone, it keeps its own name', () => {
  const { list, byName } = nameAll([{ server: 's', tool: 'read it' }], (id) => id, true);
  expect(list.map(({ name }) => name)).toEqual(['read it']);
  expect(byName.get('read it')).toEqual({ server: 's', tool: 'read it' });
});

test('a uri that several servers have says whose it is, and leads back', () => {
  const uri = ownedUri('a/b c', 'test://x/{id}?q=1');
  expect(readOwnedUri(uri)).toEqual({ server: 'a/b c', uri: 'test://x/{id}?q=1' });
  expect(['test://x', 'plexus://', 'plexus://%zz/x'].map(readOwnedUri)).toEqual([undefined, undefined, undefined]);
});
