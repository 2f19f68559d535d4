// Owns the listener on this machine that takes the answer of the login page, and the short page that the browser shows then.
// Knows nothing of what an answer means; whether one belongs to the login it is told. What does not belong to it (an older tab,
// another program of this machine, a page that tries the port) neither ends the login nor holds it up.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createDeferred } from '../kernel/deferred.ts';
import { isLoopback } from './auth-http.ts';

export interface Callback {
  /** The address at which it listens: one of those that it was given. */
  readonly redirectUri: string;
  /** The first answer that belongs to the login; `show` tells the browser how it went, and is called at most once. */
  readonly answer: Promise<CallbackAnswer>;
  close(): Promise<void>;
}

export interface CallbackAnswer {
  readonly fields: URLSearchParams;
  readonly show: (isSuccess: boolean) => void;
}

export type IsOfLogin = (fields: URLSearchParams) => boolean;

/** Listens at the first address that is free; `undefined` where all are taken. */
export async function openCallback(
  redirectUris: readonly string[],
  isOfLogin: IsOfLogin,
): Promise<Callback | undefined> {
  for (const redirectUri of redirectUris) {
    const opened = await listenAt(redirectUri, isOfLogin);
    if (opened !== undefined) return opened;
  }
  return undefined;
}

async function listenAt(redirectUri: string, isOfLogin: IsOfLogin): Promise<Callback | undefined> {
  const { hostname, port: named, pathname, searchParams } = new URL(redirectUri);
  const port = named === '' ? 80 : Number(named);
  const expected = new Set(searchParams.keys());
  const received = createDeferred<CallbackAnswer>();
  let taken: ServerResponse | undefined;
  const take = (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? '/';
    const fields = URL.canParse(path, redirectUri) ? fieldsAt(new URL(path, redirectUri), pathname) : undefined;
    const hasAnswer = [...(fields?.keys() ?? [])].some((each) => !expected.has(each));
    if (request.method !== 'GET' || !isByLoopback(request) || fields === undefined || !hasAnswer) {
      response.writeHead(404, HEADERS).end();
      return;
    }
    if (!isOfLogin(fields)) {
      response.writeHead(400, HEADERS).end(page(NOT_OF_LOGIN));
      return;
    }
    if (taken !== undefined) {
      response.writeHead(410, HEADERS).end(page('This login has ended.'));
      return;
    }
    taken = response;
    const show = (isSuccess: boolean) =>
      response
        .writeHead(200, HEADERS)
        .end(page(isSuccess ? 'You are logged in.' : 'The login failed; the terminal says why.'));
    received.resolve({ fields, show });
  };
  const first = await listen(take, hostname === 'localhost' ? '127.0.0.1' : hostname.replace(/^\[|\]$/g, ''), port);
  if (first === undefined) return undefined;
  // A browser may take `localhost` for either address. A machine without the newer one has no second listener.
  const second = hostname === 'localhost' ? await listen(take, '::1', port) : undefined;
  const servers = [first, ...(second === undefined ? [] : [second])];
  return {
    redirectUri,
    answer: received.promise,
    close: async () => {
      if (taken?.headersSent) await sent(taken);
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

/** A page whose name was made to lead to this machine (DNS rebinding) gets nothing: its requests still say its name. */
function isByLoopback({ headers: { host = '' } }: IncomingMessage): boolean {
  return URL.canParse(`http://${host}`) && isLoopback(new URL(`http://${host}`).hostname);
}

const fieldsAt = ({ pathname, searchParams }: URL, expected: string) =>
  pathname === expected ? searchParams : undefined;

/** The page is with the system, or the browser is gone. */
function sent(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (response.writableFinished || response.destroyed) resolve();
    else response.once('finish', resolve).once('close', resolve);
  });
}

/** Closes connections that are still open: half a request would hold the login up. */
function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

const NOT_OF_LOGIN =
  'This answer belongs to another login, or to none that was started here. Finish the page that was opened last.';

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  connection: 'close',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
};

const page = (sentence: string) =>
  `<!doctype html><meta charset="utf-8"><title>Plexus</title><body style="font:16px sans-serif;margin:4em"><p>${sentence}</p><p>You can close this tab.</p>\n`;
