// Owns the listener on this machine that takes the answer of the login page, and the short page that the browser shows then.
// Knows nothing of what an answer means.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createDeferred } from '../kernel/deferred.ts';

export interface Callback {
  /** The address at which it listens: one of those that it was given. */
  readonly redirectUri: string;
  /** The first answer; `show` tells the browser how it went, and is called at most once. */
  readonly answer: Promise<CallbackAnswer>;
  close(): Promise<void>;
}

export interface CallbackAnswer {
  readonly fields: URLSearchParams;
  readonly show: (isSuccess: boolean) => void;
}

/** Listens at the first address that is free; `undefined` where all are taken. */
export async function openCallback(redirectUris: readonly string[]): Promise<Callback | undefined> {
  for (const redirectUri of redirectUris) {
    const opened = await listenAt(redirectUri);
    if (opened !== undefined) return opened;
  }
  return undefined;
}

async function listenAt(redirectUri: string): Promise<Callback | undefined> {
  const { hostname, port, pathname, searchParams } = new URL(redirectUri);
  const expected = new Set(searchParams.keys());
  const received = createDeferred<CallbackAnswer>();
  let isTaken = false;
  const take = (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', redirectUri);
    const hasAnswer = [...url.searchParams.keys()].some((each) => !expected.has(each));
    if (request.method !== 'GET' || url.pathname !== pathname || !hasAnswer) {
      response.writeHead(404, HEADERS).end();
      return;
    }
    if (isTaken) {
      response.writeHead(410, HEADERS).end(page('This login has ended.'));
      return;
    }
    isTaken = true;
    const show = (isSuccess: boolean) =>
      response
        .writeHead(200, HEADERS)
        .end(page(isSuccess ? 'You are logged in.' : 'The login failed; the terminal says why.'));
    received.resolve({ fields: url.searchParams, show });
  };
  const first = await listen(
    take,
    hostname === 'localhost' ? '127.0.0.1' : hostname.replace(/^\[|\]$/g, ''),
    Number(port),
  );
  if (first === undefined) return undefined;
  // A browser may take `localhost` for either address. A machine without the newer one has no second listener.
  const second = hostname === 'localhost' ? await listen(take, '::1', Number(port)) : undefined;
  const servers = [first, ...(second === undefined ? [] : [second])];
  return {
    redirectUri,
    answer: received.promise,
    close: async () => {
      await Promise.all(servers.map(closed));
    },
  };
}

function listen(
  take: (request: IncomingMessage, response: ServerResponse) => void,
  host: string,
  port: number,
): Promise<Server | undefined> {
  const server = createServer(take);
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined));
    server.listen(port, host, () => resolve(server));
  });
}

/** The browser keeps its connection; it need not be waited for once its page has been sent. */
function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  connection: 'close',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
};

const page = (sentence: string) =>
  `<!doctype html><meta charset="utf-8"><title>Plexus</title><body style="font:16px sans-serif;margin:4em"><p>${sentence}</p><p>You can close this tab.</p>\n`;
