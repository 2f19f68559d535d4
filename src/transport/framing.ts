// Owns the way from bytes to messages: one JSON-RPC message per line, however the bytes were cut on their way.
// Nothing a peer writes is fatal: what is no message is noise, and what is too large is dropped while it comes.

import { constants } from 'node:buffer';
import { isObject, parseJson, stringifyBounded } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { Message, MessageId } from '../model/server.ts';
import { IdScanner } from './id-scanner.ts';

/** None of these may throw: the rest of the bytes would be lost. */
export interface FrameListener {
  onMessage(message: Message): void;
  /** A line that is no message, cut to a bounded length. */
  onNoise(line: string): void;
  /** A message over the limit was dropped; the id it answered, where it could be read. */
  onOversized(id: MessageId | undefined): void;
  /** One line goes on and on: no end of it will come. */
  onEndless(): void;
  /** The stream ended within a message. */
  onCutOff(): void;
}

const NEWLINE = 0x0a;
const OPEN_BRACE = 0x7b;

/** So many pieces of an unfinished line become one: a peer that drips single bytes must not cost an object for each. */
const MERGED_PIECES = 1024;

export class FrameReader {
  readonly #maxBytes: number;
  readonly #listener: FrameListener;
  /** The unfinished line, in pieces: it is joined once, when its end has come. */
  #pieces: Buffer[] = [];
  #bytes = 0;
  #merged = 0;
  /** Set while the present line is over the limit. */
  #scanner: IdScanner | undefined;
  #dropped = 0;

  constructor(maxMessageBytes: number, listener: FrameListener) {
    this.#maxBytes = Math.min(maxMessageBytes, constants.MAX_STRING_LENGTH);
    this.#listener = listener;
  }

  push(chunk: Buffer): void {
    const last = chunk.lastIndexOf(NEWLINE);
    if (last === -1) {
      this.#hold(chunk);
      return;
    }
    let from = 0;
    if (this.#bytes > 0 || this.#scanner !== undefined) from = this.#finishLine(chunk, 0);
    // Only here can a line be over the limit without ever having been held.
    if (last - from > this.#maxBytes) while (from <= last) from = this.#finishLine(chunk, from);
    else if (from < last) this.#readLines(chunk.toString('utf8', from, last));
    if (last + 1 < chunk.length) this.#hold(chunk.subarray(last + 1));
  }

  /** The stream has ended; a last line without its newline still counts. */
  end(): void {
    if (this.#scanner !== undefined) this.#readHeld();
    else if (this.#bytes > 0) this.#readLast(textOf(this.#takePieces()));
  }

  #hold(piece: Buffer): void {
    if (this.#scanner !== undefined) {
      this.#drop(piece, this.#scanner);
      return;
    }
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes > this.#maxBytes) {
      this.#scanner = new IdScanner();
      this.#dropped = 0;
      for (const each of this.#takePieces()) this.#scanner.push(each);
    } else if (this.#pieces.length === this.#merged + MERGED_PIECES) {
      this.#pieces.push(Buffer.concat(this.#pieces.splice(this.#merged)));
      this.#merged += 1;
    }
  }

  #drop(piece: Buffer, scanner: IdScanner): void {
    scanner.push(piece);
    const wasEndless = this.#dropped > limits.endlessLineBytes;
    this.#dropped += piece.length;
    if (!wasEndless && this.#dropped > limits.endlessLineBytes) this.#listener.onEndless();
  }

  /** Says where the next line begins. */
  #finishLine(chunk: Buffer, from: number): number {
    const newline = chunk.indexOf(NEWLINE, from);
    this.#hold(chunk.subarray(from, newline));
    this.#readHeld();
    return newline + 1;
  }

  #readHeld(): void {
    const scanner = this.#scanner;
    this.#scanner = undefined;
    if (scanner === undefined) this.#readLine(textOf(this.#takePieces()));
    else this.#listener.onOversized(scanner.answered());
  }

  #takePieces(): Buffer[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#bytes = 0;
    this.#merged = 0;
    return pieces;
  }

  #readLines(text: string): void {
    let from = 0;
    for (let to = text.indexOf('\n'); to !== -1; to = text.indexOf('\n', from)) {
      this.#readLine(text.slice(from, to));
      from = to + 1;
    }
    this.#readLine(text.slice(from));
  }

  #readLine(line: string): void {
    if (line.charCodeAt(0) === OPEN_BRACE) {
      const parsed = parseJson(line);
      // What opens with a brace and parses is an object.
      if (parsed.ok) this.#listener.onMessage(parsed.value as Message);
      else this.#noise(line);
    } else if (line !== '') this.#readUnusualLine(line);
  }

  #readLast(line: string): void {
    if (line.trimStart().startsWith('{') && !parseJson(line.trim()).ok) this.#listener.onCutOff();
    else this.#readLine(line);
  }

  /** Blank, a batch, indented, behind a byte order mark (which `trim` takes for a space), or noise. */
  #readUnusualLine(line: string): void {
    const text = line.trim();
    if (text === '') return;
    // Most noise is not worth an attempt to parse it.
    if (text[0] !== '[' && text[0] !== '{') {
      this.#noise(line);
      return;
    }
    const parsed = parseJson(text);
    if (!parsed.ok) this.#noise(line);
    else if (Array.isArray(parsed.value)) for (const each of parsed.value) this.#deliver(each);
    else this.#deliver(parsed.value);
  }

  #deliver(value: unknown): void {
    if (isObject(value)) this.#listener.onMessage(value);
    else this.#noise(stringifyBounded(value, limits.noiseLineChars));
  }

  #noise(line: string): void {
    this.#listener.onNoise(line.slice(0, limits.noiseLineChars).trimEnd());
  }
}

function textOf(pieces: readonly Buffer[]): string {
  const [only] = pieces;
  return (pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces)).toString('utf8');
}
