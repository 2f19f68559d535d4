// Owns how the forms of a parameter are written for a person: `string`, `"a" | "b"`, `{ name: string }[]`.

import { visible } from '../../kernel/shell-word.ts';
import type { Parameter, ValueForm } from './parameters.ts';

const MOST_VALUES = 12;
const LONGEST_OBJECT = 160;

export function typeText(forms: readonly ValueForm[]): string {
  const texts = [...new Set(forms.flatMap(formTexts))];
  return texts.length === 0 ? 'any' : texts.join(' | ');
}

function formTexts(form: ValueForm): readonly string[] {
  const { type, values, items = [], fields } = form;
  if (values !== undefined) {
    const shown = values.slice(0, MOST_VALUES).map((value) => visible(JSON.stringify(value)));
    return values.length > MOST_VALUES ? [...shown, `… (${values.length} values)`] : shown;
  }
  if (type === 'array') return [listText(items)];
  return [type === 'object' && fields ? objectText(fields) : type];
}

function listText(items: readonly ValueForm[]): string {
  const texts = new Set(items.flatMap(formTexts));
  return texts.size > 1 ? `(${[...texts].join(' | ')})[]` : `${[...texts][0] ?? 'any'}[]`;
}

/** Without its fields if they would fill the screen: they are in the schema, which `--json` prints. */
function objectText(fields: readonly Parameter[]): string {
  const text = `{ ${fields.map(parameterText).join(', ')} }`;
  return text.length > LONGEST_OBJECT ? 'object' : text;
}

export const parameterText = ({ name, isRequired, forms }: Parameter): string =>
  `${visible(name)}${isRequired ? '' : '?'}: ${typeText(forms)}`;
