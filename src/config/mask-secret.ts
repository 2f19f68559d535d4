// Owns which characters of a text that holds a secret are hidden where a person reads it before approving it: those of the secret.
// A shell may run the rest, so spaces, quotes, operators and all that follows them stay.

import { latePattern } from '../kernel/late-pattern.ts';
import { isHarmlessLiteral, isSecretName, isSecretShape } from '../model/secret-shapes.ts';

export const HIDDEN = '(hidden)';

/** Characters that no shell takes for more than text; a percent sign only as part of an encoded character. */
const RUN = String.raw`(?:[\p{L}\p{N}_.~+/=:@,^!?#*{}[\]-]|%[0-9A-Fa-f]{2})+`;

const OPENING = latePattern(`^["'\\\\]*(${RUN})`, 'u');
/** Begin at the edge of a word: a search from each letter would take too long. */
const ASSIGNED = named(String.raw`-{0,2}([\w.-]+)(?:=|:\s*)["']?(?:(?:Bearer|Basic|Token)\s+)?`);
const AFTER_OPTION = named(String.raw`--?([\w.-]+)\s+["']?`);
const WORD = /[\w.-]{13,}/g;

/** `secret` begins with the secret; further secrets in it are hidden too. */
export function maskSecret(secret: string): string {
  const [opening = '', run = ''] = OPENING().exec(secret) ?? [];
  const quotes = opening.slice(0, opening.length - run.length);
  return (run === '' ? '' : quotes + HIDDEN) + maskNamed(secret.slice(opening.length));
}

/** Hides the secrets within a line, such as a script of a shell: each by its name or its shape. */
export function maskNamed(text: string): string {
  const mask = (whole: string, start: string, name: string, value: string) =>
    isSecretName(name) && !isHarmlessLiteral(name, value) ? start + HIDDEN : whole;
  const masked = text.replace(ASSIGNED(), mask).replace(AFTER_OPTION(), mask);
  return masked.replace(WORD, (word) => (isSecretShape(word) ? HIDDEN : word));
}

function named(start: string): () => RegExp {
  return latePattern(String.raw`(?<![\w.-])(${start})(${RUN})`, 'giu');
}
