// Owns the two spellings of a key: snake_case and camelCase.

export const snakeCase = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Keys repeat in every entry, so their camelCase is cached; the limits keep a hostile file from filling memory. */
const cached = new Map<string, string>();
const MOST_CACHED = 1_000;

export function camelCase(key: string): string {
  if (!key.includes('_')) return key;
  const known = cached.get(key);
  if (known !== undefined) return known;
  const word = key.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  if (cached.size < MOST_CACHED && key.length < 64) cached.set(key, word);
  return word;
}
