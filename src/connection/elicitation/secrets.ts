// Owns the guess whether a form asks for a secret. The protocol forbids that, so a host can warn; nothing is refused for it.

import type { FormField, FormSchema } from './form.ts';

const secretWords =
  /(?:^|[^a-z])(?:pass ?(?:word|phrase|code|wd)|pwd|secret|credentials?|(?:api|access|private|secret|license|encryption) ?key|token|otp|one time code|pin ?(?:code|number)|cvv|cvc|card number|seed phrase|recovery (?:code|phrase|key)|social security number|ssn)s?(?:$|[^a-z])/;

/** `apiKey`, `API_KEY` and "API key" are the same words. */
const mentionsSecret = (text: string) =>
  secretWords.test(
    text
      .replace(/([a-z\d])([A-Z])/g, '$1 $2')
      .replace(/[\s_-]+/g, ' ')
      .toLowerCase(),
  );

/** Only free text counts: a number or a choice among known values gives nothing away. */
const isFreeText = (field: FormField) => field.type === 'string' && !('enum' in field) && !('oneOf' in field);

export function isSecretField(name: string, field: FormField): boolean {
  if (!isFreeText(field)) return false;
  if ('format' in field && field.format === 'password') return true;
  return [name, field.title ?? '', field.description ?? ''].some(mentionsSecret);
}

export function asksForSecret(message: string, { properties }: FormSchema): boolean {
  const fields = Object.entries(properties);
  return (
    fields.some(([name, field]) => isSecretField(name, field)) ||
    (mentionsSecret(message) && fields.some(([, field]) => isFreeText(field)))
  );
}
