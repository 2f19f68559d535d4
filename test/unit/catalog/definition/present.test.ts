// Owns the proof of how a definition is shown to the models of each provider.

import { describe, expect, test } from 'vitest';
import { checkDefinition } from '../../../../src/catalog/definition/check.ts';
import { type Presented, present } from '../../../../src/catalog/definition/present.ts';
import type { Provider } from '../../../../src/catalog/definition/providers.ts';
import type { JsonObject } from '../../../../src/kernel/json.ts';
import { limits } from '../../../../src/model/limits.ts';
import { verifies } from '../../../verifies.ts';

function shown(inputSchema: unknown, provider: Provider = 'any', description = ''): Presented {
  const definition = checkDefinition({ name: 'tool', description, inputSchema });
  if (typeof definition === 'string') throw new Error(definition);
  return present(definition, provider);
}

const within = (part: unknown, more: object = {}): JsonObject => ({ type: 'object', properties: { a: part }, ...more });
const partShown = (part: unknown, provider: Provider, more: object = {}) =>
  (shown(within(part, more), provider).inputSchema['properties'] as JsonObject)['a'];
/** As a model sees it whose provider the host did not name. */
function shownUnnamed(inputSchema: unknown): Presented {
  const definition = checkDefinition({ name: 'tool', inputSchema });
  if (typeof definition === 'string') throw new Error(definition);
  return present(definition);
}
const partUnnamed = (part: unknown) => (shownUnnamed(within(part)).inputSchema['properties'] as JsonObject)['a'];

describe('references', () => {
  const $defs = {
    text: { type: 'string', description: 'A text.' },
    tree: { type: 'object', properties: { kids: { type: 'array', items: { $ref: '#/$defs/tree' } } } },
  };

  verifies(['NAM-15', 'EXT-11'], 'within the schema are inlined, and what stands beside them counts', () => {
    const part = { $ref: '#/$defs/text', description: 'The name.', minLength: 2 };
    expect(shown(within(part, { $defs }), 'anthropic')).toEqual({
      description: '',
      inputSchema: within({ type: 'string', description: 'The name.', minLength: 2 }),
      changes: [],
    });
  });

  test('to an anchor, to an address of a part, with escapes in them', () => {
    const named = {
      one: { $anchor: 'x', type: 'string' },
      two: { $id: 'urn:two', type: 'boolean' },
      'a/b~%': { type: 'null' },
    };
    for (const [$ref, type] of [
      ['#x', 'string'],
      ['urn:two', 'boolean'],
      ['#/$defs/a~1b~0%25', 'null'],
    ])
      expect(partShown({ $ref }, 'openai', { $defs: named })).toEqual({ type });
  });

  verifies('EXT-11', 'out of the schema are never followed, to nowhere mean anything, and both are told', () => {
    const { inputSchema, changes } = shown({
      type: 'object',
      properties: {
        a: { $ref: 'https://example.com/s.json' },
        b: { $ref: 'file:///etc/passwd' },
        c: { $ref: '#/gone' },
      },
    });
    expect(inputSchema['properties']).toEqual({ a: {}, b: {}, c: {} });
    expect(changes).toEqual([
      'not followed, because it leads out of its schema: "file:///etc/passwd", "https://example.com/s.json"',
      'a reference leads nowhere: "#/gone"',
    ]);
  });

  verifies('NAM-15', 'to themselves are shown to a small depth', () => {
    const level = (items: unknown) => ({ type: 'object', properties: { kids: { type: 'array', items } } });
    const { inputSchema, changes } = shown(within({ $ref: '#/$defs/tree' }, { $defs }));
    expect(inputSchema).toEqual(within(level(level({ type: 'object' }))));
    expect(changes).toEqual(['its schema refers to itself and is shown to a small depth']);
    const loop = { p: { $ref: '#/$defs/q' }, q: { $ref: '#/$defs/p' } };
    expect(partShown({ $ref: '#/$defs/p' }, 'any', { $defs: loop })).toEqual({});
  });

  verifies('NAM-15', 'that would grow without end stay small, and each part keeps its share', () => {
    const laughs = Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => {
        const $ref = `#/$defs/l${at + 1}`;
        return [
          `l${at}`,
          { type: 'object', properties: Object.fromEntries([...'abcdefgh'].map((key) => [key, { $ref }])) },
        ];
      }),
    );
    const { inputSchema, changes } = shown({
      type: 'object',
      properties: { a: { $ref: '#/$defs/l0' }, z: { $ref: '#/$defs/l0' } },
      $defs: { ...laughs, l30: { type: 'string' } },
    });
    expect(Buffer.byteLength(JSON.stringify(inputSchema))).toBeLessThanOrEqual(limits.schemaBytes);
    const { a, z } = inputSchema['properties'] as JsonObject;
    for (const each of [a, z]) expect(Object.keys((each as JsonObject)['properties'] as JsonObject)).toHaveLength(8);
    expect(changes).toContain('parts of its schema are shown without detail: there are too many');
  });
});

