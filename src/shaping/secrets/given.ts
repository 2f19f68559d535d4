// Owns which of the values that are given to a server are secrets. A model must read everything else as it is: the name of a
// region, a folder or a stage is in too many texts to be taken out of them.

import { hasTokenShape, isTelling } from '../../model/secret-shapes.ts';
import { isPlaceholder, looksRandom } from './values.ts';

/** By their names, or because nobody would make them up. */
export function secretsAmong(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).filter(([name, value]) => isSecret(name, value)));
}

const isSecret = (name: string, value: string) =>
  !isPlaceholder(value) && (hasTokenShape(value) || (!isHarmless(value) && (isTelling(name) || looksRandom(value))));

/** Where something is, when it was, how much it is. */
const isHarmless = (value: string) =>
  /^(?:\.{0,2}\/|~\/|[A-Za-z]:\\)|^\w[\w+.-]*:\/\/[^@]*$|^[\d.,:TZ/ -]*$|^(?:true|false|none|null)$/i.test(value);
