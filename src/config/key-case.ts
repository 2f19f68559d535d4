// Owns the two ways to join the words of a key: underscores and capitals. It stands alone, so that all readers share it.

export const snakeCase = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The same few words come again and again; what a hostile file makes up is not kept. */
const folded = new Map<string, string>();
const MOST_FOLDED = 1_000;

export function camelCase(key: string): string {
  if (!key.includes('_')) return key;
  const known = folded.get(key);
  if (known !== undefined) return known;
  const word = key.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  if (folded.size < MOST_FOLDED && key.length < 64) folded.set(key, word);
  return word;
}