describe('the root', () => {
  verifies('NAM-15', 'is an object with properties, whatever it left out', () => {
    for (const provider of ['any', 'openai', 'google'] as const) {
      expect(shown({}, provider).inputSchema).toEqual({ type: 'object', properties: {} });
      expect(shown(undefined, provider).inputSchema).toEqual({ type: 'object', properties: {} });
    }
    expect(shown({ type: ['object', 'null'] }, 'anthropic').inputSchema).toEqual({ type: 'object' });
    expect(shown({ type: 'Object' }, 'anthropic').inputSchema).toEqual({ type: 'object' });
  });

  verifies('NAM-15', 'has no forms: what all need is needed, what any has can be given', () => {
    const one = {
      type: 'object',
      properties: { kind: { const: 'file' }, path: { type: 'string' } },
      required: ['kind', 'path'],
    };
    const two = {
      type: 'object',
      properties: { kind: { const: 'url' }, path: { type: 'integer' } },
      required: ['kind'],
    };
    for (const keyword of ['anyOf', 'oneOf'])
      expect(shown({ [keyword]: [one, two, { type: 'null' }] }, 'anthropic')).toEqual({
        description: '',
        inputSchema: {
          type: 'object',
          properties: { kind: { enum: ['file', 'url'] }, path: { anyOf: [{ type: 'string' }, { type: 'integer' }] } },
          required: ['kind'],
        },
        changes: [`the forms that its arguments may have (${keyword}) are shown as one`],
      });
  });

  verifies('NAM-15', 'says of each value what its form said of it', () => {
    const formOf = (value: string, more: object) => ({ properties: { action: { const: value, ...more } } });
    const actionOf = (...forms: readonly object[]) =>
      (shown({ type: 'object', oneOf: forms }, 'openai').inputSchema['properties'] as JsonObject)['action'];
    expect(
      actionOf(
        formOf('create', { description: 'Creates an item', title: 'Create' }),
        formOf('list', {}),
        formOf('delete', { description: 'Deletes the item', title: 'Delete' }),
      ),
    ).toEqual({
      enum: ['create', 'list', 'delete'],
      description: '"create": Creates an item; "delete": Deletes the item',
    });
    const same = { description: 'What to do', title: 'Action' };
    expect(actionOf(formOf('create', same), formOf('delete', same))).toEqual({ enum: ['create', 'delete'], ...same });
  });

  test('has no parts: they are shown as one', () => {
    const inputSchema = {
      $ref: '#/definitions/args',
      definitions: {
        args: { allOf: [{ $ref: '#/definitions/base' }, { properties: { b: { type: 'number' } }, required: ['b'] }] },
        base: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
      },
    };
    expect(shown(inputSchema)).toEqual({
      description: '',
      inputSchema: {
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'number' } },
        required: ['a', 'b'],
      },
      changes: [],
    });
  });

  test('tells in words which choice it leaves', () => {
    const choice = [{ required: ['a'] }, { required: ['b', 'c'] }];
    expect(shown({ type: 'object', anyOf: choice }).inputSchema['description']).toBe(
      'At least one of these is needed: a; b and c',
    );
    expect(shown({ type: 'object', oneOf: choice }, 'openai').inputSchema['description']).toBe(
      'Exactly one of these is needed: a; b and c',
    );
  });

  verifies('NAM-15', 'mentions a parameter whose name is refused, and lists the others', () => {
    const inputSchema = {
      type: 'object',
      properties: { 'filter[id]': { type: 'string' }, $top: {}, ok: { type: 'object', properties: { 'a b': {} } } },
      required: ['filter[id]', 'ok'],
      additionalProperties: false,
    };
    expect(shown(inputSchema, 'anthropic')).toEqual({
      description: '',
      inputSchema: {
        type: 'object',
        description: 'Can also be given, under exactly these names: "filter[id]" (needed), "$top"',
        properties: { ok: { type: 'object', properties: { 'a b': {} } } },
        required: ['ok'],
      },
      changes: [
        'not listed as a parameter because of its name, as models of Anthropic cannot read it: "$top", "filter[id]"',
      ],
    });
    expect(shown(inputSchema, 'openai').inputSchema).toEqual(inputSchema);
  });
});

