// Owns the proof that the compiled schema, which runs, answers as zod does with the schema itself: which values fit, what they
// become, and which problems are reported.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type * as z from 'zod';
import { checkEach, explain } from '../../../src/config/check.ts';
import { type ConfigMap, isMap, type KeyPath } from '../../../src/config/config-map.ts';
import { entriesOf, findGroups } from '../../../src/config/groups.ts';
import { dialectOf } from '../../../src/config/read-document.ts';
import { type SchemaName, type SectionName, schemas } from '../../../src/config/schema.ts';
import { parse } from '../../../src/config/sections.ts';
import { parseJson } from '../../../src/config/sources/json.ts';
import { parseToml } from '../../../src/config/sources/toml.ts';
import { readKeys, vocabularies } from '../../../src/config/vocabulary.ts';
import { runs } from '../../effort.ts';
import { verifies } from '../../verifies.ts';
import { realFiles } from './real-files.ts';

type Issue = z.core.$ZodIssue;

const names = Object.keys(schemas) as SchemaName[];
const isSection = (name: SchemaName): name is SectionName => name !== 'listedServer';
const shapeOf = (section: SectionName): Readonly<Record<string, z.ZodType>> => schemas[section].shape;

const placeOf = ({ path, message }: { path: readonly PropertyKey[]; message: string }) => ({
  path: path as KeyPath,
  message,
});

/** zod may find two issues in one value, such as that `[]` is no text and also too short; one problem is enough for a person. */
function onePerPlace(issues: readonly Issue[]): readonly Issue[] {
  const placed = new Map(issues.toReversed().map((issue) => [JSON.stringify(issue.path), issue]));
  return issues.filter((issue) => placed.get(JSON.stringify(issue.path)) === issue);
}

/** Of a value that may have one of several shapes: the shape it has the outline of, and what is wrong inside. */
function closest(issue: Issue): readonly ReturnType<typeof placeOf>[] {
  const tried = issue.code === 'invalid_union' ? issue.errors : [];
  const begun = tried.find((issues) => issues.length > 0 && issues.every(({ path }) => path.length > 0));
  if (begun === undefined) return [placeOf(issue)];
  return onePerPlace(begun)
    .flatMap(closest)
    .map(({ path, message }) => ({ path: [...placeOf(issue).path, ...path], message }));
}

function checkEachByZod(fields: ConfigMap, section: SectionName) {
  const shape = shapeOf(section);
  const parsed = Object.keys(fields).flatMap((key) => {
    const field = Object.hasOwn(shape, key) ? shape[key] : undefined;
    return field ? [{ key, ...field.safeParse(fields[key]) }] : [];
  });
  return {
    fields: Object.fromEntries(parsed.flatMap(({ key, success, data }) => (success ? [[key, data]] : []))),
    problems: parsed.flatMap(({ key, error }) =>
      onePerPlace(error?.issues ?? [])
        .flatMap(closest)
        .map(({ path, message }) => explain({ path: [key, ...path], message }, { fields, writtenAs: new Map() })),
    ),
  };
}

/** With Node's own comparison, since there are many thousands. */
function expectSame(name: SchemaName, value: unknown): void {
  const { value: fit, issues } = parse(name, value);
  const { data, error } = schemas[name].safeParse(value);
  assert.deepStrictEqual(issues?.map(placeOf), error && onePerPlace(error.issues).map(placeOf));
  assert.deepStrictEqual(fit, data);
  if (!isSection(name) || !isMap(value)) return;
  assert.deepStrictEqual(checkEach({ fields: value, writtenAs: new Map() }, name), checkEachByZod(value, name));
}

