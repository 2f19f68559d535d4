// Owns turning a server's output into lines for its log: complete lines, without terminal control characters and secrets.

import { StringDecoder } from 'node:string_decoder';
import { limits } from '../model/limits.ts';

export interface LineOptions {
  /** Replaces every secret that stands complete in the text by a mark in brackets. */
  readonly redact: (text: string) => string;
  /** Removes terminal control characters. */
  readonly clean: (text: string) => string;
}

/** Redacts complete lines only, and before any line is cut: no secret survives in part, nor split over two chunks. */
export class LogLines {
  readonly #options: LineOptions;
  /** Made with the first output; most servers write none. */
  #decoder: StringDecoder | undefined;
  #partial = '';
  /** The rest of the present line is skipped: its beginning was lost, or it was already too long. */
  #isSkipping = false;

  constructor(options: LineOptions) {
    this.#options = options;
  }

  /** Returns the lines that are complete now; an unfinished last line waits for its end. */
  push(chunk: Buffer): string {
    this.#decoder ??= new StringDecoder('utf8');
    const text = this.#partial + this.#decoder.write(chunk);
    const end = text.lastIndexOf('\n') + 1;
    this.#partial = text.slice(end);
    return this.#end(text.slice(0, end)) + this.#cutEndless();
  }

  /** Bytes were dropped here. Skips the rest of the line, since it could begin within a secret. */
  lose(): void {
    this.#decoder = undefined;
    this.#partial = '';
    this.#isSkipping = true;
  }

  /** The output has ended: returns the last line even without its line break. */
  end(): string {
    const rest = this.#partial + (this.#decoder?.end() ?? '');
    this.#partial = '';
    const isEmpty = rest === '' || this.#isSkipping;
    this.#isSkipping = false;
    return isEmpty ? '' : this.#end(`${rest}\n`);
  }

  /** Prepares a note of the runtime itself as one line. */
  line(text: string): string {
    return shortened(this.#redact(text.replace(/\s+/g, ' ')));
  }

  /** Redacts all lines together: a key of several lines is recognized by the first of them. */
  #end(lines: string): string {
    const from = this.#isSkipping ? lines.indexOf('\n') + 1 : 0;
    if (lines.length > 0) this.#isSkipping = false;
    if (from === lines.length) return '';
    const redacted = this.#redact(lines.slice(from, -1));
    return `${redacted.split('\n').map(shortened).join('\n')}\n`;
  }

  /** Cuts a line that grows without end. Its last part is dropped, since it may be the beginning of a secret. */
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

/** Removes a redaction mark at the end that the cut would split in two. */
const cut = (line: string) => `${line.slice(0, limits.log.lineChars).replace(/\[[\w.:-]{0,80}$/, '')} …`;
