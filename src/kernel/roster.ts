// Owns a list whose entries come and go many thousand times a second. A Set would do, were it not for its tables: each that it
// outgrows keeps its entries and the way to the next table, so that once one of them is old, all that came later stays in memory
// until the next full collection, and every small collection has to copy it.

/** The place of an item in its roster; the way to take it out again. */
export interface RosterEntry<Item> {
  readonly item: Item;
  before: RosterEntry<Item> | undefined;
  behind: RosterEntry<Item> | undefined;
  isIn: boolean;
}

export class Roster<Item> {
  #first: RosterEntry<Item> | undefined;
  #last: RosterEntry<Item> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(item: Item): RosterEntry<Item> {
    const entry: RosterEntry<Item> = { item, before: this.#last, behind: undefined, isIn: true };
    if (this.#last === undefined) this.#first = entry;
    else this.#last.behind = entry;
    this.#last = entry;
    this.#size += 1;
    return entry;
  }

  /** Taking an entry out twice does nothing. */
  remove(entry: RosterEntry<Item>): void {
    if (!entry.isIn) return;
    const { before, behind } = entry;
    if (before === undefined) this.#first = behind;
    else before.behind = behind;
    if (behind === undefined) this.#last = before;
    else behind.before = before;
    entry.isIn = false;
    entry.before = undefined;
    entry.behind = undefined;
    this.#size -= 1;
  }

  /** In the order in which they came. */
  items(): readonly Item[] {
    const items: Item[] = [];
    for (let entry = this.#first; entry !== undefined; entry = entry.behind) items.push(entry.item);
    return items;
  }
}
