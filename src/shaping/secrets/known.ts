// Owns the values that are known to be secret, because Plexus itself filled them in. They are kept in memory only, and searched
// for in every spelling in which a value travels: JSON, URLs, base64.

import { limits } from '../../model/limits.ts';
import type { ServerName } from '../../model/names.ts';

/** One spelling of a secret to search for, and the mark that replaces it. */
export interface Needle {
  readonly text: string;
  readonly mark: string;
  /** How many characters before and behind it hold bits of the value too (base64). */
  readonly before: number;
  readonly behind: number;
}

export class KnownSecrets {
  readonly #own = new Map<string, string>();
  readonly #ofServers = new Map<ServerName, Readonly<Record<string, string>>>();
  #revision = 0;

  /** Increases whenever the values change. */
  get revision(): number {
    return this.#revision;
  }

  /** Adds one value that belongs to no server and is never removed. The first name that a value gets is kept. */
  add(name: string, value: string): void {
    if (this.#own.has(value)) return;
    this.#own.set(value, name);
    this.#revision++;
  }

  /** Replaces all values of one server. */
  set(server: ServerName, values: Readonly<Record<string, string>>): void {
    const before = this.#ofServers.get(server);
    if (JSON.stringify(before) === JSON.stringify(values)) return;
    this.#ofServers.set(server, { ...values });
    this.#revision++;
  }

  /** Every spelling once. The marks are needles too, so that nothing is replaced inside of one. */
  needles(): readonly Needle[] {
    const needles = new Map<string, Needle>();
    const add = (needle: Needle) => {
      if (!needles.has(needle.text)) needles.set(needle.text, needle);
    };
    const ofServers = [...this.#ofServers.values()].flatMap((values) => Object.entries(values));
    const own = [...this.#own].map(([value, name]) => [name, value] as const);
    for (const [name, value] of [...ofServers, ...own]) {
      const mark = markOf(name);
      for (const needle of needlesOf(value, mark)) add(needle);
      if (mark.length >= limits.secretChars) add({ text: mark, mark, before: 0, behind: 0 });
    }
    return [...needles.values()];
  }
}

/** The name comes from a config file: characters that could carry text or markup are replaced. */
const markOf = (name: string) => `[${name.replace(/[^\w.-]+/g, '_').slice(0, 64) || 'secret'}]`;

function needlesOf(value: string, mark: string): Needle[] {
  const parts = partsOf(value).filter(isSecret);
  const spelled = parts.flatMap((part) => spellingsOf(part)).map((text) => ({ text, mark, before: 0, behind: 0 }));
  return [...spelled, ...parts.flatMap((part) => inBase64(part, mark))];
}

/** Programs print a multi-line key line by line, and a credential often without the word before it, such as `Bearer`. */
function partsOf(value: string): readonly string[] {
  const lines = value.split(/[\r\n]+/).map((line) => line.trim());
  const words = lines.map((line) => line.replace(/^\S+\s+/, ''));
  return [...new Set([value, ...lines, ...words])];
}

/** Short values and common words stay: replacing them everywhere would hide nothing and break much. */
const isSecret = (part: string) =>
  part.length >= limits.secretChars && !COMMON.has(part.toLowerCase()) && !ARMOR.test(part);

const COMMON = new Set(
  'password passwords postgres postgresql changeme localhost username undefined administrator development production'.split(
    ' ',
  ),
);
/** The first and last line of every PEM key. */
const ARMOR = /^-----(?:BEGIN|END)[ A-Z0-9]*-----$/;

/** As it is, within JSON (encoded once and twice) and within a URL. */
function spellingsOf(part: string): readonly string[] {
  const json = JSON.stringify(part).slice(1, -1);
  // Through a buffer, because `encodeURIComponent` throws on a lone surrogate.
  const url = encodeURIComponent(Buffer.from(part).toString());
  const form = url.replace(/%20/g, '+');
  const strict = url.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  const lower = strict.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  return [...new Set([part, json, JSON.stringify(json).slice(1, -1), url, form, strict, lower])];
}

/**
 * What the base64 of any text that holds the value contains: three spellings, one per position of the value within a group of
 * three bytes. The characters at the ends share bits with the neighboring bytes; `before` and `behind` count them.
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
