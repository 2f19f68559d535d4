// Owns the proof of which servers have a place in turns, before and after they were opened, and when a reload judges otherwise.

import { expect } from 'vitest';
import type { ResolvedServer } from '../../../src/servers/registry.ts';
import { verifies } from '../../verifies.ts';
import { defined, remote, stdio } from '../trust/definition.ts';
import { configOf, registryOf } from './registry.ts';

const theirs = defined(remote);
const resolved = (isUnapprovedWorkspaceServer: boolean): ResolvedServer => ({
  launch: theirs.launch,
  warnings: [],
  isUnapprovedWorkspaceServer,
  refusal: () => undefined,
});
const strange = configOf({ definitions: [theirs] });
const approved = configOf({ definitions: [theirs], unapproved: new Map() });

verifies('TRU-02', 'a reload that judges a server otherwise counts over what its last opening knew', () => {
  const registry = registryOf({ definitions: [theirs] });
  expect([registry.isSetAside('files'), registry.inTurns(), registry.standing('files')]).toEqual([
    true,
    [],
    'listed-only',
  ]);
  registry.onResolved('files', resolved(true));
  registry.apply(approved);
  expect([registry.isSetAside('files'), registry.inTurns(), registry.standing('files')]).toEqual([
    false,
    [theirs],
    undefined,
  ]);
  registry.onResolved('files', resolved(false));
  registry.apply(strange);
  expect([registry.isSetAside('files'), registry.inTurns()]).toEqual([true, []]);
  // An answer for this session is known to the opening alone, and lasts.
  registry.onResolved('files', resolved(false));
  registry.apply(configOf({ definitions: [theirs] }));
  expect(registry.isSetAside('files')).toBe(false);
});

verifies('TRU-02', 'the servers of turns stay the same array while they are the same', () => {
  const registry = registryOf({ definitions: [theirs, { ...defined(stdio, 'user'), name: 'mine' }] });
  const before = registry.inTurns();
  expect(before.map(({ name }) => name)).toEqual(['mine']);
  registry.onResolved('files', resolved(true));
  expect(registry.inTurns()).toBe(before);
});
