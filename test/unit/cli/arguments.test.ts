// Owns the proof that all arguments of a tool, given as one JSON object, are an object whose numbers nothing changes, and that
// files are text.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parseArgumentsJson, readTextFile } from '../../../src/cli/arguments.ts';

test('broken JSON, anything but an object, and a number that would be changed are refused', () => {
  expect(parseArgumentsJson('{"a": 1, "b": "9007199254740993"}', '--args')).toEqual({ a: 1, b: '9007199254740993' });
  expect(() => parseArgumentsJson('{', '--args')).toThrow('--args is not valid JSON');
  expect(() => parseArgumentsJson('[1]', '--args')).toThrow('--args must be a JSON object');
  expect(() => parseArgumentsJson('{"a": [9007199254740993]}', '--args')).toThrow(
    '--args: 9007199254740993 is beyond ±9007199254740991',
  );
});

test('a file is read from the folder of the command, without its byte order mark, and only if it is text', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'plexus-arguments-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  writeFileSync(join(cwd, 'text'), '\uFEFFGrüße\n');
  writeFileSync(join(cwd, 'bytes'), Buffer.from([0xff, 0xfe, 0x00]));
  const context = { cwd, readStdin: async () => 'typed' };
  expect(await readTextFile('text', context)).toBe('Grüße\n');
  expect(await readTextFile('-', context)).toBe('typed');
  await expect(readTextFile('bytes', context)).rejects.toThrow('bytes is not text in UTF-8');
  await expect(readTextFile('none', context)).rejects.toThrow('none cannot be read (ENOENT)');
});