describe('a part', () => {
  const cases: Record<string, [part: unknown, any: unknown, anthropic: unknown, openai?: unknown]> = {
    'that is a flag': [true, {}, {}],
    'that allows nothing': [false, {}, { not: {} }],
    'of several types': [
      { type: ['string', 'array'], minLength: 1, items: { type: 'string' }, description: 'One or many.' },
      {
        anyOf: [
          { type: 'string', minLength: 1, description: 'One or many.' },
          { type: 'array', items: { type: 'string' } },
        ],
      },
      { type: ['string', 'array'], minLength: 1, items: { type: 'string' }, description: 'One or many.' },
    ],
    'that may be null': [
      { type: ['string', 'null'], description: 'A text.' },
      { type: 'string', nullable: true, description: 'A text.' },
      { type: ['string', 'null'], description: 'A text.' },
    ],
    'that may be null, in forms': [
      { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null, title: 'Count' },
      { type: 'integer', nullable: true, default: null, title: 'Count' },
      { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null, title: 'Count' },
    ],
    'with values that are no texts': [
      { type: 'integer', enum: [1, 2] },
      { type: 'integer', description: 'One of: 1, 2' },
      { type: 'integer', enum: [1, 2] },
    ],
    'with one value': [{ const: 'x' }, { type: 'string', enum: ['x'] }, { const: 'x' }],
    'that is a tuple of draft 7': [
      { type: 'array', items: [{ type: 'string' }, { type: 'number' }], additionalItems: false },
      { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] }, maxItems: 2 },
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], maxItems: 2 },
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], maxItems: 2, items: {} },
    ],
    'that is a list of anything': [
      { type: 'array' },
      { type: 'array', items: {} },
      { type: 'array' },
      { type: 'array', items: {} },
    ],
    'with bounds of draft 4': [
      { type: 'integer', minimum: 0, exclusiveMinimum: true },
      { type: 'integer', minimum: 1 },
      { type: 'integer', exclusiveMinimum: 0 },
    ],
    'that is a map': [
      { type: 'object', additionalProperties: { type: 'number' } },
      { type: 'object', description: 'Any other keys may be given; each value: {"type":"number"}' },
      { type: 'object', additionalProperties: { type: 'number' } },
    ],
    'with a format few know': [
      { type: 'string', format: 'uri', description: 'Where.' },
      { type: 'string', description: 'Where. (format: uri)' },
      { type: 'string', format: 'uri', description: 'Where.' },
    ],
    'with a pattern of another language': [
      { type: 'string', pattern: '(?i)^[a-z]++$' },
      { type: 'string' },
      { type: 'string' },
    ],
    'with a pattern that looks ahead': [
      { type: 'string', pattern: '^(?!x)' },
      { type: 'string' },
      { type: 'string', pattern: '^(?!x)' },
      { type: 'string' },
    ],
    'with a type of another language': [{ type: 'Str' }, { type: 'string' }, { type: 'string' }],
    'with a type nobody knows': [{ type: 'any' }, {}, {}],
    'with malformed keywords': [
      { type: 'string', required: true, minLength: -1, description: 7, enum: [], anyOf: {}, properties: [] },
      { type: 'string' },
      { type: 'string' },
    ],
    'that needs what it does not name': [
      { type: 'object', required: ['x', 'x', 3] },
      { type: 'object', properties: { x: {} }, required: ['x'] },
      { type: 'object', required: ['x'] },
    ],
    'with a default of another type': [
      { type: 'integer', default: 'five' },
      { type: 'integer' },
      { type: 'integer', default: 'five' },
    ],
    'with a default of its second form': [
      { anyOf: [{ type: 'integer' }, { type: 'string' }], default: 'auto', example: 3, description: 'D.' },
      {
        anyOf: [
          { type: 'integer', example: 3, description: 'D.' },
          { type: 'string', default: 'auto' },
        ],
      },
      { anyOf: [{ type: 'integer' }, { type: 'string' }], default: 'auto', example: 3, description: 'D.' },
    ],
    'with a default of its second type': [
      { type: ['integer', 'string'], default: 'auto' },
      { anyOf: [{ type: 'integer' }, { type: 'string', default: 'auto' }] },
      { type: ['integer', 'string'], default: 'auto' },
    ],
    'with a default and an example of none of its forms': [
      { anyOf: [{ type: 'integer' }, { type: 'boolean' }, { type: 'null' }], default: 'auto', example: {} },
      { anyOf: [{ type: 'integer', nullable: true }, { type: 'boolean' }] },
      { anyOf: [{ type: 'integer' }, { type: 'boolean' }, { type: 'null' }], default: 'auto', example: {} },
    ],
    'with a default of null, in several forms': [
      { anyOf: [{ type: 'integer' }, { type: 'boolean' }, { type: 'null' }], default: null },
      { anyOf: [{ type: 'integer', nullable: true, default: null }, { type: 'boolean' }] },
      { anyOf: [{ type: 'integer' }, { type: 'boolean' }, { type: 'null' }], default: null },
    ],
    'with an example of another type': [
      { type: 'integer', example: 'five' },
      { type: 'integer' },
      { type: 'integer', example: 'five' },
    ],
    'with values of which one is empty': [
      { type: 'string', enum: ['', 'a\u200b'] },
      { type: 'string', description: 'One of: "", "a\\u{200b}"' },
      { type: 'string', enum: ['', 'a\u200b'] },
    ],
    'with words of its author': [
      { type: 'string', 'x-order': 3 },
      { type: 'string' },
      { type: 'string', 'x-order': 3 },
    ],
  };
  for (const [what, [part, any, anthropic, openai = anthropic]] of Object.entries(cases))
    verifies('NAM-15', what, () => {
      expect(partShown(part, 'any')).toEqual(any);
      expect(partShown(part, 'google')).toEqual(any);
      expect(partShown(part, 'anthropic')).toEqual(anthropic);
      expect(partShown(part, 'openai')).toEqual(openai);
      expect(partUnnamed(part), 'no provider named').toEqual(openai);
    });

  test('that is left out is told once, for all its places', () => {
    const part = { type: 'array', items: { type: 'string', 'x-a': 1 }, uniqueItems: true, 'x-a': 1 };
    expect(shown(within(part)).changes).toEqual([
      'not shown, because not every model can read it: "uniqueItems", "x-a"',
    ]);
    expect(shown(within(part), 'anthropic').changes).toEqual([]);
  });

  verifies(['NAM-15', 'EXT-11'], 'with more values than can be told in words says how many, and that is told', () => {
    const countries = ['', ...Array.from({ length: 300 }, (_, at) => `country${at}`)];
    const { inputSchema, changes } = shown(within({ type: 'string', enum: countries }));
    const { description = '' } = (inputSchema['properties'] as { a: { description?: string } }).a;
    expect(description).toMatch(/^One of: "", "country0", .+, "country(\d+)" and \d+ more$/);
    const [, last, more] = /country(\d+)" and (\d+) more$/.exec(description) ?? [];
    expect(Number(last) + Number(more)).toBe(299);
    expect(changes).toEqual(['not shown, because not every model can read it: "enum"']);
    const long = shown(within({ const: ['x'.repeat(2_000)] }));
    expect(long.inputSchema).toEqual(within({ type: 'array', items: {} }));
    expect(long.changes).toEqual(changes);
  });

  test('whose opposite is shown must be exact', () => {
    const inexact = { type: 'string', pattern: '\\p{L}' };
    expect(partShown({ not: inexact }, 'anthropic')).toEqual({});
    expect(partShown({ oneOf: [inexact, { type: 'string', maxLength: 1 }] }, 'anthropic')).toEqual({
      anyOf: [{ type: 'string' }, { type: 'string', maxLength: 1 }],
    });
  });

  test('may have any name', () => {
    const inputSchema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":["string","null"]},"constructor":{"type":"string"}},"required":["__proto__"]}',
    ) as JsonObject;
    const { properties } = shown(inputSchema).inputSchema as { properties: JsonObject };
    expect(Object.keys(properties)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(properties)).toBe(Object.prototype);
    expect(JSON.stringify(properties)).toBe(
      '{"__proto__":{"nullable":true,"type":"string"},"constructor":{"type":"string"}}',
    );
  });
});

