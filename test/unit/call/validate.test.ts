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
  'none of a few values': [
    object({ mode: { enum: ['r', 'w'] } }),
    { mode: 'x' },
    ['"mode" must be one of ["r","w"], not string "x" (did you mean "r"?)'],
  ],
  'none of a few values, and the nearest one': [
    object({ mode: { enum: ['read', 'write', 1] } }),
    { mode: 'wirte' },
    ['"mode" must be one of ["read","write",1], not string "wirte" (did you mean "write"?)'],
  ],
  'the one value it may have': [
    object({ kind: { const: 'a' } }),
    { kind: 'b' },
    ['"kind" must be "a", not string "b"'],
  ],
  'several forms, all of them simple': [
    object({ at: { anyOf: [text, { type: 'integer' }, { const: null }] } }),
    { at: [1] },
    ['"at" must be of type string or of type integer or null, not an array'],
  ],
  'several forms, of which one comes close': [
    object({ at: { oneOf: [text, object({ line: { type: 'integer' } }, { required: ['line'] })] } }),
    { at: { line: 'x' } },
    ['"at" must fit one of 2 alternatives; of the closest one "at.line" must be of type integer, not string "x"'],
  ],
  'a text of the wrong length': [
    object({ id: { minLength: 3 } }),
    { id: '🎈🎈' },
    ['"id" must have at least 3 characters, not 2'],
  ],
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
  'a number out of range': [
    object({ count: { type: 'number', minimum: 1 } }),
    { count: 0 },
    ['"count" must be >= 1, not 0'],
  ],
  'a rule about the whole': [object({}, { minProperties: 1 }), {}, ['they must have at least 1 property, not 0']],
  'no more than five at once': [
    object({}, { required: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] }),
    {},
    ['a', 'b', 'c', 'd', 'e'].map((key) => `"${key}" is missing`),
  ],
  'a long value is cut': [
    object({ path: { type: 'number' } }),
    { path: 'x'.repeat(5_000) },
    [`"path" must be of type number, not string "${'x'.repeat(60)}…" (5000 characters)`],
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
  expect(await check(pattern('^[a-z]+$'), { a: 'ABC' })).toEqual([
    '"a" must match pattern "^[a-z]+$", but is string "ABC"',
  ]);
});

