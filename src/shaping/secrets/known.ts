// Owns the values that are known to be secret, because Plexus itself filled them in. They are in memory only; whoever looks for
// them gets them in every spelling in which a value travels.

import { limits } from '../../model/limits.ts';
import type { ServerName } from '../../model/names.ts';

/** What is looked for, and what is put in its place. */
export interface Needle {
  readonly text: string;
  readonly mark: string;
  /** How many characters before and behind it hold a part of the value too. */
  readonly before: number;
  readonly behind: number;
}

export class KnownSecrets {
  readonly #own = new Map<string, string>();
  readonly #ofServers = new Map<ServerName, Readonly<Record<string, string>>>();
  #revision = 0;

  /** Changes whenever the values do. */
  get revision(): number {
    return this.#revision;
  }

  /** One value of whoever; it stays for good. The first name that a value gets counts. */
  add(name: string, value: string): void {
    if (this.#own.has(value)) return;
    this.#own.set(value, name);
    this.#revision++;
  }

  /** All values of one server, in place of those it had. */
  set(server: ServerName, values: Readonly<Record<string, string>>): void {
    const before = this.#ofServers.get(server);
    if (JSON.stringify(before) === JSON.stringify(values)) return;
    this.#ofServers.set(server, { ...values });
    this.#revision++;
  }

  /** Each text once. A mark is left as it is, whatever it holds. */
  needles(): readonly Needle[] {
    const needles = new Map<string, Needle>();
    const learn = (needle: Needle) => {
      if (!needles.has(needle.text)) needles.set(needle.text, needle);
    };
    const ofServers = [...this.#ofServers.values()].flatMap((values) => Object.entries(values));
    const own = [...this.#own].map(([value, name]) => [name, value] as const);
    for (const [name, value] of [...ofServers, ...own]) {
      const mark = markOf(name);
      for (const needle of needlesOf(value, mark)) learn(needle);
      if (mark.length >= limits.secretChars) learn({ text: mark, mark, before: 0, behind: 0 });
    }
    return [...needles.values()];
  }
}

/** A name comes from a file and must not say more than a name. */
const markOf = (name: string) => `[${name.replace(/[^\w.-]+/g, '_').slice(0, 64) || 'secret'}]`;

function needlesOf(value: string, mark: string): Needle[] {
  const plain = partsOf(value).filter(isSecret);
  const whole = plain.flatMap((part) => spellingsOf(part)).map((text) => ({ text, mark, before: 0, behind: 0 }));
  return [...whole, ...plain.flatMap((part) => inBase64(part, mark))];
}

/** A key of several lines is printed line by line; a credential often without the word before it, such as `Bearer`. */
function partsOf(value: string): readonly string[] {
  const lines = value.split(/[\r\n]+/).map((line) => line.trim());
  const words = lines.map((line) => line.replace(/^\S+\s+/, ''));
  return [...new Set([value, ...lines, ...words])];
}

/** Too short, or what half of all texts hold: replacing it everywhere would hide nothing and break much. */
const isSecret = (part: string) =>
  part.length >= limits.secretChars && !COMMON.has(part.toLowerCase()) && !ARMOR.test(part);

const COMMON = new Set(
  'password passwords postgres postgresql changeme localhost username undefined administrator development production'.split(
    ' ',
  ),
);
/** Every key in armor has these lines. */
const ARMOR = /^-----(?:BEGIN|END)[ A-Z0-9]*-----$/;

/** As it is, within JSON once and twice, and within an address. */
function spellingsOf(part: string): readonly string[] {
  const json = JSON.stringify(part).slice(1, -1);
  // By way of bytes: half a character has no spelling in an address.
  const url = encodeURIComponent(Buffer.from(part).toString());
  const form = url.replace(/%20/g, '+');
  const strict = url.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  const lower = strict.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  return [...new Set([part, json, JSON.stringify(json).slice(1, -1), url, form, strict, lower])];
}

/**
 * What stands in the base64 of any text that holds the value, wherever it begins: three spellings, by how many bytes go before
 * it within a group of three. The characters at the ends hold bits of the neighbors and are left to `before` and `behind`.
 */
function inBase64(part: string, mark: string): Needle[] {
  const bytes = Buffer.from(part);
  return [0, 1, 2].flatMap((offset) => {
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor(((offset + bytes.length) * 8) / 6);
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .slice(first, last);
    const behind = (offset + bytes.length) % 3 === 0 ? 0 : 1;
    const spellings = new Set([encoded, encoded.replaceAll('+', '-').replaceAll('/', '_')]);
    return [...spellings].map((text) => ({ text, mark, before: offset === 0 ? 0 : 1, behind }));
  });
}
