// Owns the proof that declared arguments, and only those, become headers, and that a wrong declaration is reported.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { faultOfParamHeaders, paramHeaders } from '../../../src/model/param-headers.ts';

const schemaOf = (properties: JsonObject, rest: JsonObject = {}) => ({ type: 'object', properties, ...rest });
const declared = (name: unknown, type: unknown = 'string') => ({ type, 'x-mcp-header': name });

test('each declared argument becomes a header, at any depth; the others do not', () => {
  const schema = schemaOf({
    region: declared('Region'),
    count: declared('Count', 'integer'),
    dry: declared('Dry', 'boolean'),
    method: declared('Method'),
    query: { type: 'string' },
    where: schemaOf({ city: declared('City') }),
  });
  const args = { region: 'eu', count: -42, dry: false, method: 'GET', query: 'SELECT 1', where: { city: 'Köln' } };
  expect(paramHeaders(schema, args)).toEqual({
    'Mcp-Param-Region': 'eu',
    'Mcp-Param-Count': '-42',
    'Mcp-Param-Dry': 'false',
    'Mcp-Param-Method': 'GET',
    'Mcp-Param-City': '=?base64?S8O2bG4=?=',
  });
});

test('an argument that is absent, null or not a scalar has no header', () => {
  const names = ['absent', 'nothing', 'list', 'object', 'huge', 'fraction', 'constructor'];
  const schema = schemaOf(
    Object.fromEntries([...names.map((name) => [name, declared(name)]), ['deep', schemaOf({ x: declared('x') })]]),
  );
  const args = { nothing: null, list: [1], object: {}, huge: 2 ** 60, fraction: 0.5, deep: 'flat' };
  expect(paramHeaders(schema, args)).toEqual({});
});

test('a schema that declares nothing costs nothing: the answer is always the same object', () => {
  const none = paramHeaders(schemaOf({ a: { type: 'string' } }), { a: 'x' });
  expect(none).toEqual({});
  expect(paramHeaders({}, {})).toBe(none);
  expect(Object.isFrozen(none)).toBe(true);
});

const nowhere = 'declares x-mcp-header where no single argument is meant';
const nameless = 'its parameter "a" declares an x-mcp-header that is no header name';
const untyped = 'its parameter "a" declares x-mcp-header but is not of type string, integer or boolean';

const faults: Record<string, [schema: JsonObject, fault: string]> = {
  'an empty name': [schemaOf({ a: declared('') }), nameless],
  'a name with a space': [schemaOf({ a: declared('My Region') }), nameless],
  'a name with a colon': [schemaOf({ a: declared('Region:Primary') }), nameless],
  'a name beyond ASCII': [schemaOf({ a: declared('Région') }), nameless],
  'a name with a control character': [schemaOf({ a: declared('Region\t1') }), nameless],
  'a name that ends in a new line': [schemaOf({ a: declared('Region\n') }), nameless],
  'a name that is no text': [schemaOf({ a: declared(7) }), nameless],
  'an object': [schemaOf({ a: declared('A', 'object') }), untyped],
  'a list': [schemaOf({ a: declared('A', 'array') }), untyped],
  'a null': [schemaOf({ a: declared('A', 'null') }), untyped],
  'a number': [schemaOf({ a: declared('A', 'number') }), untyped],
  'several types': [schemaOf({ a: declared('A', ['string', 'null']) }), untyped],
  'no type': [schemaOf({ a: { 'x-mcp-header': 'A' } }), untyped],
  'the same name twice': [
    schemaOf({ a: declared('Region'), b: declared('region') }),
    'its parameter "b" declares the x-mcp-header "region", which another one has',
  ],
  'the schema itself': [{ ...schemaOf({}), 'x-mcp-header': 'A' }, `its schema ${nowhere}`],
  'the items of a list': [schemaOf({ a: { type: 'array', items: declared('A') } }), `its parameter "a" ${nowhere}`],
  'a property behind a choice': [
    schemaOf({}, { anyOf: [schemaOf({ a: declared('A') })] }),
    `its parameter "a" ${nowhere}`,
  ],
  'a shared definition': [schemaOf({}, { $defs: { a: declared('A') } }), `its schema ${nowhere}`],
};

test.each(Object.entries(faults))(
  'declared on or with %s, a header is a fault, and nothing is mirrored',
  (_, [schema, fault]) => {
    expect(faultOfParamHeaders(schema)).toBe(fault);
    expect(paramHeaders(schema, { a: 'x', b: 'y' })).toEqual({});
  },
);

const faultless: Record<string, JsonObject> = {
  'no declarations': schemaOf({ a: { type: 'string' } }),
  'a parameter that is itself called x-mcp-header': schemaOf({ 'x-mcp-header': { type: 'string' } }),
  'the word within data': schemaOf({ a: { default: { 'x-mcp-header': '' }, enum: [{ 'x-mcp-header': 1 }] } }),
  'parts that are no schemas': { properties: 'none', $defs: [1], items: true, allOf: null },
};

test.each(Object.entries(faultless))('%s is no fault', (_, schema) =>
  expect(faultOfParamHeaders(schema)).toBeUndefined(),
);

test('any schema at all is survived', () => {
  const key = fc.constantFrom('x-mcp-header', 'properties', 'type', 'items', 'anyOf', '$defs', 'a');
  const { schema } = fc.letrec((tie) => ({
    schema: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom<unknown>('string', 'Region', null, 1),
      fc.array(tie('schema'), { maxLength: 2 }),
      fc.dictionary(key, tie('schema'), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(fc.dictionary(key, schema, { maxKeys: 4 }), (root) => {
      const fault = faultOfParamHeaders(root);
      expect(typeof fault === 'string' || fault === undefined).toBe(true);
      expect(Object.keys(paramHeaders(root, { a: { a: 'x' } })).length).toBeLessThanOrEqual(
        fault === undefined ? 2 : 0,
      );
    }),
  );
});
