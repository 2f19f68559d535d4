// Owns the client's side of a link: one HTTP upgrade on the gateway's port, and from then on one message a line, both ways, as on
// a pipe. It is written on `net`, since loading an HTTP client costs more than all of `plexus connect`.

import type { Socket } from 'node:net';
import { CLIENT_HEADER, WORKSPACE_HEADER } from '../access.ts';
import { GATEWAY_PROTOCOL } from '../instance.ts';
import { GATEWAY_HEADER, LINK, PROTOCOL_HEADER } from '../link-words.ts';

export interface LinkTarget {
  readonly host: string;
  readonly port: number;
  /** The route: `/mcp`, or that of a profile or a server. */
  readonly path: string;
  readonly token: string;
  readonly workspace: string;
  /** The same for the whole life of one `plexus connect`. */
  readonly client: string;
  /** The marks of the gateways that this process runs behind. */
  readonly behind: string;
}

/** The gateway is there and said no. */
export class LinkRefused extends Error {
  override readonly name = 'LinkRefused';
  readonly status: number;

  constructor(status: number, sentence: string) {
    super(sentence);
    this.status = status;
  }
}

/** A gateway on the same machine answers at once, unless it hangs. */
const ANSWER_MS = 5_000;
/** Of an answer other than a link. */
const ANSWER_BYTES = 16 * 1024;

/** Resolves with a paused socket that carries messages. Rejects with a `LinkRefused`, or with the error of the connection. */
export function openLink(target: LinkTarget): Promise<Socket> {
  // Loaded here, and not at the start of every command.
  const { connect } = process.getBuiltinModule('node:net');
  return new Promise((resolve, reject) => {
    const socket = connect({ host: target.host, port: target.port, noDelay: true, allowHalfOpen: true });
    let answer = Buffer.alloc(0);
    const onData = (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk]);
      const end = answer.indexOf('\r\n\r\n');
      if (end !== -1 && statusOf(answer) === 101) {
        socket.setTimeout(0).pause().removeAllListeners();
        if (answer.length > end + 4) socket.unshift(answer.subarray(end + 4));
        resolve(socket);
      } else if (answer.length > ANSWER_BYTES) onEnd();
    };
    const onEnd = () => {
      socket.destroy();
      reject(new LinkRefused(statusOf(answer), bodyOf(answer) || 'it runs and does not answer'));
    };
    socket.on('data', onData).on('end', onEnd).on('timeout', onEnd).on('error', reject);
    socket.setTimeout(ANSWER_MS).write(headOf(target));
  });
}

/** 0 where the answer is not HTTP. */
const statusOf = (answer: Buffer) => Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer.toString('latin1', 0, 16))?.[1] ?? 0);

const bodyOf = (answer: Buffer) => answer.toString('utf8').split('\r\n\r\n')[1]?.trim() ?? '';

function headOf({ host, port, path, token, workspace, client, behind }: LinkTarget): string {
  const headers = {
    host: `${host.includes(':') ? `[${host}]` : host}:${port}`,
    connection: 'upgrade',
    upgrade: LINK,
    authorization: `Bearer ${token}`,
    [PROTOCOL_HEADER]: GATEWAY_PROTOCOL,
    [WORKSPACE_HEADER]: encodeURIComponent(workspace),
    [CLIENT_HEADER]: client,
    ...(behind && { [GATEWAY_HEADER]: behind }),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}
