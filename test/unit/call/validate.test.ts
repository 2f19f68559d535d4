// Owns the proof that arguments are checked in words a model can act on, and that no schema can stall or break the host.

import { describe, expect, onTestFinished, test } from 'vitest';
import { validate } from '../../../src/call/validate.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import { verifies } from '../../verifies.ts';
import { callOf, outcomeOf, toolOf } from './stages.ts';

/** The problems that were found, or that the call went through. */
async function check(inputSchema: JsonObject, args: unknown): Promise<readonly string[] | 'passed'> {
  const tool = toolOf('files', 'read', { inputSchema });
  const perform = validate()(async () => outcomeOf(tool));
  try {
    await perform(callOf(tool, { arguments: args as JsonObject }));
    return 'passed';
  } catch (error) {
    if (error instanceof RuntimeError && error.code === 'ARGUMENTS_BAD') {
      const { problems, ...id } = error.data as { server: string; tool: string; problems: readonly string[] };
      expect(id).toEqual({ server: 'files', tool: 'read' });
      return problems;
    }
    throw error;
  }
}

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more });
const draft7 = { $schema: 'http://json-schema.org/draft-07/schema#' };
const draft2020 = { $schema: 'https://json-schema.org/draft/2020-12/schema' };
const text = { type: 'string' };

const sentences: Record<string, [schema: JsonObject, args: JsonObject, problems: string[]]> = {
  'what is missing': [object({ path: text }, { required: ['path'] }), {}, ['"path" is missing']],
  'what is missing, and what was probably meant': [
    object({ path: text }, { required: ['path'] }),
    { pth: 'a' },
    ['"path" is missing (there is "pth")'],
  ],
  'what is missing deep inside': [
    object({ filter: object({ name: text }, { required: ['name'] }) }),
    { filter: {} },
    ['"name" is missing in "filter"'],
  ],
  'the wrong type, and what came': [
    object({ path: text }),
    { path: 5 },
    ['"path" must be of type string, not number 5'],
  ],
  'the wrong type deep inside': [
    object({ filter: object({ depth: { type: 'integer' } }) }),
    { filter: { depth: 'x' } },
    ['"filter.depth" must be of type integer, not string "x"'],
  ],
  'the wrong type in a list': [
    object({ paths: { type: 'array', items: text } }),
    { paths: ['a', null, []] },
    ['"paths.1" must be of type string, not null', '"paths.2" must be of type string, not an array'],
  ],
  'several types': [
    object({ path: { type: ['string', 'null'] } }),
    { path: true },
    ['"path" must be of type string or null, not boolean true'],
  ],
  'none of a few values': [object({ mode: { enum: ['r', 'w'] } }), { mode: 'x' }, ['"mode" must be one of ["r","w"]']],
  'a key nobody knows, and the nearest one': [
    object({ path: text }, { additionalProperties: false }),
    { pathh: 'a' },
    ['"pathh" is not known (did you mean "path"?)'],
  ],
  'a key nobody knows, far from any other': [
    object({ path: text }, { additionalProperties: false }),
    { zzz: 'a' },
    ['"zzz" is not known'],
  ],
  'a number out of range': [object({ count: { type: 'number', minimum: 1 } }), { count: 0 }, ['"count" must be >= 1']],
  'a rule about the whole': [object({}, { minProperties: 1 }), {}, ['they must have at least 1 property']],
  'no more than five at once': [
    object({}, { required: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] }),
    {},
    ['a', 'b', 'c', 'd', 'e'].map((key) => `"${key}" is missing`),
  ],
  'a long value is cut': [
    object({ path: { type: 'number' } }),
    { path: 'x'.repeat(5_000) },
    [`"path" must be of type number, not string "${'x'.repeat(59)}… (5002 characters)`],
  ],
  'a key with a slash in it': [
    object({ 'a/b~c': text }),
    { 'a/b~c': 1 },
    ['"a/b~c" must be of type string, not number 1'],
  ],
};

for (const [what, [schema, args, problems]] of Object.entries(sentences)) {
  test(`a problem is told in words: ${what}`, async () => expect(await check(schema, args)).toEqual(problems));
}

