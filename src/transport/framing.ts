// Owns reading messages from bytes: one JSON-RPC message per line, however the pipe cut the bytes into chunks.
// No output of a server is fatal: a line that is not a message is noise, and a line over the limit is dropped while it arrives.

import { constants } from 'node:buffer';
import { isObject, type ParsedJson, parseJson, stringifyBounded } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { Message, MessageId } from '../model/server.ts';
import { IdScanner } from './id-scanner.ts';
import { isLong, MessageQueue } from './message-queue.ts';
import { Pieces } from './pieces.ts';

/** The methods must not throw: the rest of the chunk would be lost. */
export interface FrameListener {
  onMessage(message: Message): void;
  /** A line that is not a message, cut to a bounded length. */
  onNoise(line: string): void;
  /** A message over the limit was dropped; the id it answered, where it could be read. */
  onOversized(id: MessageId | undefined): void;
  /** One line has grown so long that its end is not expected any more. */
  onEndless(): void;
  /** The stream ended in the middle of a message. */
  onCutOff(): void;
}

const NEWLINE = 0x0a;
const OPEN_BRACE = 0x7b;

export class FrameReader {
  readonly #maxBytes: number;
  readonly #listener: FrameListener;
  /** The unfinished line. */
  readonly #held = new Pieces();
  /** Set while the present line is over the limit. */
  #scanner: IdScanner | undefined;
  #droppedBytes = 0;
  readonly #queue = new MessageQueue();

  constructor(maxMessageBytes: number, listener: FrameListener) {
    this.#maxBytes = Math.min(maxMessageBytes, constants.MAX_STRING_LENGTH);
    this.#listener = listener;
  }

  /** While a long message is parsed: resolves when it was delivered, and all that was pushed behind it. */
  whenIdle(): Promise<void> | undefined {
    return this.#queue.whenIdle();
  }

  /** Delivers nothing any more. */
  stop(): void {
    this.#queue.stop();
  }

  push(chunk: Buffer): void {
    if (this.#queue.isBusy) this.#queue.run(() => this.push(chunk));
    else this.#read(chunk);
  }

  #read(chunk: Buffer): void {
    const last = chunk.lastIndexOf(NEWLINE);
    if (last === -1) {
      this.#hold(chunk);
      return;
    }
    let from = 0;
    if (this.#held.bytes > 0 || this.#scanner !== undefined) from = this.#finishLine(chunk, 0);
    // A line within one chunk can be over a limit without having been held; only then read lines one by one.
    if (last - from > this.#maxBytes || isLong(last - from))
      while (from <= last && !this.#queue.isBusy) from = this.#finishLine(chunk, from);
    if (this.#queue.isBusy) {
      if (from < chunk.length) this.push(chunk.subarray(from));
      return;
    }
    if (from < last) this.#readLines(chunk.toString('utf8', from, last));
    if (last + 1 < chunk.length) this.#hold(chunk.subarray(last + 1));
  }

  /** The stream has ended. A last line without its newline still counts. */
  end(): void {
    if (this.#queue.isBusy) this.#queue.run(() => this.end());
    else if (this.#scanner !== undefined) this.#readHeld();
    else if (this.#held.bytes > 0) this.#readLast(this.#held.take());
  }

  #hold(piece: Buffer): void {
    if (this.#scanner !== undefined) {
      this.#drop(piece, this.#scanner);
      return;
    }
    this.#held.push(piece);
    if (this.#held.bytes <= this.#maxBytes) return;
    this.#scanner = new IdScanner();
    this.#droppedBytes = 0;
    for (const each of this.#held.takeEach()) this.#scanner.push(each);
  }

  #drop(piece: Buffer, scanner: IdScanner): void {
    scanner.push(piece);
    const wasEndless = this.#droppedBytes > limits.endlessLineBytes;
    this.#droppedBytes += piece.length;
    if (!wasEndless && this.#droppedBytes > limits.endlessLineBytes) this.#listener.onEndless();
  }

  /** Returns where the next line begins. */
  #finishLine(chunk: Buffer, from: number): number {
    const newline = chunk.indexOf(NEWLINE, from);
    this.#hold(chunk.subarray(from, newline));
    this.#readHeld();
    return newline + 1;
  }

  #readHeld(): void {
    const scanner = this.#scanner;
    this.#scanner = undefined;
    if (scanner !== undefined) this.#listener.onOversized(scanner.answered());
    else if (isLong(this.#held.bytes)) this.#queue.parse(this.#held.take(), this.#readLong);
    else this.#readLine(this.#held.takeText());
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
      // JSON that opens with a brace is an object.
      if (parsed.ok) this.#listener.onMessage(parsed.value as Message);
      else this.#noise(line);
    } else if (line !== '') this.#readUnusualLine(line);
  }

  readonly #readLong = (parsed: ParsedJson, line: string): void => {
    if (parsed.ok) this.#deliverAll(parsed.value);
    else if (isIndented(line)) this.#queue.parse(line.trim(), this.#readLong);
    else this.#noise(line);
  };

  #readLast(bytes: Buffer): void {
    this.#queue.parse(bytes, (parsed, line) => {
      const isMessage = parsed.ok || (isIndented(line) && parseJson(line.trim()).ok);
      if (!isMessage && line.trimStart().startsWith('{')) this.#listener.onCutOff();
      else if (isLong(line.length)) this.#readLong(parsed, line);
      else this.#readLine(line);
    });
  }

  /** A blank line, a batch, an indented message, a byte order mark before one (`trim` removes it), or noise. */
  #readUnusualLine(line: string): void {
    const text = line.trim();
    if (text === '') return;
    // Most noise can be told from JSON by its first character, without parsing.
    if (text[0] !== '[' && text[0] !== '{') {
      this.#noise(line);
      return;
    }
    const parsed = parseJson(text);
    if (parsed.ok) this.#deliverAll(parsed.value);
    else this.#noise(line);
  }

  #deliverAll(value: unknown): void {
    if (Array.isArray(value)) for (const each of value) this.#deliver(each);
    else this.#deliver(value);
  }

  #deliver(value: unknown): void {
    if (isObject(value)) this.#listener.onMessage(value);
    else this.#noise(stringifyBounded(value, limits.noiseLineChars));
  }

  #noise(line: string): void {
    this.#listener.onNoise(line.slice(0, limits.noiseLineChars).trimEnd());
  }
}

/** A byte order mark or a space before a message that JSON does not know; `trim` removes it. */
const isIndented = (line: string) => /^\s/.test(line) && /^\s*[[{]/.test(line);
