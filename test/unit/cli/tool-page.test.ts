// Owns the proof of what the page about a tool holds and how it looks, whatever a server writes into its definition.

import { describe, expect, test } from 'vitest';
import { colors, plain } from '../../../src/cli/render/text.ts';
import { signaturesText, toolPageText } from '../../../src/cli/render/tool-page.ts';
import { describeTool } from '../../../src/cli/tool-page.ts';
import type { Tool, ToolDefinition } from '../../../src/model/tool.ts';

function toolOf(definition: Partial<ToolDefinition>): Tool {
  const whole = { name: 'take', inputSchema: { type: 'object' }, ...definition };
  return {
    id: { server: 'notes', tool: whole.name },
    name: `mcp__notes__${whole.name}`,
    freshness: 'live',
    label: '',
    source: '',
    description: '',
    inputSchema: { type: 'object' },
    meta: { server: 'notes', annotations: {} },
    definition: whole,
  };
}

const pageOf = (definition: Partial<ToolDefinition>) =>
  describeTool(toolOf(definition), (words) => ['plexus call notes take', ...words].join(' '));

const entity = {
  type: 'object',
  properties: { name: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } },
  required: ['name'],
};

describe('a signature', () => {
  test.each([
    ['nothing', { properties: {} }, undefined, 'take()'],
    ['anything', {}, undefined, 'take(…)'],
    [
      'required first',
      { properties: { a: {}, b: { type: 'string' } }, required: ['b'] },
      undefined,
      'take(b: string, a?: any)',
    ],
    ['their order', { properties: { a: {}, b: {} }, required: ['b', 'a'] }, undefined, 'take(b: any, a: any)'],
    [
      'objects',
      { properties: { e: { type: 'array', items: entity } } },
      undefined,
      'take(e?: { name: string, tags?: string[] }[])',
    ],
    ['unions', { properties: { a: { type: ['string', 'null'] } } }, undefined, 'take(a?: string | null)'],
    [
      'lists of unions',
      { properties: { a: { items: { type: ['string', 'number'] } } } },
      undefined,
      'take(a?: (string | number)[])',
    ],
    ['values', { properties: { a: { enum: ['x', 1, null] } } }, undefined, 'take(a?: "x" | 1 | null)'],
    [
      'alternatives',
      {
        anyOf: [
          { properties: { a: {} }, required: ['a'] },
          { properties: { b: {}, a: {} }, required: ['a'] },
        ],
      },
      undefined,
      'take(a: any, b?: any)',
    ],
    ['results', { properties: {} }, entity, 'take(): { name: string, tags?: string[] }'],
  ])('shows %s', (_, inputSchema, outputSchema, signature) => {
    expect(pageOf({ inputSchema, ...(outputSchema && { outputSchema }) }).signature).toBe(signature);
  });

  test('shows the beginning of many values, and no fields that would fill the screen', () => {
    const many = Array.from({ length: 40 }, (_, at) => `value-${at}`);
    const wide = Object.fromEntries(many.map((name) => [name, { type: 'string' }]));
    expect(pageOf({ inputSchema: { properties: { a: { enum: many } } } }).signature).toMatch(
      /"value-11" \| … \(40 values\)\)$/,
    );
    expect(pageOf({ inputSchema: { properties: { a: { properties: wide } } } }).signature).toBe('take(a?: object)');
  });
});

const inputSchema = {
  properties: {
    path: { type: 'string', description: 'Where it is.' },
    count: { type: 'integer', default: 10 },
  },
  required: ['path'],
};

test('a page says everything that a person needs for a call', () => {
  const page = pageOf({ title: 'Take', description: 'Takes it.', inputSchema, annotations: { readOnlyHint: true } });
  expect(toolPageText({ ...page, reduced: ['a default was removed'] }, plain)).toBe(
    [
      'take (Take) of server notes',
      'Takes it.',
      'Signature\n  take(path: string, count?: integer)',
      'Parameters\n  path  string, required\n      Where it is.\n  count  integer, default 10',
      'It states: it only reads.',
      'Models see it reduced: a default was removed.',
      'Call it\n  plexus call notes take path=PATH',
    ].join('\n\n'),
  );
});

test('texts of a server are wrapped to the terminal and cannot drive it', () => {
  const evil = '\u001b[2J\u202eevil';
  const page = pageOf({
    name: evil,
    title: evil,
    description: `${evil} ${'word '.repeat(60)}`,
    inputSchema: {
      properties: { [evil]: { type: 'string', default: evil, description: evil, enum: [evil] } },
      required: [evil],
    },
  });
  const text = toolPageText(page, { ...colors, width: 60 });
  expect(text.replaceAll(/\p{Cc}\[(?:1|2|22)m/gu, '')).not.toMatch(/[\p{Cf}]|\p{Cc}\[/u);
  const lines = toolPageText(page, { ...plain, width: 60 }).split('\n');
  expect(Math.max(...lines.filter((line) => line.includes('word')).map((line) => line.length))).toBeLessThanOrEqual(60);
});

test('signatures stand above the first line of each description', () => {
  const tools = [
    { name: 'take', signature: `take(${'path: string, '.repeat(6)}…)`, description: 'Takes it.\nAnd more.' },
    { name: 'rest', signature: 'rest()', description: '' },
  ];
  const text = signaturesText(tools, { ...plain, width: 50 });
  expect(text).toMatch(/^take\(path: string, .*\n {4}path: string, [\s\S]*\n {4}Takes it\.\nrest\(\)$/);
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(50);
});