test('a key deep inside is compared with its own neighbors, not with those at the top', async () => {
  const schema = object({ path: text, filter: object({ pattern: text }, { additionalProperties: false }) });
  expect(await check(schema, { path: 'a', filter: { pth: 1 } })).toEqual(['"pth" is not known in "filter"']);
  expect(await check(schema, { path: 'a', filter: { patern: 1 } })).toEqual([
    '"patern" is not known in "filter" (did you mean "pattern"?)',
  ]);
});

test('arguments that fit pass, keys that nobody forbade included', async () => {
  expect(await check(object({ path: text }, { required: ['path'] }), { path: 'a', more: 1 })).toBe('passed');
});

const notObjects: Record<string, [args: unknown, problem: string]> = {
  null: [null, 'they must be an object, not null'],
  'a list': [[], 'they must be an object, not an array'],
  'a text': ['{}', 'they must be an object, not string "{}"'],
  'a number': [42, 'they must be an object, not number 42'],
};

for (const [what, [args, problem]] of Object.entries(notObjects)) {
  verifies('CAL-04', `${what} is rejected, whatever the schema says`, async () => {
    for (const schema of [
      {},
      { type: 'object' },
      object({ a: text }),
      { type: ['string', 'array', 'null', 'number'] },
    ]) {
      expect(await check(schema, args)).toEqual([problem]);
    }
  });
}

test('both dialects are spoken, each with its own words', async () => {
  const tuple7 = object({ pair: { type: 'array', items: [text, { type: 'number' }] } }, draft7);
  const tuple2020 = object({ pair: { type: 'array', prefixItems: [text, { type: 'number' }] } });
  for (const schema of [tuple7, tuple2020, { ...tuple2020, ...draft2020 }]) {
    expect(await check(schema, { pair: ['a', 1] })).toBe('passed');
    expect(await check(schema, { pair: ['a', 'b'] })).toEqual(['"pair.1" must be of type number, not string "b"']);
  }
});

test('a reference inside the schema is followed, in both dialects', async () => {
  const spellings: [string, JsonObject][] = [
    ['definitions', draft7],
    ['$defs', draft2020],
    ['$defs', {}],
  ];
  for (const [key, dialect] of spellings) {
    const schema = object({ path: { $ref: `#/${key}/path` } }, { [key]: { path: text }, ...dialect });
    expect(await check(schema, { path: 'a' })).toBe('passed');
    expect(await check(schema, { path: 1 })).toEqual(['"path" must be of type string, not number 1']);
  }
});

test('a schema that refers to itself is followed as deep as the arguments go', async () => {
  const tree = object({ child: { $ref: '#' }, name: text });
  expect(await check(tree, { child: { child: { name: 1 } } })).toEqual([
    '"child.child.name" must be of type string, not number 1',
  ]);
});

test('a schema is never asked about a tool that is not its own', async () => {
  const own = (type: string) =>
    object({ a: { $ref: 'https://a.example/item' } }, { $defs: { item: { $id: 'https://a.example/item', type } } });
  expect(await check(own('string'), { a: 1 })).toEqual(['"a" must be of type string, not number 1']);
  expect(await check(own('number'), { a: 'x' })).toEqual(['"a" must be of type number, not string "x"']);
  expect(await check(own('number'), { a: 1 })).toBe('passed');
  expect(await check(object({ a: { $ref: 'https://a.example/item' } }), { a: {} }), 'not found').toBe('passed');
  const root = { ...object({ a: text }), $id: 'https://a.example/root' };
  expect(await check(root, { a: 1 })).toEqual(['"a" must be of type string, not number 1']);
  expect(await check({ ...root, ...object({ a: { type: 'number' } }) }, { a: 1 })).toBe('passed');
});

const unusable: Record<string, JsonObject> = {
  'a type that does not exist': object({ a: { type: 'colour' } }),
  'a reference to nowhere': object({ a: { $ref: '#/$defs/none' } }),
  'a reference to somewhere else': object({ a: { $ref: 'https://a.example/schema' } }),
  'a keyword of the wrong kind': object({ a: text }, { required: 'a' }),
  'a pattern that is none': object({ a: { type: ['string', 'number'], pattern: '(' }, b: text }),
  'properties that are no map': { type: 'object', properties: [1] },
  'a draft nobody speaks': object(
    { a: { exclusiveMinimum: true, minimum: 'x' } },
    { $schema: 'http://json-schema.org/draft-04/schema#' },
  ),
  'a rule that is true of itself only': { type: 'object', allOf: [{ $ref: '#' }] },
};

