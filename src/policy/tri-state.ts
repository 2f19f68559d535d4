// Owns the three answers to whether a value is what a rule speaks of: what allows needs a "yes", what denies or asks takes all
// but a "no".

export type TriState = 'yes' | 'no' | 'unsure';

/** Of several that are enough each. */
export function anyOf<Item>(items: readonly Item[], ask: (item: Item) => TriState): TriState {
  let found: TriState = 'no';
  for (const item of items) {
    const answer = ask(item);
    if (answer === 'yes') return 'yes';
    if (answer === 'unsure') found = 'unsure';
  }
  return found;
}

/** How two texts look alike to whoever does not look closely: a file system, a server. */
export const blur = (text: string) => text.normalize('NFKC').toLowerCase();
