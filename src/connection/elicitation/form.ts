// Owns the form of an elicitation, as the protocol defines it: a flat object of strings, numbers, booleans and choices. Also
// checks an answer against it. `read-form.ts` reads the form that a server sends.

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
  /** `password` is not in the protocol, but shows that a server asks for a secret. */
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

/** The options a person may choose from; undefined for a field with free input. */
export function optionsOf(field: FormField): readonly FormOption[] | undefined {
  const schema = field.type === 'array' ? field.items : field;
  if ('oneOf' in schema) return schema.oneOf;
  if ('anyOf' in schema) return schema.anyOf;
  if (!('enum' in schema)) return undefined;
  const titles = field.type === 'string' && 'enumNames' in field ? (field.enumNames ?? []) : [];
  return schema.enum.map((value, at) => ({ const: value, ...(titles[at] !== undefined && { title: titles[at] }) }));
}

export type FilledForm =
  | { readonly ok: true; readonly content: JsonObject }
  /** `problems` may quote the person's answer; `fields` holds only names. */
  | { readonly ok: false; readonly problems: readonly string[]; readonly fields: readonly string[] };

/** The content for the server: only the fields of its form, with the form's defaults for those left out. */
export function fillForm(schema: FormSchema, answer: unknown = {}): FilledForm {
  if (!isObject(answer)) return { ok: false, problems: ['the answer must be an object'], fields: [] };
  const content = Object.fromEntries(
    Object.entries(schema.properties).flatMap(([name, field]) => {
      // No field may be null, so null counts as left out.
      const value = (Object.hasOwn(answer, name) ? answer[name] : undefined) ?? field.default;
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
  const problems = [...problemsWith(content, schema, limits.schemaCheck), ...oddValues(schema, content)];
  if (problems.length === 0) return { ok: true, content };
  const isWrong = ([name, field]: readonly [string, FormField]) =>
    Object.hasOwn(content, name) ? problemsInField(field, content[name]).length > 0 : schema.required?.includes(name);
  // With one field only, that field is wrong. Checking it would recurse: `problemsInField` fills a form of one field.
  const fields = Object.entries(schema.properties);
  return { ok: false, problems, fields: (fields.length > 1 ? fields.filter(isWrong) : fields).map(([name]) => name) };
}

export function problemsInField(field: FormField, value: unknown): readonly string[] {
  const filled = fillForm({ type: 'object', properties: { it: field }, required: ['it'] }, { it: value });
  return filled.ok ? [] : filled.problems;
}

/** Problems that the schema check does not find: formats, and numbers that JSON does not have. */
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