for (const [what, schema] of Object.entries(unusable)) {
  test(`a schema with ${what} is left to the server, and the tool stays callable`, async () => {
    expect(await check(schema, what.includes('pattern') ? { a: 'x', b: 1 } : { a: 1 })).toBe('passed');
  });
}

test('the size of a schema costs nothing', async () => {
  const schema = object({ a: { type: 'string', description: 'x'.repeat(256 * 1024) } });
  expect(await check(schema, { a: 1 })).toEqual(['"a" must be of type string, not number 1']);
});

test('a schema that asks to be checked later breaks nothing', async () => {
  const lost: unknown[] = [];
  const hear = (error: unknown) => lost.push(error);
  process.on('unhandledRejection', hear);
  onTestFinished(() => {
    process.off('unhandledRejection', hear);
  });
  const found = await check({ $async: true, ...object({ a: text }, { required: ['a'] }) }, {});
  await new Promise((resolve) => setImmediate(resolve));
  expect(lost).toEqual([]);
  expect(['passed', ['"a" is missing']]).toContainEqual(found);
});

test('a schema without rules is open', async () => {
  expect(await check({}, { any: 1 })).toBe('passed');
  expect(await check({ type: 'object', ...draft7 }, { any: 1 })).toBe('passed');
});

const pattern = (source: string) => object({ a: { type: 'string', pattern: source } });

test('a pattern is checked', async () => {
  expect(await check(pattern('^[a-z]+$'), { a: 'abc' })).toBe('passed');
  expect(await check(pattern('^[a-z]+$'), { a: 'ABC' })).toEqual(['"a" must match pattern "^[a-z]+$"']);
});

test('every pattern is its own, within one tool and between tools', async () => {
  const both = object({
    color: { type: 'string', pattern: '^#[0-9a-f]{6}$' },
    name: { type: 'string', pattern: '^[a-z]+$' },
  });
  expect(await check(both, { color: '#ff0000', name: 'red' })).toBe('passed');
  expect(await check(both, { color: 'red', name: '#ff0000' })).toEqual([
    '"color" must match pattern "^#[0-9a-f]{6}$"',
    '"name" must match pattern "^[a-z]+$"',
  ]);
  expect(await check({ ...pattern('^\\d+$'), ...draft7 }, { a: 'x' })).toEqual(['"a" must match pattern "^\\d+$"']);
  expect(await check({ ...pattern('^[x]$'), ...draft7 }, { a: 'x' })).toBe('passed');
});

test('names of keys are matched by patterns too', async () => {
  const schema = { type: 'object', patternProperties: { '^n_': { type: 'number' } }, additionalProperties: false };
  expect(await check(schema, { n_a: 1 })).toBe('passed');
  expect(await check(schema, { n_a: 'x' })).toEqual(['"n_a" must be of type number, not string "x"']);
  expect(await check(schema, { m_a: 1 })).toEqual(['"m_a" is not known']);
});

test('a text too long for its pattern is left to the server, whatever stands around the pattern', async () => {
  const long = `data:${'x'.repeat(3_000)}`;
  expect(await check(pattern('^data:[a-z]+$'), { a: long })).toBe('passed');
  const either = {
    oneOf: [
      { type: 'string', pattern: '^https:[a-z]+$' },
      { type: 'string', pattern: '^data:[a-z]+$' },
    ],
  };
  expect(await check(object({ a: either }), { a: long })).toBe('passed');
  expect(await check(object({ a: { not: { pattern: '^https:[a-z]+$' } } }), { a: long })).toBe('passed');
});

/** The bits of a schema's tree, each of which is asked twice about the same value. */
const fanOut = (depth: number): JsonObject => {
  const levels = Array.from({ length: depth }, (_, level) => {
    const next = { $ref: `#/$defs/level${level + 1}` };
    return [`level${level}`, { anyOf: [next, next] }];
  });
  return object(
    { a: { $ref: '#/$defs/level0' } },
    { $defs: { ...Object.fromEntries(levels), [`level${depth}`]: text } },
  );
};

