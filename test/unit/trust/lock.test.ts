// Owns the proof that a lock is the same text for the same pins, comes back as it was written, and says where it is broken.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { compareLocks, formatLock, type Lock } from '../../../src/trust/lock.ts';
import { editedLines } from '../../../src/trust/lock-lines.ts';
import { loadLock, parseLock } from '../../../src/trust/locked-tools.ts';
import { pinOf, type ToolPin } from '../../../src/trust/tool-pin.ts';
import { verifies } from '../../verifies.ts';
import { tool } from './tools.ts';

const name = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('__proto__', 'constructor', '1', '10', '9', '', 'a b'),
);
const lines = fc.dictionary(name, fc.string({ unit: 'binary' }));
const pin: fc.Arbitrary<ToolPin> = fc.record(
  {
    hash: fc
      .string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 })
      .map((hex) => `sha256:${hex}`),
    title: fc.string(),
    description: fc.string({ unit: 'binary' }).map((text) => text.replaceAll('0', '\n')),
    annotations: lines,
    parameters: lines,
    results: lines,
  },
  { requiredKeys: ['hash', 'parameters'] },
);
const lockArbitrary: fc.Arbitrary<Lock> = fc
  .dictionary(name, fc.dictionary(name, pin))
  .map(
    (servers) => new Map(Object.entries(servers).map(([server, tools]) => [server, new Map(Object.entries(tools))])),
  );

const reversed = (lock: Lock): Lock =>
  new Map([...lock].reverse().map(([server, tools]) => [server, new Map([...tools].reverse())]));

