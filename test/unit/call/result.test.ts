// Owns the proof that whatever a server sends in place of a result ends as an outcome or as RESULT_BROKEN, and soon.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readResult } from '../../../src/call/result.ts';
import { shape } from '../../../src/call/shape.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import type { ToolOutcome } from '../../../src/model/tool.ts';
import { runs } from '../../effort.ts';
import { verifies } from '../../verifies.ts';
import { registryOf } from '../servers/registry.ts';
import { definitionOf } from '../session.ts';
import { callOf, toolOf } from './stages.ts';

const id = { server: 'files', tool: 'read' };
const tool = toolOf('files', 'read');
const how = { attempts: 1, fromCache: false };

/** The whole way of a result: read, then shaped. */
async function journeyOf(result: unknown): Promise<ToolOutcome | string> {
  const definitions = [definitionOf('files', { maxResultChars: 50_000, maxResultTokens: 25_000 })];
  const stage = shape({ registry: registryOf({ definitions }), emit: () => undefined });
  try {
    return await stage(async () => readResult(result, id, how))(callOf(tool));
  } catch (error) {
    if (error instanceof RuntimeError && error.code === 'RESULT_BROKEN') return error.message;
    throw error;
  }
}

const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(null, undefined, '', 'text', 0, [], {}, '\ud800', { type: 'text' }, { type: 'text', text: 'x' }),
);
const block = fc.oneof(
  odd,
  fc.record(
    {
      type: fc.oneof(fc.constantFrom('text', 'image', 'audio', 'resource', 'resource_link', 'new'), odd),
      text: odd,
      data: odd,
      mimeType: odd,
      uri: odd,
      name: odd,
      size: odd,
      resource: fc.oneof(odd, fc.record({ uri: odd, blob: odd, text: odd, mimeType: odd }, { requiredKeys: [] })),
    },
    { requiredKeys: ['type'] },
  ),
);
const result = fc.oneof(
  odd,
  fc.record(
    { content: fc.oneof(odd, fc.array(block)), structuredContent: odd, isError: odd, _meta: odd },
    { requiredKeys: [] },
  ),
);

verifies('CAL-12', 'any result at all is an outcome whose text a model can read, or is said to be broken', async () => {
  await fc.assert(
    fc.asyncProperty(result, async (sent) => {
      const end = await journeyOf(sent);
      if (typeof end === 'string') {
        expect(end).toContain('it has most likely been performed');
        return;
      }
      expect(end.text).not.toMatch(/\p{Surrogate}/u);
      expect(() => JSON.stringify(end)).not.toThrow();
      expect(end.isError).toBe((sent as { isError?: unknown }).isError === true);
    }),
    { numRuns: runs(2_000) },
  );
});

test('a result that is nested too deep for others to write it again is broken, wherever it is', async () => {
  const deep = JSON.parse(`${'[{"a":'.repeat(100_000)}1${'}]'.repeat(100_000)}`);
  const problem = expect.stringContaining('its result is nested deeper than 500 levels');
  expect(await journeyOf({ content: [], structuredContent: deep })).toEqual(problem);
  expect(await journeyOf({ content: [{ type: 'x', deep }] })).toEqual(problem);
});

test('two hundred thousand blocks, or one of 64 MB, are read in a moment and cut', async () => {
  const before = process.cpuUsage();
  for (const content of [
    Array.from({ length: 200_000 }, (_, at) => ({ type: 'text', text: `line ${at}` })),
    Array.from({ length: 200_000 }, () => ({ type: 'image', data: 'AAAA', mimeType: 'image/png' })),
    Array.from({ length: 200_000 }, (_, at) => ({ type: 'new', at })),
    [{ type: 'text', text: 'The quick brown fox.\n'.repeat(3_200_000) }],
  ]) {
    const end = await journeyOf({ content });
    expect(typeof end === 'string' ? end : end.text.length).toBeLessThan(51_000);
  }
  expect(await journeyOf({ content: Array.from({ length: 200_000 }, () => null) })).toContain('has no type');
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000, 'milliseconds').toBeLessThan(10_000);
});

test('structured content that is null is none', () => {
  const result = { content: [{ type: 'text', text: 'x' }], structuredContent: null };
  expect(readResult(result, { server: 'files', tool: 'read' }, { attempts: 1 })).not.toHaveProperty('structured');
});
