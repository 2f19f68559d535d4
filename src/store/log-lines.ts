// Owns what of a server's words may be kept: whole lines, without what drives a terminal and without the server's own secrets.

import { StringDecoder } from 'node:string_decoder';
import { limits } from '../model/limits.ts';

export interface LineOptions {
  /** What must not be kept, by the name that stands in its place. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Takes out of a line what is for a terminal and not for a reader. */
  readonly clean: (text: string) => string;
}

/** Redacts before anything is cut, and only what is whole: a secret survives neither in half nor in two pieces. */
export class LogLines {
  readonly #clean: LineOptions['clean'];
  readonly #secrets: Secrets;
  #decoder = new StringDecoder('utf8');
  #partial = '';
  /** The beginning of the present line was lost, or was long enough. */
  #isSkipping = false;

  constructor({ secrets, clean }: LineOptions) {
    this.#clean = clean;
    this.#secrets = secretsOf(secrets, clean);
  }

  /** The lines that are whole now; the last one waits for its end. */
  push(chunk: Buffer): string {
    const lines = (this.#partial + this.#decoder.write(chunk)).split('\n');
    this.#partial = lines.pop() ?? '';
    const whole = lines.map((line) => this.#end(line)).join('');
    return whole + this.#cutEndless();
  }

  /** Some of it is missing here: what is left of that line could begin within a secret. */
  lose(): void {
    this.#decoder = new StringDecoder('utf8');
    this.#partial = '';
    this.#isSkipping = true;
  }

  /** Nothing more comes: the last line is as long as it is. */
  end(): string {
    const rest = this.#partial + this.#decoder.end();
    this.#partial = '';
    const isEmpty = rest === '' || this.#isSkipping;
    this.#isSkipping = false;
    return isEmpty ? '' : this.#end(rest);
  }

  /** One line of our own words about it. */
  line(text: string): string {
    return this.#fit(text.replace(/\s+/g, ' '), true);
  }

  #end(line: string): string {
    if (!this.#isSkipping) return `${this.#fit(line, true)}\n`;
    this.#isSkipping = false;
    return '';
  }

  #cutEndless(): string {
    if (this.#partial.length <= limits.log.lineChars + this.#secrets.longest) return '';
    const kept = this.#isSkipping ? '' : `${this.#fit(this.#partial, false)}\n`;
    this.#isSkipping = true;
    this.#partial = '';
    return kept;
  }

  #fit(line: string, isWhole: boolean): string {
    const text = this.#clean(line);
    // What stands at the end of a line that goes on may be the beginning of a secret.
    const known = isWhole ? text.length : text.length - this.#secrets.longest;
    const end = Math.min(limits.log.lineChars, known);
    return redact(text, end, this.#secrets) + (end < text.length ? ' …' : '');
  }
}

interface Secrets {
  readonly pattern: RegExp | undefined;
  readonly names: ReadonlyMap<string, string>;
  readonly longest: number;
}

function secretsOf(values: LineOptions['secrets'], clean: LineOptions['clean']): Secrets {
  const names = new Map<string, string>();
  for (const [name, value] of Object.entries(values)) {
    for (const part of partsOf(value).map((each) => clean(each).trim())) {
      if (part.length >= limits.secretChars && !names.has(part)) names.set(part, `[${clean(name)}]`);
    }
  }
  // Of two that begin alike the longer one is meant.
  const parts = [...names.keys()].sort((a, b) => b.length - a.length);
  const pattern = parts.length === 0 ? undefined : new RegExp(parts.map(literally).join('|'), 'g');
  return { pattern, names, longest: parts[0]?.length ?? 0 };
}

/** A key of several lines is printed line by line; a credential often without the word before it, such as `Bearer`. */
function partsOf(value: string): string[] {
  return value.split('\n').flatMap((line) => [line, line.trim().replace(/^\S+\s+/, '')]);
}

const literally = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The text up to `end`; a secret that begins before it is replaced as a whole. */
function redact(text: string, end: number, { pattern, names }: Secrets): string {
  let redacted = '';
  let done = 0;
  for (const { 0: secret, index } of pattern ? text.matchAll(pattern) : []) {
    if (index >= end) break;
    redacted += text.slice(done, index) + names.get(secret);
    done = index + secret.length;
  }
  return redacted + text.slice(done, Math.max(done, end));
}