describe('a lock', () => {
  verifies(
    'EXT-05',
    'is read as it was written, and is the same text in whatever order its tools were found',
    async () => {
      await fc.assert(
        fc.asyncProperty(lockArbitrary, async (lock) => {
          const text = formatLock(lock);
          expect(await parseLock('plexus.lock', text)).toEqual({ kind: 'lock', file: 'plexus.lock', lock });
          expect(formatLock(reversed(lock))).toBe(text);
          expect(compareLocks(lock, reversed(lock))).toEqual([]);
          expect(editedLines(text, lock, reversed(lock))).toEqual([]);
          expect(text).not.toMatch(/[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
          expect(text.endsWith('}\n')).toBe(true);
        }),
      );
    },
  );

  test('is read in a review, tool by tool and line by line', () => {
    const poisoned = tool({ description: 'Reads.\nSecond line.\u202e' });
    const text = formatLock(new Map([['files', new Map([['read_file', pinOf(poisoned)]])]]));
    expect(text).toBe(`{
  "version": 2,
  "servers": {
    "files": {
      "read_file": {
        "hash": "${pinOf(poisoned).hash}",
        "title": "Read a file",
        "description": [
          "Reads.",
          "Second line.\\u202e"
        ],
        "annotations": {
          "readOnlyHint": "true"
        },
        "parameters": {
          "(all)": "object, additionalProperties false",
          "lines": "integer, minimum 1",
          "path": "string, required – Where it lies."
        }
      }
    }
  }
}
`);
  });

  test('is compared by hash, tool by tool, and by servers without tools', () => {
    const lockOf = (servers: Record<string, Record<string, ToolPin>>): Lock =>
      new Map(Object.entries(servers).map(([server, tools]) => [server, new Map(Object.entries(tools))]));
    const [same, other] = [pinOf(tool()), pinOf(tool({ title: 'Read' }))];
    const before = lockOf({ a: { one: same, two: same, three: same }, b: {}, gone: { x: same }, empty: {} });
    const now = lockOf({ a: { one: { ...same, parameters: {} }, two: other, four: same }, b: {}, fresh: {} });
    expect(compareLocks(before, now)).toEqual([
      { server: 'a', tool: 'four', change: 'added' },
      { server: 'a', tool: 'three', change: 'removed' },
      { server: 'a', tool: 'two', change: 'changed', changes: ['title: removed "a file"'] },
      { server: 'empty', change: 'removed' },
      { server: 'fresh', change: 'added' },
      { server: 'gone', tool: 'x', change: 'removed' },
    ]);
  });
});

describe('a lock whose readable lines were edited', () => {
  const honest: Lock = new Map([
    ['files', new Map([['read', pinOf(tool({ description: 'Reads.\nSends it away.\u202e' }))]])],
  ]);
  const text = formatLock(honest);
  const edited = async (change: (text: string) => string) => {
    const changed = change(text);
    expect(changed).not.toBe(text);
    const loaded = await parseLock('plexus.lock', changed);
    return editedLines(changed, loaded.kind === 'lock' ? loaded.lock : expect.fail(), honest);
  };
  const read = { server: 'files', tool: 'read' };

  const cases: Record<string, [change: (text: string) => string, found: object]> = {
    'a line of a description is gone': [
      (each) => each.replace('"Reads.",', '"Reads."').replace(/ *"Sends it away\..*\n/, ''),
      { ...read, line: 9, changes: ['description: added "Sends it away.\\u202e"'] },
    ],
    'a title lies': [
      (each) => each.replace('Read a file', 'Read nothing'),
      { ...read, line: 7, changes: ['title: "nothing" became "a file"'] },
    ],
    'a hint lies': [
      (each) => each.replace('"readOnlyHint": "true"', '"readOnlyHint": "false"'),
      { ...read, line: 13, changes: ['readOnlyHint was false and is true'] },
    ],
    'a parameter is gone': [
      (each) => each.replace(/ *"lines": .*\n/, ''),
      { ...read, line: 17, changes: ['parameter lines was added: integer, minimum 1'] },
    ],
    'a parameter was made up': [
      (each) => each.replace(/( *)"lines": /, '$1"dry_run": "boolean",\n$1"lines": '),
      { ...read, line: 17, changes: ['parameter dry_run was removed'] },
    ],
    'results were made up': [
      (each) => each.replace(/"parameters": \{[\s\S]*?\n {8}\}/, (lines) => `${lines},\n        "results": {}`),
      { ...read, line: 19, changes: [] },
    ],
    'a field is none of ours': [
      (each) => each.replace('"title"', '"reviewed": "by security",\n        "title"'),
      { line: 7, changes: [] },
    ],
    'a comment was added': [
      (each) => each.replace('"title"', '// harmless\n        "title"'),
      { line: 7, changes: [] },
    ],
    'an invisible character was unescaped': [(each) => each.replace('\\u202e', '\u202e'), { line: 10, changes: [] }],
    'the file was formatted otherwise': [(each) => JSON.stringify(JSON.parse(each)), { line: 1, changes: [] }],
  };
  for (const [what, [change, found]] of Object.entries(cases))
    verifies('EXT-05', `is told with the line where ${what}`, async () => {
      expect(await edited(change)).toEqual([found]);
    });

  test('is none where only the line ends are those of Windows, or a tool has another hash', async () => {
    expect(await edited((each) => each.replaceAll('\n', '\r\n'))).toEqual([]);
    const other: Lock = new Map([['files', new Map([['read', pinOf(tool({ title: 'Other' }))]])]]);
    expect([editedLines(text, honest, other), editedLines(text, honest, new Map())]).toEqual([[], []]);
  });

  test('is compared in the same way where an older version wrote it', async () => {
    const old = text.replace('"version": 2', '"version": 1');
    expect(await parseLock('plexus.lock', old)).toMatchObject({ kind: 'lock', olderVersion: 1 });
    expect(editedLines(old, honest, honest, 1)).toEqual([]);
    expect(editedLines(old, honest, honest)).toEqual([{ line: 2, changes: [] }]);
  });
});

describe('a lock that cannot be used', () => {
  const { hash } = pinOf(tool());
  const good = { hash, parameters: {} };
  const cases: Record<string, [text: string, problem: string]> = {
    'was never merged': ['{\n<<<<<<< ours\n}', 'plexus.lock:2 cannot be used: '],
    'is empty': ['', 'it is not a map'],
    'is a list': ['[]', 'it is not a map'],
    'is of a later version': [
      '{\n"version": 3, "servers": {}}',
      'plexus.lock:2 cannot be used: its version is not 2 or an older one (version)',
    ],
    'is of no version': ['{"version": 1.5, "servers": {}}', 'its version is not 2 or an older one (version)'],
    'has no servers': ['{"version": 1}', 'its servers are not a map (servers)'],
    'has tools that are none': ['{"version": 1, "servers": {"a": []}}', 'its tools are not a map (servers → a)'],
    'has a tool that is none': ['{"version": 1, "servers": {"a": {"t": 5}}}', 'it is not a map (servers → a → t)'],
    'has another hash': [
      JSON.stringify({ version: 1, servers: { a: { t: { ...good, hash: 'md5:1' } } } }),
      'its hash is not sha256: and 64 digits (servers → a → t → hash)',
    ],
    'has odd lines': [
      JSON.stringify({ version: 1, servers: { a: { t: { ...good, parameters: { x: {} } } } } }),
      'its parameters are not a map of texts (servers → a → t → parameters)',
    ],
    'holds a tool twice': [
      `{"version": 1, "servers": {"a": {"t": ${JSON.stringify(good)},\n"t": ${JSON.stringify(good)}}}}`,
      'plexus.lock:2 cannot be used: it holds servers → a → t twice',
    ],
  };
  for (const [what, [text, problem]] of Object.entries(cases))
    test(`is reported with the place and the remedy where it ${what}`, async () => {
      const loaded = await parseLock('plexus.lock', text);
      expect(loaded).toMatchObject({ kind: 'broken', error: { code: 'LOCK_INVALID' } });
      const { message } = loaded.kind === 'broken' ? loaded.error : expect.fail();
      expect(message).toContain(problem);
      expect(message).toContain('delete it and run: plexus lock');
    });

  test('is distinguished from no lock, and only a regular file is read', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plexus-lock-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'plexus.lock');
    expect(await loadLock(folder)).toEqual({ kind: 'absent', file });
    symlinkSync('/dev/zero', file);
    expect(await loadLock(folder)).toMatchObject({ kind: 'broken' });
    rmSync(file);
    mkdirSync(file);
    expect(await loadLock(folder)).toMatchObject({ kind: 'broken' });
    rmSync(file, { recursive: true });
    writeFileSync(file, Buffer.from([0xff, 0xfe, 0x00]));
    expect(await loadLock(folder)).toMatchObject({ kind: 'broken' });
    writeFileSync(file, formatLock(new Map()));
    expect(await loadLock(folder)).toEqual({ kind: 'lock', file, lock: new Map() });
  });
});
