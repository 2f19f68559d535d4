// Owns the sentences that tell a person how a shown definition differs from the one its server sent: few, each once, bounded.

import { showHidden } from '../../kernel/clean-text.ts';

const MOST_NAMES = 8;
const MOST_CHARS = 60;

/** A name that a server chose, made safe to stand in a sentence. */
function quoted(name: string): string {
  const shown = showHidden(name.length > MOST_CHARS ? `${name.slice(0, MOST_CHARS)}…` : name);
  return `"${shown.replaceAll('\n', ' ')}"`;
}

const none: readonly string[] = Object.freeze([]);

export class Remarks {
  readonly #sentences = new Set<string>();
  /** By sentence: the names that it lists at its end. */
  readonly #about = new Map<string, Set<string>>();

  say(sentence: string): void {
    this.#sentences.add(sentence);
  }

  /** All names with the same sentence are listed in one. */
  sayOf(name: string, sentence: string): void {
    const names = this.#about.get(sentence);
    if (names === undefined) this.#about.set(sentence, new Set([name]));
    else names.add(name);
  }

  list(): readonly string[] {
    if (this.#sentences.size === 0 && this.#about.size === 0) return none;
    const grouped = [...this.#about].map(([sentence, names]) => `${sentence}: ${listed([...names].sort())}`);
    return [...this.#sentences, ...grouped];
  }
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map(quoted).join(', ');
  return names.length > MOST_NAMES ? `${shown} and ${names.length - MOST_NAMES} more` : shown;
}