const stalling: Record<string, [schema: JsonObject, value: unknown]> = {
  'a repeated group': [pattern('^(a+)+$'), `${'a'.repeat(30)}b`],
  'two runs of the same': [pattern('a*a*b'), 'a'.repeat(2_000)],
  'three runs of the same': [pattern('a*a*a*b'), 'a'.repeat(200)],
  'many maybes': [pattern(`^${'a?'.repeat(25)}b$`), 'a'.repeat(26)],
  'many choices': [pattern(`^${'(?:a|a)'.repeat(24)}b`), 'a'.repeat(25)],
  'a look back': [pattern('^(a*)\\1b$'), 'a'.repeat(2_000)],
  'a text without end': [pattern('^[a-z]*$'), 'a'.repeat(5_000_000)],
  'references that double at each step': [fanOut(19), 1],
};

for (const [what, [schema, value]] of Object.entries(stalling)) {
  test(`a schema cannot stall the host: ${what}`, async () => {
    await check(pattern('^warm$'), { a: 'warm' });
    const before = process.cpuUsage();
    await check(schema, { a: value });
    expect(process.cpuUsage(before).user / 1_000, 'milliseconds').toBeLessThan(600);
  });
}

test('a schema holds for every call of its tool, the first and the next', async () => {
  const tool = toolOf('files', 'read', { inputSchema: object({ a: text }) });
  const seen: unknown[] = [];
  const perform = validate()(async (call) => {
    seen.push(call.arguments);
    return outcomeOf(tool);
  });
  await perform(callOf(tool, { arguments: { a: 'first' } }));
  await perform(callOf(tool, { arguments: { a: 'second' } }));
  const third = async () => perform(callOf(tool, { arguments: { a: 3 } }));
  await expect(third()).rejects.toThrow('"a" must be of type string, not number 3');
  expect(seen).toEqual([{ a: 'first' }, { a: 'second' }]);
});

describe('what a model writes as null and means as "not given"', () => {
  const schema = object(
    { path: text, depth: { type: 'integer' }, filter: { type: ['string', 'null'] }, mode: { enum: ['r', null] } },
    { required: ['path'] },
  );

  /** What reaches the server. */
  async function sent(inputSchema: JsonObject, args: JsonObject): Promise<unknown> {
    const tool = toolOf('files', 'read', { inputSchema });
    let reached: unknown = 'nothing';
    const perform = validate()(async (call) => {
      reached = call.arguments;
      return outcomeOf(tool);
    });
    await perform(callOf(tool, { arguments: args }));
    return reached;
  }

  test('is left out where the schema refuses it and does not ask for it', async () => {
    expect(await sent(schema, { path: 'a', depth: null })).toEqual({ path: 'a' });
    expect(await sent(object({}, { additionalProperties: false }), { odd: null })).toEqual({});
  });

  test('stays where the schema takes it, and where nothing is wrong', async () => {
    expect(await sent(schema, { path: 'a', filter: null, mode: null })).toEqual({
      path: 'a',
      filter: null,
      mode: null,
    });
    expect(await sent(schema, { path: 'a', unknown: null })).toEqual({ path: 'a', unknown: null });
    expect(await sent({}, { any: null })).toEqual({ any: null });
  });

  test('is left out alone: a null beside it that the schema takes stays', async () => {
    expect(await sent(schema, { path: 'a', depth: null, filter: null })).toEqual({ path: 'a', filter: null });
  });

  test('is no excuse for what is asked for, or for anything else that is wrong', async () => {
    expect(await check(schema, { path: null })).toEqual(['"path" must be of type string, not null']);
    expect(await check(schema, { path: 1, depth: null })).toEqual([
      '"path" must be of type string, not number 1',
      '"depth" must be of type integer, not null',
    ]);
    expect(await check(schema, { path: 'a', depth: 'x' })).toEqual(['"depth" must be of type integer, not string "x"']);
    expect(await check(object({ deep: object({ a: text }) }), { deep: { a: null } })).toEqual([
      '"deep.a" must be of type string, not null',
    ]);
  });
});
