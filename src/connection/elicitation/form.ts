// Owns what a form is that a server may show a person: flat, of texts, numbers, yes or no, and choices, as the protocol
// says; and what is wrong with an answer to it.

import { isObject, type JsonObject } from '../../kernel/json.ts';
import { problemsWith } from '../../kernel/json-schema.ts';
import { limits } from '../../model/limits.ts';

export interface FormSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, FormField>>;
  readonly required?: readonly string[];
}

export type FormField = TextField | NumberField | BooleanField | ChoiceField | ChoicesField;

export interface FieldDescription {
  readonly title?: string;
  readonly description?: string;
}

export interface TextField extends FieldDescription {
  readonly type: 'string';
  readonly minLength?: number;
  readonly maxLength?: number;
  /** `password` is none of the protocol's, but tells what a server is after. */
  readonly format?: TextFormat;
  readonly default?: string;
}

export const textFormats = ['email', 'uri', 'date', 'date-time', 'password'] as const;
export type TextFormat = (typeof textFormats)[number];

export interface NumberField extends FieldDescription {
  readonly type: 'number' | 'integer';
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly default?: number;
}

export interface BooleanField extends FieldDescription {
  readonly type: 'boolean';
  readonly default?: boolean;
}

export interface FormOption {
  readonly const: string;
  readonly title?: string;
}

export type ChoiceField = FieldDescription & { readonly type: 'string'; readonly default?: string } & (
    | { readonly enum: readonly string[]; readonly enumNames?: readonly string[] }
    | { readonly oneOf: readonly FormOption[] }
  );

export interface ChoicesField extends FieldDescription {
  readonly type: 'array';
  readonly items:
    | { readonly type: 'string'; readonly enum: readonly string[] }
    | { readonly anyOf: readonly FormOption[] };
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: readonly string[];
}

/** What a person may choose from; `undefined` where anything may be typed. */
export function optionsOf(field: FormField): readonly FormOption[] | undefined {
  const of = field.type === 'array' ? field.items : field;
  if ('oneOf' in of) return of.oneOf;
  if ('anyOf' in of) return of.anyOf;
  if (!('enum' in of)) return undefined;
  const titles = field.type === 'string' && 'enumNames' in field ? (field.enumNames ?? []) : [];
  return of.enum.map((value, at) => ({ const: value, ...(titles[at] !== undefined && { title: titles[at] }) }));
}

export type FilledForm =
  | { readonly ok: true; readonly content: JsonObject }
  /** The problems may quote what was answered; the names of the fields do not. */
  | { readonly ok: false; readonly problems: readonly string[]; readonly fields: readonly string[] };

/** What goes to the server: what it asked for and nothing else, with its own defaults where something was left out. */
export function fillForm(schema: FormSchema, given: unknown = {}): FilledForm {
  if (!isObject(given)) return { ok: false, problems: ['the answer must be an object'], fields: [] };
  const content = Object.fromEntries(
    Object.entries(schema.properties).flatMap(([name, field]) => {
      // No field can be null: whoever says so has left it out.
      const value = (Object.hasOwn(given, name) ? given[name] : undefined) ?? field.default;
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
  const problems = [...problemsWith(content, schema, limits.schemaCheck), ...oddValues(schema, content)];
  if (problems.length === 0) return { ok: true, content };
  const isWrong = ([name, field]: readonly [string, FormField]) =>
    Object.hasOwn(content, name) ? problemsInField(field, content[name]).length > 0 : schema.required?.includes(name);
  // A form of one field is that field, and asks no further.
  const fields = Object.entries(schema.properties);
  return { ok: false, problems, fields: (fields.length > 1 ? fields.filter(isWrong) : fields).map(([name]) => name) };
}

export function problemsInField(field: FormField, value: unknown): readonly string[] {
  const filled = fillForm({ type: 'object', properties: { it: field }, required: ['it'] }, { it: value });
  return filled.ok ? [] : filled.problems;
}

/** What a schema does not check by itself: formats, and numbers that JSON does not know. */
function oddValues({ properties }: FormSchema, content: JsonObject): readonly string[] {
  return Object.entries(content).flatMap(([name, value]) => {
    if (typeof value === 'number' && !Number.isFinite(value)) return [`"${name}" must be a number`];
    const field = properties[name];
    const format = field?.type === 'string' && 'format' in field ? field.format : undefined;
    if (format === undefined || typeof value !== 'string' || formats[format].fits(value)) return [];
    return [`"${name}" must be ${formats[format].words}`];
  });
}

const isDate = (text: string) => {
  const date = /^\d{4}-\d\d-\d\d$/.test(text) ? new Date(`${text}T00:00:00Z`) : undefined;
  return date !== undefined && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
};
const time = /^[Tt ]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

const formats: Readonly<Record<TextFormat, { readonly fits: (text: string) => boolean; readonly words: string }>> = {
  email: { fits: (text) => /^[^\s@]+@[^\s@]+$/.test(text), words: 'an e-mail address' },
  uri: { fits: (text) => URL.canParse(text), words: 'an address such as https://example.com' },
  date: { fits: isDate, words: 'a date such as 2026-07-28' },
  'date-time': {
    fits: (text) => isDate(text.slice(0, 10)) && time.test(text.slice(10)),
    words: 'a date and time such as 2026-07-28T12:00:00Z',
  },
  password: { fits: () => true, words: 'a password' },
};