describe('hidden characters', () => {
  verifies('EXT-16', 'are taken out of texts, told once a kind, and kept in values', () => {
    const { description, inputSchema, changes } = shown(
      {
        type: 'object',
        title: 'T\u202e',
        properties: { 'p\u200b': { type: 'string', description: 'a\u200bb\x1b[1m', enum: ['v\u200b'] } },
      },
      'openai',
      'Does\u200b it',
    );
    expect(description).toBe('Does it');
    expect(inputSchema).toEqual({
      type: 'object',
      title: 'T',
      properties: { 'p\u200b': { type: 'string', description: 'ab', enum: ['v\u200b'] } },
    });
    expect(changes).toEqual([
      'hidden characters are shown where its server wants them: "enum", "p\\u{200b}"',
      'hidden characters were taken out of its texts: "characters that turn the direction of text", "terminal escapes", "zero-width characters"',
    ]);
  });

  test('take everything with them that is not needed', () => {
    const part = { type: 'string', examples: ['a\u200b'], 'x-note': { deep: '\u202e' }, default: '\u200b' };
    expect(partShown(part, 'anthropic')).toEqual({ type: 'string' });
  });
});

describe('what is too large', () => {
  const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

  verifies('EXT-16', 'is cut, if it is a description', () => {
    const { description, changes } = shown({}, 'any', 'é'.repeat(3_000));
    expect(Buffer.byteLength(description)).toBeLessThanOrEqual(limits.descriptionBytes);
    expect(description).toBe(`${'é'.repeat(1_019)}… [cut]`);
    expect(changes).toEqual(['its description is cut to 2048 bytes']);
  });

  verifies(['NAM-15', 'EXT-16'], 'loses the ends of its longest descriptions first', () => {
    const properties = Object.fromEntries(
      [10, 50, 3_000, 9_000].map((length, at) => [
        `p${at}`,
        { type: 'string', description: 'x'.repeat(length), title: 'T' },
      ]),
    );
    const { inputSchema, changes } = shown({ type: 'object', properties });
    expect(bytes(inputSchema)).toBeLessThanOrEqual(limits.schemaBytes);
    expect(bytes(inputSchema)).toBeGreaterThan(limits.schemaBytes - 100);
    expect(inputSchema['properties']).toMatchObject({
      p0: properties['p0'],
      p1: properties['p1'],
      p2: properties['p2'],
    });
    expect(changes).toEqual(['descriptions within its schema are cut: it is too large']);
  });

  verifies('NAM-15', 'loses then what explains, long lists and what lies deep, and keeps what is near', () => {
    const deep = (depth: number): JsonObject =>
      depth === 0
        ? { type: 'string', title: 'T', description: 'Something about it.' }
        : { type: 'object', properties: Object.fromEntries([...'abcd'].map((key) => [key, deep(depth - 1)])) };
    const { inputSchema, changes } = shown({
      type: 'object',
      properties: {
        tree: deep(5),
        list: { type: 'string', enum: Array.from({ length: 900 }, (_, at) => `value ${at}`) },
      },
      required: ['tree'],
    });
    expect(bytes(inputSchema)).toBeLessThanOrEqual(limits.schemaBytes);
    expect(inputSchema).toMatchObject({
      properties: { list: { type: 'string' }, tree: { properties: { a: { properties: { a: { type: 'object' } } } } } },
      required: ['tree'],
    });
    expect(changes).toEqual([
      'examples, defaults and titles are not shown: its schema is too large',
      'long lists of values are not shown: its schema is too large',
      'what lies deep in its schema is shown without detail: it is too large',
    ]);
  });

  verifies('NAM-15', 'is at last only names, those that are needed before the others', () => {
    const names = Array.from({ length: 3_000 }, (_, at) => `parameter_${at}`);
    const { inputSchema, changes } = shown(
      {
        type: 'object',
        properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
        required: ['parameter_2999'],
        additionalProperties: false,
      },
      'openai',
    );
    expect(bytes(inputSchema)).toBeLessThanOrEqual(limits.schemaBytes);
    expect(inputSchema).toMatchObject({ type: 'object', required: ['parameter_2999'], additionalProperties: true });
    const shownNames = Object.keys(inputSchema['properties'] as JsonObject);
    expect(shownNames).toContain('parameter_2999');
    expect(shownNames.length).toBeGreaterThan(300);
    expect(changes).toContain(
      `${3_000 - shownNames.length} of its 3000 parameters are not shown: its schema is too large`,
    );
  });
});

