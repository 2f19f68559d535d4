// Owns the proof that secrets are redacted from the descriptions of tools, and that the tools keep their names.

import { describe, expect, test } from 'vitest';
import { redactDescriptions, redactTexts } from '../../../../src/shaping/secrets/data.ts';
import { verifies } from '../../../verifies.ts';

const text = (given: string) => given.replaceAll('known-value-1', '[N]');

describe('what is said of a tool', () => {
  verifies('TRU-08', 'loses what is known, and nothing that a call goes by', () => {
    const tool = {
      ...{ name: 'known-value-1', description: 'a known-value-1', annotations: { title: 'known-value-1' } },
      inputSchema: {
        required: ['known-value-1'],
        properties: {
          'known-value-1': { type: 'string', enum: ['known-value-1'], description: 'known-value-1' },
          name: { const: 'known-value-1', examples: ['known-value-1'], default: 'known-value-1' },
        },
      },
    };
    expect(redactDescriptions(tool, text)).toEqual({
      ...{ name: 'known-value-1', description: 'a [N]', annotations: { title: '[N]' } },
      inputSchema: {
        required: ['known-value-1'],
        properties: {
          'known-value-1': { type: 'string', enum: ['known-value-1'], description: '[N]' },
          name: { const: 'known-value-1', examples: ['[N]'], default: '[N]' },
        },
      },
    });
  });

  test('is the same object where nothing had to change, so that what was worked out about it holds', () => {
    const tools = [
      { name: 'a', description: 'known-value-1' },
      { name: 'b', inputSchema: { type: 'object' } },
    ];
    const rest = redactDescriptions(tools, text);
    expect([rest[0] === tools[0], rest[1] === tools[1]]).toEqual([false, true]);
    expect(redactDescriptions(rest, text)).toBe(rest);
  });
});

test('a result loses what is known wherever it stands, and nothing because of a name', () => {
  const given = { password: 'plain', 'known-value-1': ['known-value-1', 1, null] };
  expect(redactTexts(given, text)).toEqual({ password: 'plain', '[N]': ['[N]', 1, null] });
});
