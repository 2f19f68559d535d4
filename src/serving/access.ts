// Owns who may send HTTP requests: the token in a file that only its owner can read, compared in constant time, and the check of
// Host and Origin that keeps web pages out. A token is read from the Authorization header and from nowhere else.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmod, link, open, readFile, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from '../kernel/make-folder.ts';
import { isSystemError } from '../kernel/replace-file.ts';
import type { RequestHead } from './http-exchange.ts';
import type { Principal } from './service.ts';

/** Says whose request this is; `undefined` refuses it with 401. */
export type Authenticate = (request: RequestHead) => Principal | undefined;

const TOKEN_BYTES = 32;
/** Shorter ones could be guessed; a file with one was not written by us. */
const SHORTEST_TOKEN = 32;

/** The file of a token holds something else. */
export class TokenFileError extends Error {
  override readonly name = 'TokenFileError';
}

/** Reads the token, or makes it at the first start. Several processes that start at once get the same one. */
export async function readOrCreateToken(file: string): Promise<string> {
  const known = await readToken(file);
  if (known !== undefined) return known;
  await makeFolder(dirname(file), { mode: 0o700 });
  const draft = `${file}.${randomBytes(8).toString('hex')}.tmp`;
  try {
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(`${randomBytes(TOKEN_BYTES).toString('base64url')}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // Fails if another process was first, and never shows half a token.
    await link(draft, file);
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  const made = await readToken(file);
  if (made === undefined) throw new Error(`The token file ${file} was removed while it was made`);
  return made;
}

async function readToken(file: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(file);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) await chmod(file, 0o600);
    const token = (await readFile(file, 'utf8')).trim();
    if (token.length >= SHORTEST_TOKEN && /^[\w.~+/=-]+$/.test(token)) return token;
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return undefined;
    throw error;
  }
  throw new TokenFileError(
    `the file ${file} holds no token, which has at least ${SHORTEST_TOKEN} characters; remove it to get a new one`,
  );
}

/** The token of a request, from its Authorization header. */
export function bearerToken({ headers }: Pick<RequestHead, 'headers'>): string | undefined {
  return /^bearer +([^\s]+) *$/i.exec(headers.authorization ?? '')?.[1];
}

/**
 * Compares hashes, so that the time tells nothing about the token, not even its length. Each token is a principal of its own
 * unless one is given; its id is made of the hash, so that it stays the same after a restart and tells nothing either.
 */
export function byToken(
  token: string,
  principal: Principal = { id: `token-${digest(token).toString('hex').slice(0, 32)}` },
): Authenticate {
  const expected = digest(token);
  return (request) => {
    const sent = bearerToken(request);
    return sent !== undefined && timingSafeEqual(digest(sent), expected) ? principal : undefined;
  };
}

const digest = (token: string) => createHash('sha256').update(token).digest();

/** Everyone on this machine may send requests: only for a server on loopback, and only if a person said so. */
export const withoutToken: Authenticate = () => ANYONE;

const ANYONE: Principal = Object.freeze({ id: 'anyone' });

export interface AllowedNames {
  /** The names and addresses by which this server is reached, without a port. */
  readonly hosts: readonly string[];
  /** Web pages that may send requests, such as `https://app.example`. */
  readonly origins: readonly string[];
}

export const loopbackHosts: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Why a request is refused: its Host is none of ours, or it comes from a web page that is not listed. */
export function faultOfNames(
  { headers }: Pick<RequestHead, 'headers'>,
  { hosts, origins }: AllowedNames,
): string | undefined {
  const { host = '', origin } = headers;
  if (!hosts.includes(hostName(host))) return 'The Host of the request is not allowed';
  if (origin === undefined || origins.includes(origin)) return undefined;
  // A page that this server itself has sent; its scheme may differ behind a proxy.
  return origin === `http://${host}` || origin === `https://${host}`
    ? undefined
    : 'The Origin of the request is not allowed';
}

const hostName = (host: string) => host.replace(/:\d+$/, '').toLowerCase();

/** A host to listen on, as a Host header names it. */
export const inHostHeader = (host: string): string =>
  (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host).toLowerCase();

export const isLoopback = (host: string): boolean => loopbackHosts.includes(host) || host === '::1';
