// Owns reading server-sent events from bytes, however the network cut the bytes into chunks.
// An event over the limit is dropped while it arrives. What the data of an event means is left to the channels.

import { constants } from 'node:buffer';
import { limits } from '../model/limits.ts';
import type { MessageId } from '../model/server.ts';
import { IdScanner } from './id-scanner.ts';
import { Pieces } from './pieces.ts';

/** The methods must not throw: the rest of the chunk would be lost. */
export interface EventStreamListener {
  onEvent(type: string, data: string): void;
  /** An event over the limit was dropped; the id of the request it answered, where it could be read. */
  onOversized(id: MessageId | undefined): void;
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

/** While an event is being dropped, a line is scanned in parts of this size. */
const SCAN_BYTES = 16 * 1024;

export class EventStreamReader {
  /** The last event id that was sent: where to resume when the stream breaks. */
  lastEventId: string | undefined;
  /** How long the server wants the client to wait before it reconnects. */
  retryMs: number | undefined;

  readonly #maxBytes: number;
  readonly #listener: EventStreamListener;
  /** The unfinished line. */
  readonly #held = new Pieces();
  /** The size of the present event's finished lines. */
  #eventBytes = 0;
  #data: string[] = [];
  #type = '';
  #id: string | undefined;
  /** The last chunk ended with a CR; an LF at the start of the next chunk belongs to it. */
  #afterCarriageReturn = false;
  #atStart = true;
  /** Set while the present event is over the limit. */
  #scanner: IdScanner | undefined;
  /** While dropping: the kind of the present line; `none` until its first bytes were scanned. */
  #scannedLine: 'none' | 'data' | 'other' = 'none';

  constructor(maxEventBytes: number, listener: EventStreamListener) {
    this.#maxBytes = Math.min(maxEventBytes, constants.MAX_STRING_LENGTH);
    this.#listener = listener;
  }

  push(bytes: Buffer): void {
    let chunk = bytes;
    if (chunk.length === 0) return;
    if (this.#afterCarriageReturn && chunk[0] === LF) chunk = chunk.subarray(1);
    const last = Math.max(chunk.lastIndexOf(LF), chunk.lastIndexOf(CR));
    this.#afterCarriageReturn = chunk.length === 0 ? false : last === chunk.length - 1 && chunk[last] === CR;
    let from = 0;
    if (last !== -1) {
      if (this.#held.bytes > 0) from = this.#finishLine(chunk, 0);
      // Lines are read one by one only when their event is being dropped or may have to be.
      const mayBeOversized = this.#scanner !== undefined || this.#eventBytes + last - from > this.#maxBytes;
      if (mayBeOversized) while (from <= last) from = this.#finishLine(chunk, from);
      else if (from <= last) this.#readLines(chunk.toString('utf8', from, isCrLf(chunk, last) ? last - 1 : last));
      from = last + 1;
    }
    if (from < chunk.length) this.#hold(from === 0 ? chunk : chunk.subarray(from));
  }

  /** The stream has ended normally. An event without its closing blank line still counts: some servers forget the line. */
  end(): void {
    if (this.#held.bytes > 0) this.#readHeld();
    this.#dispatch();
  }

  #hold(piece: Buffer): void {
    this.#held.push(piece);
    if (this.#scanner === undefined && this.#eventBytes + this.#held.bytes > this.#maxBytes) {
      this.#scanner = new IdScanner();
      for (const line of this.#data) this.#scanner.push(Buffer.from(line));
      this.#data = [];
    }
    if (this.#scanner !== undefined && this.#held.bytes > SCAN_BYTES) this.#scanHeld(this.#scanner);
  }

  /** Returns where the next line begins. */
  #finishLine(chunk: Buffer, from: number): number {
    const end = endOfLine(chunk, from);
    if (end > from) this.#hold(chunk.subarray(from, end));
    this.#readHeld();
    return end + (chunk[end] === CR && chunk[end + 1] === LF ? 2 : 1);
  }

  #readHeld(): void {
    if (this.#scanner === undefined) {
      this.#readLine(this.#held.take().toString('utf8'));
      return;
    }
    const isBlank = this.#scannedLine === 'none' && this.#held.bytes === 0;
    this.#scanHeld(this.#scanner);
    this.#scannedLine = 'none';
    if (isBlank) this.#dispatch();
  }

  /** The id that a dropped event answers stands in its data lines only. */
  #scanHeld(scanner: IdScanner): void {
    const bytes = this.#held.take();
    const isFirst = this.#scannedLine === 'none';
    if (isFirst) this.#scannedLine = bytes.toString('latin1', 0, 5) === 'data:' ? 'data' : 'other';
    if (this.#scannedLine === 'data') scanner.push(isFirst ? bytes.subarray(5) : bytes);
  }

  #readLines(text: string): void {
    const lines = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
    let from = 0;
    for (let to = lines.indexOf('\n'); to !== -1; to = lines.indexOf('\n', from)) {
      this.#readLine(lines.slice(from, to));
      from = to + 1;
    }
    this.#readLine(lines.slice(from));
  }

  #readLine(text: string): void {
    let line = text;
    if (this.#atStart) {
      this.#atStart = false;
      if (line.startsWith('\uFEFF')) line = line.slice(1);
    }
    if (line === '') {
      this.#dispatch();
      return;
    }
    const colon = line.indexOf(':');
    // A comment is not part of an event: comments that keep the connection open must not count towards the limit.
    if (colon === 0) return;
    this.#eventBytes += line.length;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1);
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#type = value;
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
    else if (field === 'retry' && /^\d{1,10}$/.test(value)) this.retryMs = Math.min(Number(value), limits.retryAfterMs);
  }

  /** Resets the state before it calls the listener, so that a listener that reads on does not see this event again. */
  #dispatch(): void {
    const data = this.#data;
    const type = this.#type;
    const scanner = this.#scanner;
    if (this.#id !== undefined) this.lastEventId = this.#id === '' ? undefined : this.#id;
    this.#id = undefined;
    this.#type = '';
    this.#eventBytes = 0;
    this.#scanner = undefined;
    if (data.length > 0) this.#data = [];
    if (scanner !== undefined) this.#listener.onOversized(scanner.answered());
    else if (data.length > 0) this.#listener.onEvent(type, data.length === 1 ? (data[0] as string) : data.join('\n'));
  }
}

/** The caller knows that the chunk holds a line end after `from`. */
function endOfLine(chunk: Buffer, from: number): number {
  let at = from;
  while (chunk[at] !== LF && chunk[at] !== CR) at += 1;
  return at;
}

const isCrLf = (chunk: Buffer, at: number) => chunk[at] === LF && chunk[at - 1] === CR;