test('every pattern is its own, within one tool and between tools', async () => {
  const both = object({
    color: { type: 'string', pattern: '^#[0-9a-f]{6}$' },
    name: { type: 'string', pattern: '^[a-z]+$' },
  });
  expect(await check(both, { color: '#ff0000', name: 'red' })).toBe('passed');
  expect(await check(both, { color: 'red', name: '#ff0000' })).toEqual([
    '"color" must match pattern "^#[0-9a-f]{6}$", but is string "red"',
    '"name" must match pattern "^[a-z]+$", but is string "#ff0000"',
  ]);
  expect(await check({ ...pattern('^\\d+$'), ...draft7 }, { a: 'x' })).toEqual([
    '"a" must match pattern "^\\d+$", but is string "x"',
  ]);
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
    expect(process.cpuUsage(before).user / 1_000, 'milliseconds').toBeLessThan(3_000);
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

describe('what a model writes and means as "not given"', () => {
  const schema = object(
    { path: text, depth: { type: 'integer' }, filter: { type: ['string', 'null'] }, mode: { enum: ['r', null] } },
    { required: ['path'] },
  );

  for (const value of [null, '', ' ', 'null', 'undefined', 'None', {}, []]) {
    verifies(
      'EXT-21',
      `${JSON.stringify(value)} is left out where the schema refuses it and does not ask for it`,
      async () => {
        expect(await sent(schema, { path: 'a', depth: value })).toEqual({ path: 'a' });
        expect(await sent(object({}, { additionalProperties: false }), { odd: value })).toEqual({});
      },
    );

    verifies('EXT-21', `${JSON.stringify(value)} stays where the schema takes it`, async () => {
      const open = object({ path: {}, ids: { type: ['array', 'object', 'string', 'null'] } });
      expect(await sent(open, { path: value, ids: value })).toEqual({ path: value, ids: value });
      expect(await sent({}, { any: value })).toEqual({ any: value });
    });
  }

  verifies('EXT-21', 'a null that the schema takes stays, and so does one that it does not know', async () => {
    expect(await sent(schema, { path: 'a', filter: null, mode: null })).toEqual({
      path: 'a',
      filter: null,
      mode: null,
    });
    expect(await sent(schema, { path: 'a', unknown: null })).toEqual({ path: 'a', unknown: null });
  });

  verifies('EXT-21', 'it is left out alone: one beside it that the schema takes stays', async () => {
    expect(await sent(schema, { path: '', depth: null, filter: null })).toEqual({ path: '', filter: null });
    expect(await sent(schema, { path: 'none', depth: '', filter: 'null' })).toEqual({ path: 'none', filter: 'null' });
  });

  verifies('EXT-21', 'it is left out deep inside as well, in objects and in lists of them', async () => {
    const deep = object({
      deep: object({ a: text, n: { type: 'number' } }, { required: ['a'] }),
      all: { type: 'array', items: schema },
    });
    expect(await sent(deep, { deep: { a: '', n: null } })).toEqual({ deep: { a: '' } });
    expect(
      await sent(deep, {
        all: [
          { path: 'x', depth: 'none' },
          { path: '', depth: 1 },
        ],
      }),
    ).toEqual({
      all: [{ path: 'x' }, { path: '', depth: 1 }],
    });
    const optional = object({
      filter: { anyOf: [object({ a: text, n: { type: 'number' } }, { required: ['a'] }), { type: 'null' }] },
    });
    expect(await sent(optional, { filter: { a: '', n: '' } })).toEqual({ filter: { a: '' } });
  });

  verifies(
    'EXT-21',
    'a value among several that is no word of the tool is left out, one that is a word stays',
    async () => {
      const choice = object({ mode: { enum: ['none', 'all'] }, order: { enum: ['up', 'down'] } });
      expect(await sent(choice, { mode: 'none', order: 'none' })).toEqual({ mode: 'none' });
    },
  );

  verifies('EXT-21', 'it is no excuse for what is asked for, or for anything else that is wrong', async () => {
    expect(await check(schema, { path: null })).toEqual(['"path" must be of type string, not null']);
    expect(await check(schema, { path: 1, depth: null })).toEqual([
      '"path" must be of type string, not number 1',
      '"depth" must be of type integer, not null',
    ]);
    expect(await check(schema, { path: 'a', depth: 'x' })).toEqual(['"depth" must be of type integer, not string "x"']);
    expect(await check(object({ paths: { type: 'array', items: text } }), { paths: ['a', null] })).toEqual([
      '"paths.1" must be of type string, not null',
    ]);
  });

  verifies('EXT-21', 'a model that writes nothing else costs little and is told what is wrong', async () => {
    const args = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`key${at}`, null]));
    const before = process.cpuUsage();
    expect(await check(object({}, { additionalProperties: { type: 'string' } }), args)).toHaveLength(5);
    expect(process.cpuUsage(before).user / 1_000, 'milliseconds').toBeLessThan(3_000);
  });
});

