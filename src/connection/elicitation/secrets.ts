// Owns noticing that a form asks for a secret. The protocol forbids it, so a host can warn; it is a guess and forbids nothing.

import type { FormField, FormSchema } from './form.ts';

const secret =
  /(?:^|[^a-z])(?:pass ?(?:word|phrase|code|wd)|pwd|secret|credentials?|(?:api|access|private|secret|license|encryption) ?key|token|otp|one time code|pin ?(?:code|number)|cvv|cvc|card number|seed phrase|recovery (?:code|phrase|key)|social security number|ssn)s?(?:$|[^a-z])/;

/** `apiKey`, `API_KEY` and "API key" are the same words. */
const isAbout = (text: string) =>
  secret.test(
    text
      .replace(/([a-z\d])([A-Z])/g, '$1 $2')
      .replace(/[\s_-]+/g, ' ')
      .toLowerCase(),
  );

/** A number or a choice among known values gives nothing away. */
const isTyped = (field: FormField) => field.type === 'string' && !('enum' in field) && !('oneOf' in field);

export function isSecretField(name: string, field: FormField): boolean {
  if (!isTyped(field)) return false;
  if ('format' in field && field.format === 'password') return true;
  return [name, field.title ?? '', field.description ?? ''].some(isAbout);
}

export function asksForSecret(message: string, { properties }: FormSchema): boolean {
  const fields = Object.entries(properties);
  return (
    fields.some(([name, field]) => isSecretField(name, field)) ||
    (isAbout(message) && fields.some(([, field]) => isTyped(field)))
  );
}
