// Owns turning the text of `key=text` into the value that a parameter takes. A text that fits no form stays text: the validation of
// the call then names the mistake.

import { changedNumberIn } from '../../kernel/exact-numbers.ts';
import { parseJson } from '../../kernel/json.ts';
import type { ValueForm, ValueType } from './parameters.ts';

/**
 * If a parameter also takes text, only the exact JSON spelling of another form counts as that form: `5` is a number, `05`, `+5`
 * and `yes` are text.
 */
export function coerce(text: string, forms: readonly ValueForm[]): unknown {
  const literal = literalIn(text, forms);
  if (literal) return literal.value;
  const free = new Set(forms.filter(({ values }) => values === undefined).map(({ type }) => type));
  const isAny = free.has('any');
  const takes = (...types: readonly ValueType[]) => isAny || types.some((type) => free.has(type));
  const takesText = takes('string');
  const bare = text.trim();
  const word = takesText ? text : bare;
  if (takes('null') && word === 'null') return null;
  if (takes('number', 'integer') && isNumber(word, takesText)) return Number(word);
  const truth = takes('boolean') ? readBoolean(word, takesText) : undefined;
  if (truth !== undefined) return truth;
  const opening = bare[0];
  if ((opening === '[' && takes('array')) || (opening === '{' && takes('object'))) {
    const parsed = parseJson(bare);
    if (parsed.ok) return parsed.value;
  }
  return text;
}

/** Whether a text that no other form fits is a value of its own. */
export const takesAnyText = (forms: readonly ValueForm[]) =>
  forms.some(({ type, values }) => values === undefined && (type === 'string' || type === 'any'));

const wantsNumber = (forms: readonly ValueForm[]) =>
  forms.some(({ type, values }) => values === undefined && (type === 'number' || type === 'integer'));

/** The number in a text that the coerced value would hold changed; `undefined` if nothing is changed. */
export function changedBy(text: string, value: unknown, forms: readonly ValueForm[]): string | undefined {
  const isRefused = typeof value === 'string' && !takesAnyText(forms) && wantsNumber(forms) && NUMBER.test(text.trim());
  return typeof value !== 'string' || isRefused ? changedNumberIn(text) : undefined;
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const INTEGER = /^-?\d+$/;

function isNumber(word: string, takesText: boolean): boolean {
  if (!NUMBER.test(word)) return false;
  const value = Number(word);
  if (INTEGER.test(word) && !Number.isSafeInteger(value)) return false;
  return takesText ? String(value) === word : Number.isFinite(value);
}

const booleans: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  1: true,
  false: false,
  no: false,
  0: false,
};

function readBoolean(word: string, takesText: boolean): boolean | undefined {
  if (takesText) return word === 'true' ? true : word === 'false' ? false : undefined;
  const known = word.toLowerCase();
  return Object.hasOwn(booleans, known) ? booleans[known] : undefined;
}

/** One of the values of an `enum` or `const`: a text as it is, anything else by its JSON spelling. */
function literalIn(text: string, forms: readonly ValueForm[]): { readonly value: unknown } | undefined {
  const values = forms.flatMap((form) => form.values ?? []);
  if (values.includes(text)) return { value: text };
  const word = text.trim();
  const spelled = values.filter((value) => typeof value !== 'string' && JSON.stringify(value) === word);
  const truths = values.filter((value) => typeof value === 'boolean' && readBoolean(word, false) === value);
  const [first] = [...spelled, ...truths].map((value) => ({ value }));
  return first;
}
