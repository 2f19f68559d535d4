// Owns noticing options that do not exist: a misspelled `permissions` would leave a host without the rules it wrote.

import { nearest } from '../kernel/nearest.ts';

/** One sentence for each key of the options that is not known; `undefined` values count as absent. */
export function unknownOptions(
  call: string,
  options: object,
  known: Readonly<Record<string, true>>,
): readonly string[] {
  return Object.entries(options)
    .filter(([key, value]) => value !== undefined && !Object.hasOwn(known, key))
    .map(([key]) => {
      const [closest] = nearest(key, Object.keys(known), 1);
      return `${call} has no option "${key}"${closest === undefined ? '' : `; did you mean "${closest}"?`}`;
    });
}
