// Owns the proof of how descendants are found where no process group holds them. Pure: it runs on any platform.

import { expect, test } from 'vitest';
import { leadsGroup } from '../../../src/transport/process-group.ts';
import { findRelatives, parseProcessTable, taskkillArguments } from '../../../src/transport/tree-family.ts';
import { verifies } from '../../verifies.ts';

const TABLE = `
    1     0 Ss   Mon Sep  1 08:00:00 2026     /sbin/launchd
  100     1 S    Mon Sep  1 09:00:00 2026     node host.js
  200   100 S    Mon Sep  1 09:00:01 2026     npx server PATH=/bin PLEXUS_PROCESS=abc.1 HOME=/Users/ada
  201   200 S+   Mon Sep  1 09:00:02 2026     node server.js
  202   201 S    Mon Sep  1 09:00:03 2026     chrome --headless
  203   201 Z    Mon Sep  1 09:00:03 2026     (gone)
  300     1 S    Mon Sep  1 09:00:04 2026     daemon HOME=/Users/ada PLEXUS_PROCESS=abc.1
  301     1 S    Mon Sep  1 09:00:04 2026     daemon HOME=/Users/ada PLEXUS_PROCESS=abc.12
  400     1 S    Mon Sep  1 09:00:05 2026     left over
`;
const rows = parseProcessTable(TABLE);
const pids = (found: readonly { pid: number }[]) => found.map(({ pid }) => pid).sort();

test('a row of ps is read, and a zombie is none', () => {
  expect(rows).toHaveLength(8);
  expect(rows[3]).toEqual({
    pid: 201,
    parent: 200,
    started: 'Mon Sep  1 09:00:02 2026',
    command: '    node server.js',
  });
});

verifies('EXT-08', 'on macOS the family is the child, its descendants and whoever carries its mark', () => {
  const child = rows.filter(({ pid }) => pid === 200);
  expect(pids(findRelatives(rows, child, 'abc.1'))).toEqual([200, 201, 202, 300]);
});

verifies('EXT-08', 'a process that lost its parent stays in the family, a stranger with its number does not', () => {
  const started = 'Mon Sep  1 09:00:05 2026';
  const known = [{ pid: 400, parent: 200, started, command: '' }];
  expect(pids(findRelatives(rows, known, 'none'))).toEqual([400]);
  expect(pids(findRelatives(rows, [{ ...known[0], pid: 100, parent: 1, started, command: '' }], 'none'))).toEqual([]);
});

verifies('EXT-08', 'on Windows the whole tree is ended by force', () => {
  expect(taskkillArguments(42)).toEqual(['/pid', '42', '/T', '/F']);
});

verifies('EXT-08', 'a child leads a group of its own except on macOS and Windows', () => {
  const platforms = ['linux', 'freebsd', 'darwin', 'win32'] as const;
  expect(platforms.map(leadsGroup)).toEqual([true, true, false, false]);
});