describe('forms beside what they share', () => {
  const text = { type: 'string' };
  const shared = { type: 'object', properties: { id: text }, required: ['id'] };
  const form = (kind: string, more: object) => ({
    type: 'object',
    properties: { kind: { type: 'string', enum: [kind] }, ...more },
    required: ['kind', ...Object.keys(more)],
  });
  const forms = [
    form('text', { text: { type: 'object', properties: { content: text } } }),
    form('user', { user: text }),
  ];

  verifies('NAM-15', 'each have it too', () => {
    const whole = forms.map(({ properties, required, type }) => ({
      type,
      properties: { ...properties, id: text },
      required: expect.arrayContaining(['id', ...required]),
    }));
    for (const provider of ['any', 'google'] as const) {
      for (const keyword of ['anyOf', 'oneOf'])
        expect(partShown({ ...shared, [keyword]: forms }, provider)).toEqual({ anyOf: whole });
      expect(partShown({ allOf: [shared, { anyOf: forms }], description: 'D.' }, provider)).toEqual({
        anyOf: [{ ...whole[0], description: 'D.' }, whole[1]],
      });
      expect(partShown({ ...shared, anyOf: [...forms, { type: 'null' }], nullable: true }, provider)).toEqual({
        anyOf: [{ ...whole[0], nullable: true }, whole[1]],
      });
    }
  });

  verifies('NAM-15', 'are one where that would be said too often, with every property that any has', () => {
    const long = { ...shared, properties: { id: { ...text, description: 'long '.repeat(600) } } };
    const { inputSchema, changes } = shown(within({ ...long, anyOf: forms }));
    expect((inputSchema['properties'] as JsonObject)['a']).toEqual({
      ...long,
      properties: {
        ...long.properties,
        kind: { type: 'string', enum: ['text', 'user'] },
        text: { description: expect.stringContaining('"content"') },
        user: { description: 'Where it is wanted: {"type":"string"}' },
      },
      required: ['id', 'kind'],
    });
    expect(changes).toEqual(['not shown, because not every model can read it: "anyOf"']);
  });

  verifies('NAM-15', 'are told in words where they only say what is needed', () => {
    const both = { type: 'object', properties: { a: text, b: text } };
    expect(partShown({ ...both, anyOf: [{ required: ['a'] }, { required: ['b', 'c'] }] }, 'any')).toEqual({
      ...both,
      properties: { ...both.properties, c: {} },
      description: 'One of these is needed: a; b and c',
    });
  });

  verifies('NAM-15', 'have no forms left beside what another part says of the same property', () => {
    const either = { properties: { x: { anyOf: [text, { type: 'integer' }] } } };
    expect(
      partShown({ type: 'object', allOf: [either, { properties: { x: { type: 'string', minLength: 1 } } }] }, 'any'),
    ).toMatchObject({ properties: { x: { anyOf: [{ type: 'string', minLength: 1 }, {}] } } });
  });
});

