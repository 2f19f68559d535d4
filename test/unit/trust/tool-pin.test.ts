// Owns the proof that a tool's hash covers everything that a user approves and nothing else, and that its pin is short.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ToolDefinition } from '../../../src/model/tool.ts';
import { faultOfPin, pinOf, toolHash } from '../../../src/trust/tool-pin.ts';
import { processorMs } from '../../effort.ts';
import { verifies } from '../../verifies.ts';
import { nested, readFile, tool, wide } from './tools.ts';

describe('the hash of a tool', () => {
  verifies('EXT-05', 'changes with its name, title, description, schemas and annotations', () => {
    const changes: object[] = [
      { name: 'read' },
      { title: 'Read' },
      { title: undefined },
      { description: 'Reads a file of the project and gives its text. ' },
      { inputSchema: { ...readFile.inputSchema, required: [] } },
      { outputSchema: { type: 'object' } },
      { annotations: {} },
      { annotations: { readOnlyHint: false } },
    ];
    const hashes = [toolHash(tool()), ...changes.map((change) => toolHash(tool(change)))];
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(hashes.every((hash) => /^sha256:[0-9a-f]{64}$/.test(hash))).toBe(true);
  });

  test('is the same in any key order, and with any other fields', () => {
    const reversed = Object.fromEntries(Object.entries(readFile).reverse());
    expect(toolHash(tool(reversed))).toBe(toolHash(tool()));
    expect(toolHash(tool({ _meta: { version: 2 }, icons: [], execution: {} }))).toBe(toolHash(tool()));
    // Not frozen, so not cached.
    const changing: ToolDefinition & { description: string } = { ...readFile };
    const before = toolHash(changing);
    changing.description = 'other';
    expect(toolHash(changing)).not.toBe(before);
  });

  test('tells any two definitions apart', () => {
    const schema = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(schema, schema, (one, two) => {
        const [a, b] = [one, two].map((inputSchema) => ({ name: 't', inputSchema }));
        const isSame = JSON.stringify(sortKeys(one)) === JSON.stringify(sortKeys(two));
        return a !== undefined && b !== undefined && (toolHash(a) === toolHash(b)) === isSame;
      }),
    );
  });
});

const sortKeys = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sortKeys)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([k, v]) => [k, sortKeys(v)]),
        )
      : value;

describe('what is kept of a tool', () => {
  test('is its texts, its hints and a line for each place of its schemas', () => {
    const outputSchema = {
      type: 'object',
      properties: {
        files: { type: 'array', items: { type: 'object', properties: { 'a.b': { type: ['string', 'null'] } } } },
      },
    };
    expect(pinOf(tool({ outputSchema }))).toEqual({
      hash: toolHash(tool({ outputSchema })),
      title: 'Read a file',
      description: 'Reads a file of the project and gives its text.',
      annotations: { readOnlyHint: 'true' },
      parameters: {
        '(all)': 'object, additionalProperties false',
        lines: 'integer, minimum 1',
        path: 'string, required – Where it lies.',
      },
      results: {
        files: 'array',
        'files[]': 'object',
        'files[]."a.b"': 'type ["string","null"]',
      },
    });
  });

  test('is short, however large or odd the definition is, and found quickly', () => {
    const huge = tool({
      description: 'x'.repeat(5_000_000),
      annotations: { title: 'y'.repeat(1_000_000) },
      inputSchema: { type: 'object', properties: wide(20_000), $defs: wide(100) },
      outputSchema: nested(45),
    });
    const odd = {
      name: 'odd',
      title: 5,
      inputSchema: { properties: { a: 1, b: null, c: true }, required: 'a', items: [] },
    };
    const cost = processorMs(() => {
      for (const each of [huge, odd as never]) {
        const pin = pinOf(each);
        expect(JSON.stringify(pin).length).toBeLessThan(64 * 1024);
        expect(faultOfPin(JSON.parse(JSON.stringify(pin)))).toBeUndefined();
      }
    });
    expect(cost).toBeLessThan(10_000);
    expect(pinOf(odd as never).parameters).toEqual({
      '(all)': 'items [], required "a"',
      a: '1',
      b: 'null',
      c: 'true',
    });
    expect(pinOf(huge).parameters['…']).toBe('and more');
  });

  test('is never mistaken for something else', () => {
    const pin = pinOf(tool());
    const wrong: [value: unknown, path: readonly string[]][] = [
      [null, []],
      [[], []],
      [{ ...pin, hash: 'sha256:abc' }, ['hash']],
      [{ ...pin, title: 5 }, ['title']],
      [{ ...pin, description: ['a'] }, ['description']],
      [{ ...pin, parameters: undefined }, ['parameters']],
      [{ ...pin, parameters: { a: 5 } }, ['parameters']],
      [{ ...pin, annotations: [] }, ['annotations']],
      [{ ...pin, results: null }, ['results']],
    ];
    for (const [value, path] of wrong) expect(faultOfPin(value)?.path).toEqual(path);
  });
});
