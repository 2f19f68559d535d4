// Owns the address of a page that a server wants a person to visit. It is read and shown; nothing here ever opens it.

import { limits } from '../../model/limits.ts';
import { invalidParams } from '../server-request-error.ts';

export interface PageUrl {
  /** In ASCII to the last character. */
  readonly url: string;
  /** Where it leads, in the spelling that cannot look like another one's (punycode), with its port. */
  readonly host: string;
}

/** Throws what the server is told: an address that runs, reads a file or carries a password is shown to nobody. */
export function readPageUrl(given: unknown): PageUrl {
  const { urlChars } = limits.pages;
  if (typeof given !== 'string' || given.length > urlChars || !URL.canParse(given))
    throw invalidParams(`url must be an address of at most ${urlChars} characters`);
  const { href: url, host, hostname, protocol, username, password } = new URL(given);
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname)))
    throw invalidParams('url must begin with https:, or with http: where it leads to this machine');
  if (username !== '' || password !== '') throw invalidParams('url must not hold a name or a password');
  return { url, host };
}

const isLoopback = (hostname: string) =>
  hostname === 'localhost' ||
  hostname.endsWith('.localhost') ||
  hostname === '[::1]' ||
  /^127(\.\d+){3}$/.test(hostname);