const everyKeyword = {
  type: 'object',
  properties: {
    kind: { const: 'a' },
    either: { oneOf: [{ type: 'string' }, { type: 'integer', multipleOf: 2 }] },
    all: { allOf: [{ type: 'string' }, { minLength: 1 }], not: { enum: ['x'] } },
    count: { type: ['integer', 'null'], exclusiveMinimum: 0, enum: [1, 2, null] },
    list: { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'number' }, uniqueItems: true },
    map: {
      type: 'object',
      patternProperties: { '^x': {} },
      propertyNames: { maxLength: 9 },
      additionalProperties: false,
    },
    address: { type: 'string', format: 'uri', examples: ['a:b'], contentMediaType: 'text/plain' },
  },
  dependentRequired: { kind: ['either'] },
  additionalProperties: false,
};

verifies('NAM-15', 'without a provider every keyword stays that both Anthropic and OpenAI take', () => {
  expect(shownUnnamed(everyKeyword)).toEqual({ description: '', inputSchema: everyKeyword, changes: [] });
  for (const provider of ['google', 'any'] as const) {
    const { inputSchema, changes } = shown(everyKeyword, provider);
    expect(JSON.stringify(inputSchema), provider).not.toMatch(/const|oneOf|allOf|"not"|multipleOf|uniqueItems|pattern/);
    expect(changes, provider).not.toEqual([]);
  }
});

