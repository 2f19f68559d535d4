// Owns the way from bytes to server-sent events, however the bytes were cut on their way.
// An event over the limit is dropped while it comes; what the data of an event means is left to the channels.

import { constants } from 'node:buffer';
import { limits } from '../model/limits.ts';
import type { MessageId } from '../model/server.ts';
import { IdScanner } from './id-scanner.ts';
import { Pieces } from './pieces.ts';

/** None of these may throw: the rest of the bytes would be lost. */
export interface EventListener {
  onEvent(type: string, data: string): void;
  /** An event over the limit was dropped; the id of the request it answered, where it could be read. */
  onOversized(id: MessageId | undefined): void;
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

/** How much of a line is looked at together while its event is being dropped. */
const GLANCE_BYTES = 16 * 1024;

export class EventStreamReader {
  /** Of the last finished event that had one, or an earlier one: where to go on when the stream breaks. */
  lastEventId: string | undefined;
  /** How long the server wants us to wait before we come back. */
  retryMs: number | undefined;

  readonly #maxBytes: number;
  readonly #listener: EventListener;
  /** The unfinished line. */
  readonly #held = new Pieces();
  /** Of the present event, the finished lines. */
  #eventBytes = 0;
  #data: string[] = [];
  #type = '';
  #id: string | undefined;
  /** The last chunk ended between the two halves of a CRLF, or with a lone CR. */
  #afterCarriageReturn = false;
  #atStart = true;
  /** Set while the present event is over the limit. */
  #scanner: IdScanner | undefined;
  /** While dropping: whether the present line was looked at before, and then whether it is data. */
  #glance: 'none' | 'data' | 'other' = 'none';

  constructor(maxEventBytes: number, listener: EventListener) {
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
      // Only then can a line need a closer look than its text: it belongs to an event that is dropped, or has to be.
      const isClose = this.#scanner !== undefined || this.#eventBytes + last - from > this.#maxBytes;
      if (isClose) while (from <= last) from = this.#finishLine(chunk, from);
      else if (from <= last) this.#readLines(chunk.toString('utf8', from, isCrLf(chunk, last) ? last - 1 : last));
      from = last + 1;
    }
    if (from < chunk.length) this.#hold(from === 0 ? chunk : chunk.subarray(from));
  }

  /** The stream has ended as it should. An event whose last line is missing still counts: some servers forget it. */
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
    if (this.#scanner !== undefined && this.#held.bytes > GLANCE_BYTES) this.#glanceAtHeld(this.#scanner);
  }

  /** Says where the next line begins. */
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
    const isBlank = this.#glance === 'none' && this.#held.bytes === 0;
    this.#glanceAtHeld(this.#scanner);
    this.#glance = 'none';
    if (isBlank) this.#dispatch();
  }

  /** Whom a dropped event answers stands in its data, and in none of its other lines. */
  #glanceAtHeld(scanner: IdScanner): void {
    const bytes = this.#held.take();
    const isFirst = this.#glance === 'none';
    if (isFirst) this.#glance = bytes.toString('latin1', 0, 5) === 'data:' ? 'data' : 'other';
    if (this.#glance === 'data') scanner.push(isFirst ? bytes.subarray(5) : bytes);
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
    // A comment is no part of an event: one that is repeated for ever to keep the line open must not add up.
    if (colon === 0) return;
    this.#eventBytes += line.length;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1);
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#type = value;
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
    else if (field === 'retry' && /^\d{1,10}$/.test(value)) this.retryMs = Math.min(Number(value), limits.retryAfterMs);
  }

  /** Forgets the event before it is told, so that what the listener does cannot meet it again. */
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

/** There is one: the caller has seen it. */
function endOfLine(chunk: Buffer, from: number): number {
  let at = from;
  while (chunk[at] !== LF && chunk[at] !== CR) at += 1;
  return at;
}

const isCrLf = (chunk: Buffer, at: number) => chunk[at] === LF && chunk[at - 1] === CR;
