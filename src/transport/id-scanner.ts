// Owns finding the request id that a message answers when the message is too large to be kept: bytes in, one id out.

import { parseJson } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { MessageId } from '../model/server.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const SPACE = 0x20;

/**
 * Follows only strings and nesting depth, in one pass over the bytes. The id may stand anywhere in the outermost object; an
 * `id` of an inner object is ignored.
 */
export class IdScanner {
  #depth = 0;
  #rootIsObject = false;
  #inString = false;
  #escaped = false;
  /** The key or value of the outermost object that is being read. A longer one cannot be an id and is not kept in full. */
  readonly #token = Buffer.alloc(limits.messageIdBytes);
  #tokenLength = 0;
  #key: unknown;
  #id: unknown;
  #isRequest = false;

  push(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) at = this.#inString ? this.#string(bytes, at) : this.#structure(bytes, at);
  }

  /** The request id that this message answers; `undefined` for a request, whose id is the server's own. */
  answered(): MessageId | undefined {
    return this.#isRequest ? undefined : this.id();
  }

  /** The id of the message, whether it is a request or an answer. */
  id(): MessageId | undefined {
    if (!this.#rootIsObject) return undefined;
    return typeof this.#id === 'string' || typeof this.#id === 'number' ? this.#id : undefined;
  }

  /** Reads to the end of the string or of the bytes, and returns where to go on. */
  #string(bytes: Buffer, from: number): number {
    const keep = this.#depth === 1;
    for (let at = from; at < bytes.length; at += 1) {
      const byte = bytes[at] as number;
      if (keep) this.#keep(byte);
      if (this.#escaped) this.#escaped = false;
      else if (byte === BACKSLASH) this.#escaped = true;
      else if (byte === QUOTE) {
        this.#inString = false;
        return at + 1;
      }
    }
    return bytes.length;
  }

  #structure(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.length; at += 1) {
      const byte = bytes[at] as number;
      if (byte === QUOTE) {
        this.#inString = true;
        if (this.#depth === 1) this.#keep(byte);
        return at + 1;
      }
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#open(byte);
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#close();
      else if (this.#depth === 1) this.#outermost(byte);
    }
    return bytes.length;
  }

  #open(byte: number): void {
    if (this.#depth === 0) this.#rootIsObject = byte === OPEN_BRACE;
    // A lone bracket does not parse: an id that is an object or a list counts as no id.
    else if (this.#depth === 1) this.#keep(byte);
    this.#depth += 1;
  }

  #close(): void {
    if (this.#depth === 1) this.#endValue();
    this.#depth -= 1;
  }

  #outermost(byte: number): void {
    if (byte === COLON) this.#key = this.#takeToken();
    else if (byte === COMMA) this.#endValue();
    else if (byte > SPACE) this.#keep(byte);
  }

  #endValue(): void {
    if (this.#key === 'id') this.#id = this.#takeToken();
    if (this.#key === 'method') this.#isRequest = true;
    this.#key = undefined;
    this.#tokenLength = 0;
  }

  #keep(byte: number): void {
    if (this.#tokenLength < this.#token.length) this.#token[this.#tokenLength] = byte;
    this.#tokenLength += 1;
  }

  #takeToken(): unknown {
    const length = this.#tokenLength;
    this.#tokenLength = 0;
    if (length > this.#token.length) return undefined;
    const parsed = parseJson(this.#token.toString('utf8', 0, length));
    return parsed.ok ? parsed.value : undefined;
  }
}