verifies('NAM-15', 'without a provider the root is mended, and what one of both refuses is left out', () => {
  const root = {
    $schema: 'https://json-schema.org/draft-07/schema#',
    anyOf: [{ required: ['a'] }],
    not: {},
    enum: [{}],
  };
  expect(shownUnnamed(root).inputSchema).toEqual({
    type: 'object',
    properties: {},
    required: ['a'],
    description: 'At least one of these is needed: a',
  });
  const { inputSchema, changes } = shownUnnamed(
    within({ type: 'array' }, { properties: { 'a b': {}, c: { type: 'array' } } }),
  );
  expect(inputSchema['properties'], 'items are added, and a name that Anthropic refuses is only mentioned').toEqual({
    c: { type: 'array', items: {} },
  });
  expect(changes).toEqual(['not listed as a parameter because of its name, as not every model can read it: "a b"']);
});

test('a provider that nobody knows is shown what all accept', () => {
  const part = { type: ['string', 'null'] };
  for (const provider of ['nobody', 'constructor', '__proto__', ''])
    expect(partShown(part, provider as Provider)).toEqual({ type: 'string', nullable: true });
});

test('what is shown is frozen, in order, and the same for equal definitions', () => {
  const one = shown({ type: 'object', properties: { b: { type: ['null', 'string'], description: 'B' }, a: {} } });
  const two = shown({ properties: { a: {}, b: { description: 'B', type: ['null', 'string'] } }, type: 'object' });
  expect(JSON.stringify(one)).toBe(JSON.stringify(two));
  expect(Object.isFrozen((one.inputSchema['properties'] as JsonObject)['b'])).toBe(true);
});

