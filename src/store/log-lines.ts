// Owns what of a server's words may be kept: whole lines, without what drives a terminal and without secrets.

import { StringDecoder } from 'node:string_decoder';
import { limits } from '../model/limits.ts';

export interface LineOptions {
  /** Puts a mark in brackets in the place of every secret that is whole in the text. */
  readonly redact: (text: string) => string;
  /** Takes out of a line what is for a terminal and not for a reader. */
  readonly clean: (text: string) => string;
}

/** Redacts before anything is cut, and only what is whole: a secret survives neither in half nor in two pieces. */
export class LogLines {
  readonly #options: LineOptions;
  #decoder = new StringDecoder('utf8');
  #partial = '';
  /** The beginning of the present line was lost, or was long enough. */
  #isSkipping = false;

  constructor(options: LineOptions) {
    this.#options = options;
  }

  /** The lines that are whole now; the last one waits for its end. */
  push(chunk: Buffer): string {
    const text = this.#partial + this.#decoder.write(chunk);
    const end = text.lastIndexOf('\n') + 1;
    this.#partial = text.slice(end);
    return this.#end(text.slice(0, end)) + this.#cutEndless();
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
    return isEmpty ? '' : this.#end(`${rest}\n`);
  }

  /** One line of our own words about it. */
  line(text: string): string {
    return shortened(this.#redact(text.replace(/\s+/g, ' ')));
  }

  /** All at once: a key of several lines is known by the first of them. */
  #end(lines: string): string {
    const from = this.#isSkipping ? lines.indexOf('\n') + 1 : 0;
    if (lines.length > 0) this.#isSkipping = false;
    if (from === lines.length) return '';
    const whole = this.#redact(lines.slice(from, -1));
    return `${whole.split('\n').map(shortened).join('\n')}\n`;
  }

  /** What stands at the end of a line that goes on may be the beginning of a secret. */
  #cutEndless(): string {
    if (this.#partial.length <= 2 * limits.log.lineChars) return '';
    const text = this.#isSkipping ? '' : this.#redact(this.#partial).slice(0, -limits.log.lineChars);
    const kept = text === '' ? '' : `${cut(text)}\n`;
    this.#isSkipping = true;
    this.#partial = '';
    return kept;
  }

  #redact(text: string): string {
    return this.#options.redact(this.#options.clean(text));
  }
}

const shortened = (line: string) => (line.length <= limits.log.lineChars ? line : cut(line));

/** Without the mark that it would cut in two, which stands for a secret. */
const cut = (line: string) => `${line.slice(0, limits.log.lineChars).replace(/\[[\w.:-]{0,80}$/, '')} …`;
