// Owns reading the form that a server sends. Builds a new form of known keywords only, so that a host gets nothing else and
// every answer can be checked.

import { cleanText, hidesSomething } from '../../kernel/clean-text.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { limits } from '../../model/limits.ts';
import { invalidParams } from '../server-request-error.ts';
import {
  type ChoicesField,
  type FieldDescription,
  type FormField,
  type FormOption,
  type FormSchema,
  problemsInField,
  type TextField,
  textFormats,
} from './form.ts';

const bounds = limits.elicitation;

/** Throws the error for the server if the form is not allowed. */
export function readForm(schema: unknown): FormSchema {
  if (!isObject(schema) || schema['type'] !== 'object' || !isObject(schema['properties']))
    throw invalidParams('requestedSchema must be of type object, with properties');
  const fields = Object.entries(schema['properties']);
  if (fields.length > bounds.fields) throw invalidParams(`a form may have no more than ${bounds.fields} fields`);
  const properties = Object.fromEntries(fields.map(([name, field]) => [readName(name), readField(name, field)]));
  const { required } = schema;
  if (required === undefined) return { type: 'object', properties };
  if (!isListOfTexts(required) || required.some((name) => !Object.hasOwn(properties, name)))
    throw invalidParams('required must name properties of the form');
  return { type: 'object', properties, required: [...new Set(required)] };
}

/** A name is part of the answer: refused, never cleaned. `__proto__` would change the object in which a host collects it. */
function readName(name: string): string {
  if (name.length <= bounds.nameChars && name !== '__proto__' && !hidesSomething(name)) return name;
  throw invalidParams('a field has a name that cannot be shown');
}

function readField(name: string, value: unknown): FormField {
  const schema = isObject(value) ? value : {};
  const field = fieldOf(name, { ...schema });
  const { default: proposed } = schema;
  // Drop a default that does not fit: it would be sent in the person's name, and refused.
  return proposed === undefined || !isProposable(field, proposed)
    ? field
    : ({ ...field, default: proposed } as FormField);
}

function fieldOf(name: string, schema: JsonObject): FormField {
  const shown = { ...shownText(schema, 'title'), ...shownText(schema, 'description') };
  switch (schema['type']) {
    case 'string':
      return { type: 'string', ...shown, ...(readChoice(name, schema) ?? readText(name, schema)) };
    case 'number':
    case 'integer':
      return { type: schema['type'], ...shown, ...numbersOf(name, schema, numberBounds) };
    case 'boolean':
      return { type: 'boolean', ...shown };
    case 'array':
      return {
        type: 'array',
        ...shown,
        items: readItems(name, schema['items']),
        ...numbersOf(name, schema, itemBounds),
      };
    default:
      throw invalidParams(`field "${name}": only texts, numbers, yes or no, and choices may be asked for`);
  }
}

const numberBounds = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const;
const itemBounds = ['minItems', 'maxItems'] as const;

function shownText<Key extends keyof FieldDescription>(
  schema: JsonObject,
  key: Key,
): { readonly [key in Key]?: string } {
  const text = schema[key];
  return typeof text === 'string' && text !== ''
    ? ({ [key]: shorten(cleanText(text).text, bounds.textChars) } as never)
    : {};
}

/** Never cuts a character in half. */
export function shorten(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars).replace(/[\ud800-\udbff]$/, '')}…`;
}

function numbersOf<Key extends string>(name: string, schema: JsonObject, keys: readonly Key[]) {
  const found = keys.filter((key) => schema[key] !== undefined);
  if (found.some((key) => !Number.isFinite(schema[key]) || (key === 'multipleOf' && Number(schema[key]) <= 0)))
    throw invalidParams(`field "${name}": its bounds must be numbers`);
  return Object.fromEntries(found.map((key) => [key, schema[key]])) as { readonly [key in Key]?: number };
}

function readText(name: string, schema: JsonObject): Pick<TextField, 'minLength' | 'maxLength' | 'format'> {
  const format = textFormats.find((each) => each === schema['format']);
  return { ...numbersOf(name, schema, ['minLength', 'maxLength'] as const), ...(format && { format }) };
}

function readChoice(name: string, schema: JsonObject) {
  const { enum: values, enumNames: names, oneOf, anyOf } = schema;
  if (values !== undefined) {
    const options = readValues(name, values);
    // Names match values by position, so a list of another length is dropped.
    const isNamed =
      isListOfTexts(names) &&
      Array.isArray(values) &&
      names.length === options.length &&
      values.length === options.length;
    return {
      enum: options,
      ...(isNamed && { enumNames: names.map((each) => shorten(cleanText(each).text, bounds.textChars)) }),
    };
  }
  const options = oneOf ?? anyOf;
  return options === undefined ? undefined : { oneOf: readOptions(name, options) };
}

function readItems(name: string, items: unknown): ChoicesField['items'] {
  const { enum: values, anyOf, oneOf } = isObject(items) ? items : {};
  if (values !== undefined) return { type: 'string', enum: readValues(name, values) };
  return { anyOf: readOptions(name, anyOf ?? oneOf) };
}

function readValues(name: string, values: unknown): readonly string[] {
  if (!isListOfTexts(values) || values.length === 0 || values.length > bounds.options || !values.every(isShowable))
    throw invalidParams(`field "${name}": its choices must be 1 to ${bounds.options} texts that can be shown`);
  return [...new Set(values)];
}

function readOptions(name: string, list: unknown): readonly FormOption[] {
  const options = Array.isArray(list) ? list.filter(isObject) : [];
  const values = readValues(name, Array.isArray(list) ? options.map((option) => option['const']) : list);
  return values.map((value) => {
    const option = options.find((each) => each['const'] === value) ?? {};
    return { const: value, ...shownText(option, 'title') };
  });
}

/** A value goes back to the server unchanged, so one with invisible characters is refused instead of cleaned. */
const isShowable = (text: string) => text.length <= bounds.textChars && !hidesSomething(text);

function isListOfTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isProposable(field: FormField, proposed: unknown): boolean {
  const texts = Array.isArray(proposed) ? proposed : [proposed];
  if (texts.some((each) => typeof each === 'string' && !isShowable(each))) return false;
  return problemsInField(field, proposed).length === 0;
}