const bounds = [0, 1, 19, 20, 256, 257, Number.MAX_SAFE_INTEGER];
const oddValues: readonly unknown[] = [
  ...[undefined, null, true, false, 0.5, 1e300, Number.NaN, Number.POSITIVE_INFINITY, 5n, Symbol('odd'), () => 1],
  ...bounds.flatMap((bound) => [bound, -bound, bound + 0.1]),
  ...['', ' ', 'odd', 'auto', 'auto:100', 'auto:101', 'on\n', 'A_1', '1A', 'all', 'off', 'steady'],
  ...[[], [''], [1, 'a', -1], [[]], [{}], [undefined], Array(2)],
  ...[
    {},
    { a: 1 },
    { a: 'b' },
    { odd: {} },
    { enabled: 1 },
    { mode: 'odd', failures: 0 },
    { failures: 0.5 },
    { failures: 1e300 },
    { jitter: 2 },
    { name: '' },
  ],
  ...[new Date(0), new Map(), Object.create(null), Object.create({ enabled: 1 }), { constructor: 1 }],
  JSON.parse('{ "__proto__": { "enabled": 1 }, "toString": "x" }'),
];

describe('a compiled schema answers as zod does', () => {
  for (const name of names)
    verifies('EXT-44', `${name}: about values of every type, for the whole and for each key`, () => {
      for (const value of oddValues) expectSame(name, value);
      for (const key of isSection(name) ? Object.keys(shapeOf(name)) : ['name', 'command', 'url', 'odd'])
        for (const value of oddValues) expectSame(name, { [key]: value });
    });

  for (const name of names)
    verifies('EXT-44', `${name}: about values that nearly fit`, () => {
      const property = fc.property(near(schemas[name]), (value) => expectSame(name, value));
      fc.assert(property, { numRuns: runs(1_000) });
    });

  const { files, absent } = realFiles('The checker of configurations');
  if (absent !== undefined) test.skip(`about real files: ${absent}`, () => undefined);
  else
    verifies('EXT-44', 'about real files', async () => {
      const counts = { files: 0, servers: 0 };
      for (const { file, text } of files) {
        const parsed = await (dialectOf(file, text) === 'json' ? parseJson(text) : parseToml(text));
        if (!parsed.ok || !isMap(parsed.document.value)) continue;
        counts.files += 1;
        counts.servers += expectSameInside(parsed.document.value);
      }
      expect([counts.files > 500, counts.servers > 800]).toEqual([true, true]);
    });
});

/** Checks the file as it is written, and each part of it in canonical keys. Returns the number of servers. */
function expectSameInside(document: ConfigMap): number {
  expectSame('file', document);
  const { groups, rest } = findGroups(document);
  const entries = groups.flatMap((group) => entriesOf(group) ?? []);
  for (const { value } of entries) {
    expectSame('server', value);
    if (isMap(value)) expectSame('server', readKeys(value, vocabularies.server).fields);
  }
  const { fields } = readKeys(rest, vocabularies.file);
  expectSame('file', fields);
  for (const name of ['permissions', 'security', 'plexus'] as const)
    if (isMap(fields[name])) expectSame(name, readKeys(fields[name], vocabularies[name]).fields);
  return entries.length;
}

/** Values that fit a schema but for a few odd ones inside. */
function near(schema: z.core.$ZodType): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 12, arbitrary: fitting(schema) }, { weight: 1, arbitrary: fc.constantFrom(...oddValues) });
}

function fitting(schema: z.core.$ZodType): fc.Arbitrary<unknown> {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'optional':
    case 'default':
    case 'prefault':
      return near(def.innerType);
    case 'string':
      return fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('on', 'auto:50', 'NAME_1'));
    case 'number':
      return fc.oneof(fc.nat(), fc.constantFrom(...bounds), fc.double({ min: 0, max: 1, noNaN: true }));
    case 'boolean':
      return fc.boolean();
    case 'enum':
      return fc.constantFrom(...Object.values(def.entries));
    case 'literal':
      return fc.constantFrom(...def.values);
    case 'array':
      return fc.array(near(def.element), { maxLength: 3 });
    case 'record':
      return fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('a', '__proto__')), near(def.valueType), {
        maxKeys: 3,
      });
    case 'object': {
      const fields = Object.entries(def.shape).map(([key, field]) => [key, near(field)]);
      return fc.record({ ...Object.fromEntries(fields), other: fc.constant(1) }, { requiredKeys: [] });
    }
    case 'union':
      return fc.oneof(...def.options.map(near));
    default:
      throw new TypeError(`The test has no values for a ${def.type}.`);
  }
}
