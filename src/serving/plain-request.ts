// Owns recognising a plain request: a POST that arrives whole in one piece, with a head that can be read in one way only. Every
// other request belongs to Node's parser. Reading a head costs Node more than the rest of a call's way through a gateway.

import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { asciiText } from '../transport/pieces.ts';

/** A head as it was read. Requests of one connection mostly repeat it, so that it is read once. */
export interface PlainHead {
  readonly text: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly bodyBytes: number;
}

/** A request that was read here, with what handlers use of Node's own. */
export class PlainRequest {
  readonly method = 'POST';
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly socket: Socket;
  readonly bytes: Buffer;

  constructor({ url, headers }: PlainHead, bytes: Buffer, socket: Socket) {
    this.url = url;
    this.headers = headers;
    this.bytes = bytes;
    this.socket = socket;
  }

  /** The body. */
  text(): string {
    return asciiText(this.bytes) ?? this.bytes.toString('utf8');
  }
}

/** Less than Node takes, so that Node is the one that refuses heads for their size. */
const LONGEST_HEAD = 8_192;
const MOST_HEADERS = 64;
const END = '\r\n\r\n';

/** `latest`: the head of the request before on the same connection. */
export function readPlainRequest(
  chunk: Buffer,
  latest: PlainHead | undefined,
): { readonly head: PlainHead; readonly body: Buffer } | undefined {
  const end = chunk.indexOf(END);
  if (end < 0 || end > LONGEST_HEAD) return undefined;
  const text = chunk.toString('latin1', 0, end);
  const head = latest?.text === text ? latest : readHead(text);
  const bodyAt = end + END.length;
  return head !== undefined && chunk.length === bodyAt + head.bodyBytes
    ? { head, body: chunk.subarray(bodyAt) }
    : undefined;
}

/** Spaces, tabs, line breaks and other bytes where a parser may be lenient are for Node to judge. */
const REQUEST_LINE = /^POST (\/[!-~]*) HTTP\/1\.1$/;
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([ -~]*)$/;
const LENGTH = /^(?:0|[1-9][0-9]{0,8})$/;

/** Headers that say how the message is framed or what becomes of the connection, and the name that is none for an object of Node's. */
const OF_NODE: readonly string[] = [
  ...['transfer-encoding', 'te', 'trailer', 'expect', 'upgrade', 'http2-settings'],
  ...['keep-alive', 'proxy-connection', '__proto__'],
];

function readHead(text: string): PlainHead | undefined {
  const [first = '', ...lines] = text.split('\r\n');
  const url = REQUEST_LINE.exec(first)?.[1];
  if (url === undefined || lines.length > MOST_HEADERS) return undefined;
  const headers: Record<string, string> = Object.create(null);
  for (const line of lines) {
    const [, given = '', value] = HEADER.exec(line) ?? [];
    const name = given.toLowerCase();
    // A header that comes twice is joined, dropped or refused, depending on its name.
    if (value === undefined || name in headers || OF_NODE.includes(name)) return undefined;
    headers[name] = value.trim();
  }
  const { connection = 'keep-alive', host = '', 'content-length': length = '' } = headers;
  if (connection.toLowerCase() !== 'keep-alive' || host === '' || !LENGTH.test(length)) return undefined;
  return { text, url, headers, bodyBytes: Number(length) };
}
