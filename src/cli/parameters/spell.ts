// Owns how a value is written on the command line: `key=text` where that is read back as the same value, else `key:=JSON`. What it
// writes can be copied into a shell.

import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../kernel/json.ts';
import { findProblems } from '../../kernel/json-schema.ts';
import { limits } from '../../model/limits.ts';
import { shellWord } from '../render/text.ts';
import { coerce } from './coerce.ts';
import { type Parameter, type ParameterList, readParameters, type ValueForm } from './parameters.ts';
import { sampleOf } from './sample.ts';

/** Without quotes, as the program gets the word. */
export function argumentWord(name: string, value: unknown, forms: readonly ValueForm[]): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const isPlain = !Array.isArray(value) && (typeof value !== 'object' || value === null);
  // `key:=…` is JSON, so that a key that ends with a colon has no plain spelling.
  if (!isPlain || name.endsWith(':') || !isDeepStrictEqual(coerce(text, forms), value))
    return `${name}:=${JSON.stringify(value)}`;
  return `${name}=${text.startsWith('@') ? '@' : ''}${text}`;
}

/** As a person types it in a shell. */
export function spell(name: string, value: unknown, forms: readonly ValueForm[]): string {
  const word = argumentWord(name, value, forms);
  const [, beginning = '', end = ''] = /^([\w.-]+:?=)([\s\S]*)$/.exec(word) ?? [];
  if (beginning === '') return shellWord(word);
  return end === '' ? beginning : `${beginning}${shellWord(end)}`;
}

/** The words of a call with everything that the tool requires, as a person types them. */
export function sampleWords({ known }: Pick<ParameterList, 'known'>): readonly string[] {
  return known.filter(({ isRequired }) => isRequired).map((each) => spell(each.name, sampleOf(each), each.forms));
}

/** How to write what the person meant, or else an example; `undefined` if neither is sure to fit the schema. */
export function correction(
  parameter: Parameter,
  given: unknown,
  { schema }: Pick<ParameterList, 'schema'>,
): string | undefined {
  const { name, forms } = parameter;
  const fits = (value: unknown) => {
    const found = findProblems({ [name]: value }, schema, limits.schemaCheck);
    return found !== 'undecided' && found.every(({ path }) => path[0] !== name);
  };
  const read = typeof given === 'string' ? coerce(given, forms) : given;
  const candidates = [...(read === undefined ? [] : [read]), ...meantBy(given, forms), sampleOf(parameter)];
  const value = candidates.find(fits);
  return value === undefined ? undefined : spell(name, value, forms);
}

/** A person who writes `names=Ada`, `names=Ada,Bob` or `names=[Ada]` means a list. */
function meantBy(given: unknown, forms: readonly ValueForm[]): readonly unknown[] {
  const list = forms.find(({ type, values }) => type === 'array' && values === undefined);
  if (list === undefined || given === undefined || Array.isArray(given)) return [];
  if (typeof given !== 'string') return [[given]];
  const inner = given.trim().replace(/^\[|\]$/g, '');
  const texts = inner.split(',').map((each) => each.trim().replace(/^(["'])([\s\S]*)\1$/, '$2'));
  return [texts.filter((each) => each !== '').map((each) => coerce(each, list.items ?? []))];
}

/** How to write each argument that the schema refuses, or that is missing. */
export function corrections(args: JsonObject, schema: JsonObject): string | undefined {
  const found = findProblems(args, schema, limits.schemaCheck);
  if (found === 'undecided') return undefined;
  const parameters = readParameters(schema);
  const keys = [...new Set(found.map(({ path }) => path[0]))].slice(0, limits.suggestions);
  const spelled = keys.flatMap((key) => {
    const parameter = parameters.known.find(({ name }) => name === key);
    return (parameter && correction(parameter, args[parameter.name], parameters)) ?? [];
  });
  return spelled.length === 0 ? undefined : spelled.join(' ');
}
