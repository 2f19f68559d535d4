// Owns which of the values that a server gets from its entry are secrets. Everything else stays readable for the model: the
// name of a region, a folder or a stage stands in too many texts to be redacted there.

import { isHarmlessValue, isOrdinaryName, isSecretName, isSecretShape } from '../../model/secret-shapes.ts';
import { isPlaceholder, looksRandom } from '../../model/secret-values.ts';

/** Variables and arguments: secret by their name, by a token's shape, or because they look random. */
export function secretsAmong(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).filter(([name, value]) => isSecret(name, value)));
}

/** What looks like a placeholder is asked last: few values get so far, and V8 takes a millisecond to compile its patterns. */
const isSecret = (name: string, value: string) =>
  (isSecretShape(value) || (!isHarmlessValue(value) && (isSecretName(name) || looksRandom(value)))) &&
  !isPlaceholder(value);

/** A value filled into one header or one parameter of an address, with every name it has (the header's, the variable's). */
export interface SentValue {
  readonly names: readonly string[];
  readonly value: string;
}

/** Keys are sent in headers and parameters under any name, so a value there is a secret unless its name or form says otherwise. */
export function secretsSent(values: readonly SentValue[]): Readonly<Record<string, string>> {
  const secrets = values.filter(
    ({ names, value }) => !isPlaceholder(value) && !isHarmlessValue(value) && !isOrdinary(names),
  );
  return Object.fromEntries(secrets.map(({ names: [name = ''], value }) => [name, value]));
}

const isOrdinary = (names: readonly string[]) => names.some(isOrdinaryName) && !names.some(isSecretName);
