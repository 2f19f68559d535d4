// Owns recognizing a query that is a tool's name: its own name, with its server before it, or as a model spells it, joined in
// any way.

import { latePattern } from '../../kernel/late-pattern.ts';
import type { Findable } from './fields.ts';

type NamedTool = Pick<Findable, 'key' | 'server' | 'name'>;

const LONGEST = 512;

export class Spellings {
  readonly #slots = new Map<string, number[]>();

  add(slot: number, tool: NamedTool): void {
    for (const spelling of spellingsOf(tool)) {
      const slots = this.#slots.get(spelling);
      if (slots) slots.push(slot);
      else this.#slots.set(spelling, [slot]);
    }
  }

  remove(slot: number, tool: NamedTool): void {
    for (const spelling of spellingsOf(tool)) {
      const others = this.#slots.get(spelling)?.filter((each) => each !== slot) ?? [];
      if (others.length > 0) this.#slots.set(spelling, others);
      else this.#slots.delete(spelling);
    }
  }

  find(query: string): readonly number[] {
    return query.length > LONGEST ? [] : (this.#slots.get(squash(query)) ?? []);
  }
}

function spellingsOf({ key, server, name }: NamedTool): readonly string[] {
  const own = squash(name);
  const full = squash(server) + own;
  return own === '' ? [] : [...new Set([own, full, squash(key)])];
}

const signs = latePattern(String.raw`^mcp_+|[^\p{L}\p{N}]+`, 'gu');

/** `get_file`, `getFile` and `Get file` become one spelling; a leading `mcp__` is dropped. */
function squash(text: string): string {
  const lower = text.slice(0, LONGEST).toLowerCase();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it asks for anything beyond ASCII
  if (/[^\u0000-\u007f]/.test(lower)) return lower.normalize('NFKC').replace(signs(), '');
  return lower.replace(/^mcp_+|[^a-z0-9]+/g, '');
}
