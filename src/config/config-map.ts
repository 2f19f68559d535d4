// Owns the shapes that a parsed configuration file consists of: maps of settings, and paths of keys that lead into them.

/** A map as JSON and TOML give it. */
export type ConfigMap = Readonly<Record<string, unknown>>;

/** Keys of maps and indices of lists, from the outermost to the innermost. */
export type KeyPath = readonly (string | number)[];

/** TOML's dates are objects too, but no maps. */
export function isMap(value: unknown): value is ConfigMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