describe('hostile schemas cost little', () => {
  const many = (count: number, make: (at: number) => unknown) => Array.from({ length: count }, (_, at) => make(at));
  const names = many(40_000, (at) => `n${at}`) as string[];
  const manyTimes = (part: unknown) => Object.fromEntries(many(1_400, (at) => [`p${at}`, part]) as []);
  const cases: Record<string, unknown> = {
    'a long list of needed names, in each of many forms': {
      anyOf: many(2, () => ({ type: 'object', required: names, properties: { a: {} } })),
    },
    'many forms with many names': {
      oneOf: many(300, (at) => ({
        properties: Object.fromEntries(many(100, (each) => [`p${at}_${each}`, true]) as []),
      })),
    },
    'many parts': {
      allOf: many(3_000, (at) => ({ properties: { [`p${at}`]: { type: 'string' } }, required: [`p${at}`] })),
    },
    'many names that nobody takes': {
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [`[${name}]`, true])),
      required: names.map((name) => `[${name}]`),
    },
    'a text of five megabytes': {
      type: 'object',
      properties: { a: { type: 'string', description: '"\u200b'.repeat(1_000_000) } },
    },
    'a long text within another': within({
      description: 'a'.repeat(400_000),
      anyOf: [{ type: 'string', description: `${'a'.repeat(300)}b${'a'.repeat(200_000)}` }, { type: 'null' }],
    }),
    'a pattern that is hard to parse': within({
      type: 'string',
      pattern: `${'\\8('.repeat(40_000)}${')'.repeat(40_000)}`,
    }),
    'a long pointer, followed many times': within(
      {},
      { $defs: { t: { $ref: `#${'/a'.repeat(1_000_000)}` } }, properties: manyTimes({ $ref: '#/$defs/t' }) },
    ),
    'a long text, to which many references lead': {
      type: 'object',
      $defs: { t: { type: 'string', description: '"\u200b'.repeat(200_000) } },
      properties: manyTimes({ $ref: '#/$defs/t' }),
    },
    'many values, to which many references lead': {
      type: 'object',
      $defs: { t: { enum: ['', ...names], required: names } },
      properties: manyTimes({ $ref: '#/$defs/t', description: 'It.' }),
    },
    'many parts that need many names': within({
      allOf: many(4_000, (at) => ({ required: many(20, (each) => `p${at}_${each}`) })),
    }),
    'many parts beside many names': within({
      properties: Object.fromEntries(names.map((name) => [name, true])),
      allOf: many(4_000, (at) => ({ type: 'object', additionalProperties: false, properties: { [`a${at}`]: true } })),
    }),
    'many forms beside many names that are needed': within({
      ...{
        type: 'object',
        properties: { c: { type: 'string' } },
        required: [...names, ...names.map((name) => `${name}x`)],
      },
      anyOf: many(1_900, (at) => ({ type: 'object', properties: { a: { type: 'string', maxLength: at } } })),
    }),
    'many long values': { type: 'object', properties: { a: { enum: names, const: names } } },
  };
  for (const [what, inputSchema] of Object.entries(cases))
    verifies('EXT-11', what, () => {
      const before = process.cpuUsage();
      for (const provider of ['any', 'anthropic'] as const) {
        const text = JSON.stringify(shown(inputSchema, provider).inputSchema);
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limits.schemaBytes);
      }
      expect(process.cpuUsage(before).user / 1000).toBeLessThan(15_000);
    });
});
