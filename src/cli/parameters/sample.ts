// Owns a value that a parameter takes, for the lines that a person copies: the schema's own example, or one made up from its words.

import type { Parameter, ValueForm } from './parameters.ts';

export function sampleOf({ name, forms, examples, default: preset }: Parameter): unknown {
  const [example] = examples;
  if (example !== undefined) return example;
  if (preset !== undefined && preset !== null && preset !== '') return preset;
  // A value says more than the null that stands beside it.
  const form = forms.find(({ type }) => type !== 'null') ?? forms[0];
  return form === undefined ? null : sampleOfForm(form, name);
}

function sampleOfForm({ type, values, items = [], fields = [], schema }: ValueForm, name: string): unknown {
  if (values !== undefined) return values[0];
  switch (type) {
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'number':
    case 'integer':
      return sampleNumber(schema);
    case 'array':
      return Array.from({ length: Math.min(countIn(schema['minItems'], 1), MOST_ITEMS) }, (_, at) =>
        sampleItem(items, singular(name), at),
      );
    case 'object':
      return Object.fromEntries(
        fields.filter(({ isRequired }) => isRequired).map((each) => [each.name, sampleOf(each)]),
      );
    default:
      return sampleText(schema, name);
  }
}

const MOST_ITEMS = 5;

/** Further items are other ones, because a list may take each only once. */
function sampleItem(items: readonly ValueForm[], name: string, at: number): unknown {
  const [form] = items;
  if (form?.values) return form.values[at % form.values.length];
  const sample = form === undefined ? placeholder(name) : sampleOfForm(form, name);
  if (at === 0) return sample;
  if (typeof sample === 'number') return sample + at;
  return typeof sample === 'string' && schemaIsFree(form) ? `${sample}${at + 1}` : sample;
}

const schemaIsFree = (form: ValueForm | undefined) =>
  form === undefined || (form.schema['format'] === undefined && form.schema['pattern'] === undefined);

const countIn = (value: unknown, least: number) => (typeof value === 'number' ? Math.max(value, least) : least);

function sampleNumber({
  minimum,
  exclusiveMinimum,
  maximum,
  exclusiveMaximum,
  multipleOf,
}: ValueForm['schema']): number {
  const step = typeof multipleOf === 'number' && multipleOf > 0 ? multipleOf : 1;
  const least = typeof minimum === 'number' ? minimum : undefined;
  const above = typeof exclusiveMinimum === 'number' ? exclusiveMinimum + step : undefined;
  const most = typeof maximum === 'number' ? maximum : undefined;
  const below = typeof exclusiveMaximum === 'number' ? exclusiveMaximum - step : undefined;
  const lowest = Math.max(least ?? Number.NEGATIVE_INFINITY, above ?? Number.NEGATIVE_INFINITY);
  const highest = Math.min(most ?? Number.POSITIVE_INFINITY, below ?? Number.POSITIVE_INFINITY);
  return Math.min(Math.max(step, lowest), Math.max(lowest, highest));
}

const formats: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00Z',
  time: '12:00:00Z',
  duration: 'PT1H',
  email: 'ada@example.com',
  uri: 'https://example.com',
  url: 'https://example.com',
  uuid: '123e4567-e89b-42d3-a456-426614174000',
  ipv4: '192.0.2.1',
  hostname: 'example.com',
};

function sampleText({ format, minLength, maxLength, examples }: ValueForm['schema'], name: string): string {
  const [example] = Array.isArray(examples) ? examples : [];
  if (typeof example === 'string') return example;
  if (typeof format === 'string' && Object.hasOwn(formats, format)) return formats[format] ?? '';
  const word = placeholder(name);
  const least = Math.min(countIn(minLength, 0), LONGEST_SAMPLE);
  const filled = word.length < least ? word.repeat(Math.ceil(least / word.length)).slice(0, least) : word;
  return typeof maxLength === 'number' ? filled.slice(0, Math.max(1, maxLength)) : filled;
}

const LONGEST_SAMPLE = 100;

/** `filePath` gives `FILE_PATH`: words that usage lines write for what a person puts in. */
export function placeholder(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/\W+/g, '_')
    .replace(/^_+|_+$/g, '');
  return words === '' ? 'VALUE' : words.toUpperCase();
}

const singular = (name: string) => (/[^s]s$/i.test(name) ? name.slice(0, -1) : name);
