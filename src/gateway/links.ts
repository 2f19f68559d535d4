// Owns the gateway's side of links: who may open one, and a client behind it that is served as over a pipe. A link is a `plexus
// connect` on this machine; it alone may name a workspace.

import type { IncomingMessage } from 'node:http';
import { type Duplex, PassThrough } from 'node:stream';
import { type Authenticate, faultOfNames } from '../serving/access.ts';
import type { Principal } from '../serving/service.ts';
import type { StdioPipes } from '../serving/stdio-endpoint.ts';
import type { Refusal } from './gateway.ts';
import { GATEWAY_PROTOCOL } from './instance.ts';
import { GATEWAY_HEADER, isBehind, LINK, PROTOCOL_HEADER } from './link-words.ts';

export interface LinksOptions {
  /** Knows the token of `plexus connect`, and no other. */
  readonly authenticate: Authenticate;
  /** Serves the client of a request until it ends, or says why not. */
  readonly serve: (request: IncomingMessage, principal: Principal, pipes: StdioPipes) => Promise<void> | Refusal;
  /** Of this gateway. */
  readonly mark: string;
  /** Names by which the gateway is reached. */
  readonly hosts: readonly string[];
  readonly onError: (error: unknown) => void;
}

export class Links {
  readonly #options: LinksOptions;
  readonly #open = new Set<Promise<void>>();
  #isClosing = false;

  constructor(options: LinksOptions) {
    this.#options = options;
  }

  /** How many clients are linked. */
  get size(): number {
    return this.#open.size;
  }

  /** Refuses new links; resolves when the open ones have ended, which closing their servers does. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all(this.#open);
  }

  /** For an upgrade to a link. */
  readonly accept = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    // A client waits for its answers: one that has ended the link is gone, and its calls with it.
    socket.on('error', () => socket.destroy());
    socket.on('end', () => socket.destroy());
    const principal = this.#options.authenticate(request);
    const refusal = this.#refusalOf(request, principal);
    if (refusal !== undefined) {
      refuse(socket, refusal);
      return;
    }
    // Its own stream, so that the server can stop reading and still write its last answers.
    const input = new PassThrough();
    const serving = this.#options.serve(request, principal as Principal, { input, output: socket });
    if (!(serving instanceof Promise)) {
      refuse(socket, serving);
      return;
    }
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${LINK}\r\n\r\n`);
    input.write(head);
    socket.pipe(input);
    const served = serving.catch(this.#options.onError).then(() => {
      // A client that has not read its last answers in the time for them gets no more.
      if (socket.writableLength > 0) socket.destroy();
      else socket.end(() => socket.destroy());
      this.#open.delete(served);
    });
    this.#open.add(served);
  };

  #refusalOf(request: IncomingMessage, principal: Principal | undefined): Refusal | undefined {
    const fault = faultOfNames(request, { hosts: this.#options.hosts, origins: [] });
    if (fault !== undefined) return { status: 403, sentence: `${fault}.` };
    if (principal === undefined) return { status: 401, sentence: 'The request needs the token of plexus connect.' };
    if (isBehind(this.#options.mark, headerOf(request, GATEWAY_HEADER)))
      return { status: 508, sentence: 'The gateway would be behind itself: one of its own servers connects to it.' };
    if (headerOf(request, PROTOCOL_HEADER) !== String(GATEWAY_PROTOCOL))
      return { status: 426, sentence: `The gateway speaks protocol ${GATEWAY_PROTOCOL}.` };
    return this.#isClosing ? { status: 503, sentence: 'The gateway stops.' } : undefined;
  }
}

const headerOf = ({ headers }: IncomingMessage, name: string) => headers[name]?.toString() ?? '';

function refuse(socket: Duplex, { status, sentence }: Refusal): void {
  const headers = `connection: close\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(sentence)}`;
  // Whether its client ends the connection too is not waited for: an open one keeps the gateway from ending.
  socket.end(`HTTP/1.1 ${status} Refused\r\n${headers}\r\n\r\n${sentence}`, () => socket.destroy());
}
