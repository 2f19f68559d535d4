// Owns reading the parts of an HTTP/1.1 response: its head, and its body by length, in chunks, or up to the end of the
// connection. Pure: bytes in, parts out. What is doubtful is refused, and never guessed at.

import { limits } from '../model/limits.ts';

/** Why a connection could not be used any more. */
export type HttpFaultKind = 'hung-up' | 'cut-off' | 'head-too-large' | 'not-http' | 'closed';

export class HttpFault extends Error {
  readonly kind: HttpFaultKind;

  constructor(kind: HttpFaultKind) {
    super(`the HTTP connection failed: ${kind}`);
    this.kind = kind;
  }
}

export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
  readonly headers: ResponseHeaders;
  /** How long the connection may be idle afterwards; 0 where it ends with this response. */
  readonly idleMs: number;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d{2})(?: ([\t\x20-\x7e\x80-\xff]*))?$/;
const HEADER_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t\x20-\x7e\x80-\xff]*)$/;

/** `text` is the head without the empty line that ends it, byte for byte. */
export function readHead(text: string): ResponseHead {
  const [first = '', ...rest] = text.split('\r\n');
  const [, minor, code = '', statusText = ''] = STATUS_LINE.exec(first) ?? refuse();
  const headers: Record<string, string | string[] | undefined> = Object.create(null);
  for (const line of rest) {
    const [, spelled = '', padded = ''] = HEADER_LINE.exec(line) ?? refuse();
    const [name, value] = [spelled.toLowerCase(), withoutBlanks(padded)];
    const before = headers[name];
    headers[name] = before === undefined ? value : [before, value].flat();
  }
  // No upgrade is ever asked for.
  if (code === '101') refuse();
  const status = Number(code);
  const idleMs = isFramingDoubtful(status, headers, minor) ? 0 : idleMsOf(headers, minor === '1');
  return { status, statusText, headers, idleMs };
}

function refuse(): never {
  throw new HttpFault('not-http');
}

/** HTTP knows two kinds of blank. `trim` would take the byte A0 as well, which ends letters such as "à". */
function withoutBlanks(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

const isBlank = (code: number) => code === 0x20 || code === 0x09;

const listOf = (value: string | string[] | undefined) =>
  [value ?? []].flat().flatMap((each) => each.split(',').map((word) => withoutBlanks(word).toLowerCase()));

const hasNoBody = (status: number) => status === 204 || status === 304;

/** A body that cannot be there, or chunks in HTTP/1.0, may still follow: it would be read as the next response. */
function isFramingDoubtful(status: number, headers: ResponseHeaders, minor: string | undefined): boolean {
  const isChunked = headers['transfer-encoding'] !== undefined;
  if (hasNoBody(status)) return isChunked || (headers['content-length'] ?? '0') !== '0';
  return isChunked && minor === '0';
}

function idleMsOf(headers: ResponseHeaders, isKeptByDefault: boolean): number {
  const options = listOf(headers['connection']);
  const isKept = isKeptByDefault ? !options.includes('close') : options.includes('keep-alive');
  if (!isKept) return 0;
  const { ms, marginMs, mostMs } = limits.socketIdle;
  const told = /timeout=(\d+)/.exec([headers['keep-alive'] ?? ''].flat().join())?.[1];
  // A request must not meet the server's own closing.
  return told === undefined ? ms : Math.max(0, Math.min(Number(told) * 1_000 - marginMs, mostMs));
}

export interface BodyPart {
  readonly data?: Buffer | undefined;
  /** How many bytes were read; the rest has to come again, with more. */
  readonly used: number;
  readonly isDone: boolean;
}

export interface BodyReader {
  read(bytes: Buffer): BodyPart;
  readonly endsWithConnection?: boolean;
  /** The server said how long it is. */
  readonly isMeasured?: boolean;
}

/** `undefined` for a response without a body. */
export function bodyOf({ status, headers }: ResponseHead): BodyReader | undefined {
  const announced = announcedBody(headers);
  return hasNoBody(status) ? undefined : announced;
}

function announcedBody(headers: ResponseHeaders): BodyReader | undefined {
  const codings = listOf(headers['transfer-encoding']);
  const length = headers['content-length'];
  if (codings.length > 0) {
    if (codings.length > 1 || codings[0] !== 'chunked' || length !== undefined) refuse();
    return new ChunkedBody();
  }
  if (length === undefined) return endless;
  if (Array.isArray(length) || !/^\d{1,15}$/.test(length)) refuse();
  return Number(length) === 0 ? undefined : new MeasuredBody(Number(length));
}

const endless: BodyReader = {
  endsWithConnection: true,
  read: (bytes) => ({ data: bytes, used: bytes.length, isDone: false }),
};

class MeasuredBody implements BodyReader {
  readonly isMeasured = true;
  #left: number;

  constructor(length: number) {
    this.#left = length;
  }

  read(bytes: Buffer): BodyPart {
    const used = Math.min(this.#left, bytes.length);
    this.#left -= used;
    return { data: used === bytes.length ? bytes : bytes.subarray(0, used), used, isDone: this.#left === 0 };
  }
}

class ChunkedBody implements BodyReader {
  /** Which part comes next. `trailer`: lines behind the last chunk, up to an empty one. */
  #next: 'size' | 'data' | 'line-end' | 'trailer' = 'size';
  #left = 0;
  #trailerBytes = 0;

  read(bytes: Buffer): BodyPart {
    if (this.#next === 'data') {
      const used = Math.min(this.#left, bytes.length);
      this.#left -= used;
      if (this.#left === 0) this.#next = 'line-end';
      return { data: bytes.subarray(0, used), used, isDone: false };
    }
    const end = bytes.indexOf('\r\n');
    if (end > limits.chunkLineBytes || (end === -1 && bytes.length > limits.chunkLineBytes)) refuse();
    if (end === -1) return { used: 0, isDone: false };
    const used = end + 2;
    return { used, isDone: this.#readLine(bytes.toString('latin1', 0, end)) };
  }

  /** Returns whether the body ends with this line. */
  #readLine(line: string): boolean {
    if (this.#next === 'size') {
      const [, size = ''] = /^([0-9a-f]{1,12})(?:;.*)?$/i.exec(line) ?? refuse();
      this.#left = Number.parseInt(size, 16);
      this.#next = this.#left === 0 ? 'trailer' : 'data';
      return false;
    }
    if (this.#next === 'line-end') {
      if (line !== '') refuse();
      this.#next = 'size';
      return false;
    }
    this.#trailerBytes += line.length + 2;
    if (this.#trailerBytes > limits.responseHeadBytes || !(line === '' || HEADER_LINE.test(line))) refuse();
    return line === '';
  }
}
