// Owns the check of a URL that a server wants a person to visit. Plexus shows it and never opens it.

import { limits } from '../../model/limits.ts';
import { invalidParams } from '../server-request-error.ts';

export interface PageUrl {
  /** Normalized: only ASCII characters. */
  readonly url: string;
  /** Host and port, in punycode, so that it cannot look like another host. */
  readonly host: string;
}

/** Throws the error for the server: a URL that runs code, reads a file or holds a password is not shown. */
export function readPageUrl(value: unknown): PageUrl {
  const { urlChars } = limits.pages;
  if (typeof value !== 'string' || value.length > urlChars || !URL.canParse(value))
    throw invalidParams(`url must be an address of at most ${urlChars} characters`);
  const { href: url, host, hostname, protocol, username, password } = new URL(value);
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
