// Owns the three answers to whether a value meets a condition. An allow rule needs "yes"; a deny or ask rule applies unless the
// answer is "no".

export type TriState = 'yes' | 'no' | 'unsure';

/** The answer for alternatives, one of which is enough. */
export function anyOf<Item>(items: readonly Item[], test: (item: Item) => TriState): TriState {
  let result: TriState = 'no';
  for (const item of items) {
    const answer = test(item);
    if (answer === 'yes') return 'yes';
    if (answer === 'unsure') result = 'unsure';
  }
  return result;
}

/** The same for texts that a file system or a server may treat as equal: case and compatibility characters do not count. */
export const looseForm = (text: string) => text.normalize('NFKC').toLowerCase();