describe('arguments that are not JSON', () => {
  const cyclic: Record<string, unknown> = { a: { b: [] } };
  (cyclic['a'] as { b: unknown[] }).b.push(cyclic);
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const throwing = new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Error('no');
      },
    },
  );
  const deep = JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`);
  const odd: Record<string, [args: unknown, problem: string]> = {
    'what holds itself': [cyclic, '"a.b.0" is inside of itself'],
    'a number without bounds': [{ n: 10n }, '"n" is a bigint, which JSON has no word for'],
    'no number': [{ deep: { n: Number.NaN } }, '"deep.n" is NaN, which JSON has no word for'],
    'a date': [{ at: new Date(0) }, '"at" is a JavaScript Date; write it as a text, a number, a list or an object'],
    'a map': [
      { all: [new Map([[1, 2]])] },
      '"all.0" is a JavaScript Map; write it as a text, a number, a list or an object',
    ],
    bytes: [
      { data: Buffer.from('a') },
      '"data" is a JavaScript Uint8Array; write it as a text, a number, a list or an object',
    ],
    'a function': [{ run: () => 1 }, '"run" is a function, which JSON has no word for'],
    'a symbol': [{ mark: Symbol('x') }, '"mark" is a symbol, which JSON has no word for'],
    'an address': [
      { url: new URL('http://a.example') },
      '"url" is a JavaScript URL; write it as a text, a number, a list or an object',
    ],
    'a getter that throws': [
      {
        get path() {
          throw new TypeError('never');
        },
      },
      'they cannot be read (TypeError)',
    ],
    'a proxy that throws': [throwing, 'they cannot be read (Error)'],
    'a proxy that is over': [revoked.proxy, 'they cannot be read (TypeError)'],
    'a date in their place': [
      new Date(0),
      'they are a JavaScript Date; write it as a text, a number, a list or an object',
    ],
    'a key that is a trap': [JSON.parse('{"a":{"__proto__":{"x":1}}}'), '"a.__proto__" is a name that is not allowed'],
    'more levels than anybody writes': [deep, 'they are nested more than 200 levels deep'],
    'a list that claims to be endless': [{ all: new Array(4_000_000_000) }, 'they hold more than 6000000 values'],
  };

  for (const [what, [args, problem]] of Object.entries(odd)) {
    test(`${what} is refused in words, whatever the schema says`, async () => {
      for (const schema of [{}, object({ a: text })]) expect(await check(schema, args)).toEqual([problem]);
      expect(({} as Record<string, unknown>)['x']).toBeUndefined();
    });
  }

  test('what only looks odd passes: no prototype, a class, a proxy that lets everything through', async () => {
    class Point {
      x = 1;
    }
    const bare = Object.assign(Object.create(null), { path: 'a' });
    for (const args of [bare, new Point(), new Proxy({ path: 'a' }, {}), { path: undefined }, { constructor: 'x' }])
      expect(await check(object({ path: text }), args)).toBe('passed');
  });

  test('what was read once is what is sent, whoever changes it later and whatever it says of itself', async () => {
    let reads = 0;
    const shifty = {
      get path() {
        return reads++ === 0 ? '/ok' : '/etc/shadow';
      },
    };
    const hidden = Object.defineProperty({ path: 'a' }, 'toJSON', { value: () => ({ path: 'evil' }) });
    const list = Object.assign(['a', undefined], { toJSON: () => 'evil' });
    const wire = async (args: JsonObject) => JSON.parse(JSON.stringify(await sent(object({ path: text }), args)));
    expect(await wire(shifty)).toEqual({ path: '/ok' });
    expect(await wire(hidden)).toEqual({ path: 'a' });
    expect(await wire({ list })).toEqual({ list: ['a', null] });
    const own = { path: 'a', deep: { list: [1] } };
    const reached = (await sent({}, own)) as typeof own;
    own.deep.list.push(2);
    expect(reached).toEqual({ path: 'a', deep: { list: [1] } });
  });

  test('more text than can be written at once is refused before anybody tries', async () => {
    const args = { a: Array.from({ length: 65 }, () => 'x'.repeat(1024 * 1024)) };
    expect(await check({}, args)).toEqual(['they hold more than 67108864 characters']);
  });

  const large: Record<string, unknown> = {
    'one long text': { a: 'x'.repeat(10_000_000) },
    'a long list': { a: Array.from({ length: 5_000_000 }, (_, at) => at % 10) },
    'many objects': { a: Array.from({ length: 400_000 }, (_, at) => ({ n: at, s: 'x' })) },
  };
  const forms = object({
    a: {
      anyOf: [
        { type: 'string', minLength: 1, maxLength: 20_000_000 },
        { type: 'array', items: {} },
      ],
    },
  });
  for (const [what, args] of Object.entries(large)) {
    test(`10 MB pass quickly: ${what}`, async () => {
      await check(forms, { a: 'warm' });
      const before = process.cpuUsage();
      expect(await check(forms, args)).toBe('passed');
      expect(process.cpuUsage(before).user / 1_000, 'milliseconds of a slow machine').toBeLessThan(1_500);
    });
  }
});

verifies('CAL-04', 'what is told of bad arguments is bounded, whoever wrote the names', async () => {
  const key = 'k'.repeat(1_000_000);
  const found = await check(
    object({ [`${key}x`]: text }, { additionalProperties: false, required: ['z'.repeat(100_000)] }),
    { [key]: 1, [`${key}x`]: 'y'.repeat(100_000).split('') },
  );
  expect(found).toHaveLength(3);
  for (const problem of found) expect(problem.length).toBeLessThan(700);
});
