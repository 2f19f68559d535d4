// Owns listing the keys of an object that has very many: V8 sorts them for each listing, for as long as it took to parse them.
// The parser that made such an object has seen its keys and leaves them here.

const known = new WeakMap<object, readonly string[]>();

/** From so many keys on, listing them takes longer than looking them up. */
export const MANY_KEYS = 20_000;

export function rememberKeys(object: object, keys: readonly string[]): void {
  if (keys.length >= MANY_KEYS) known.set(object, keys);
}

/** As they stood in the text, for an object that was parsed in slices and is still as it was parsed. */
export const keysOf = (object: object): readonly string[] => known.get(object) ?? Object.keys(object);
