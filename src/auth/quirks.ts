// Owns what known providers do differently from the specification. The table is data: `data/login-quirks.json`.

import table from '../../data/login-quirks.json' with { type: 'json' };

export interface Quirk {
  /** A request with `resource` fails, often on a page that only the person sees. */
  readonly sendsNoResource?: boolean;
  /** The provider does PKCE by S256, although its metadata does not say so. */
  readonly assumesPkce?: boolean;
  /** The only address to which the provider sends answers. */
  readonly redirectUri?: string;
}

interface QuirkRow extends Quirk {
  readonly provider: string;
  /** Issuers, with `*` for a part of the host or the rest of the path. */
  readonly issuers: readonly string[];
  readonly because: string;
}

const rows: readonly QuirkRow[] = table;

export function quirkOf(issuer: string): Quirk {
  return rows.find(({ issuers }) => issuers.some((pattern) => matches(pattern, issuer))) ?? {};
}

/** A star in the host stands for one or more whole labels or a part of one, never for a slash: no other host can look like it. */
function matches(pattern: string, issuer: string): boolean {
  if (!URL.canParse(issuer)) return false;
  const { protocol, host, pathname } = new URL(issuer);
  const [, scheme = '', hosts = '', path] = /^(https?:)\/\/([^/]+)(\/.*)?$/.exec(pattern) ?? [];
  if (protocol !== scheme || !wildcard(hosts, '[a-z0-9.-]+').test(host)) return false;
  return path === undefined ? pathname === '/' : wildcard(path, '.*').test(pathname);
}

function wildcard(pattern: string, star: string): RegExp {
  return new RegExp(`^${pattern.split('*').map(escaped).join(star)}$`);
}

const escaped = (text: string) => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
