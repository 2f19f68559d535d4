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

/** What was filled into one header or one parameter of an address, by all names it goes by. */
export interface SentValue {
  readonly names: readonly string[];
  readonly value: string;
}

/** That is the way a key is sent, whatever it is called: only what says that it is something else is none. */
export function secretsSent(values: readonly SentValue[]): Readonly<Record<string, string>> {
  const secrets = values.filter(
    ({ names, value }) => !isPlaceholder(value) && !isHarmless(value) && !isOrdinary(names),
  );
  return Object.fromEntries(secrets.map(({ names: [name = ''], value }) => [name, value]));
}

const isOrdinary = (names: readonly string[]) => names.some((name) => ORDINARY.test(name)) && !names.some(isTelling);

/** Where, who, what for: all of it stands in texts that a model must read. */
const ORDINARY =
  /(?:^|[-_])(?:accept|content|agent|origin|host|region|zone|locale|lang|language|stage|env|environment|mode|version|model|project|tenant|org|organi[sz]ation|workspace|team|account|user|name|feature|toolset|database|db|id)(?:s|id|ref)?(?:[-_]|$)/i;

/** Where something is, when it was, how much it is. */
const isHarmless = (value: string) =>
  /^(?:\.{0,2}\/|~\/|[A-Za-z]:\\)|^\w[\w+.-]*:\/\/[^@]*$|^[\d.,:TZ/ -]*$|^(?:true|false|none|null)$/i.test(value);
