// Owns the request to the login page and the judgement of its answer: scopes, resource, PKCE, state and issuer. Pure.

import type { LoginFault } from '../model/login-faults.ts';
import type { ServerName } from '../model/names.ts';
import type { OAuthSettings } from '../model/server.ts';
import { loginFailed } from './auth-http.ts';
import type { Discovered } from './discovery.ts';
import type { ServerMetadata } from './metadata.ts';
import { quirkOf } from './quirks.ts';
import { quote } from './token-request.ts';

export interface PageRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly state: string;
  readonly scopes: readonly string[];
  readonly resource: string;
}

export function pageUrl(endpoint: string, request: PageRequest): string {
  const url = new URL(endpoint);
  const scope = request.scopes.join(' ');
  const fields = {
    response_type: 'code',
    client_id: request.clientId,
    redirect_uri: request.redirectUri,
    code_challenge: request.challenge,
    code_challenge_method: 'S256',
    state: request.state,
    ...(scope !== '' && { scope }),
    ...(request.resource !== '' && { resource: request.resource }),
    // OpenID Connect gives offline access only to a person who was asked for it.
    ...(request.scopes.includes(OFFLINE) && { prompt: 'consent' }),
  };
  for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value);
  return url.href;
}

const OFFLINE = 'offline_access';

export interface WantedScopes {
  /** In place of all others: those of the caller, such as a step-up. */
  readonly asked?: readonly string[] | undefined;
  readonly configured?: readonly string[] | undefined;
}

/** The caller's, else those of the file, else those of the challenge, else those that the resource lists, else none at all. */
export function scopesFor(wanted: WantedScopes, { challenge, resource, server }: Discovered): readonly string[] {
  const chosen = wanted.asked ?? wanted.configured ?? challenge?.scopes ?? resource?.scopes ?? [];
  const isOffered = chosen.length > 0 && server.scopes?.includes(OFFLINE);
  return [...new Set(isOffered ? [...chosen, OFFLINE] : chosen)];
}

/** After a 403: the old scopes and those that are missing. `undefined` where nothing is new, so that no server gets a loop. */
export function stepUpScopes(old: readonly string[], challenged: readonly string[]): readonly string[] | undefined {
  const union = [...new Set([...old, ...challenged])];
  return union.length > new Set(old).size ? union : undefined;
}

/** Exactly as the metadata spells it: a URL that is parsed and written again may differ by a slash. */
export function resourceFor(setting: OAuthSettings['resource'], { resource, server }: Discovered): string {
  if (setting === 'off' || (setting === undefined && quirkOf(server.issuer).sendsNoResource)) return '';
  return setting === undefined || setting === 'auto' ? (resource?.resource ?? '') : setting;
}

/** PKCE is not optional: without it, a code that leaks is a login that leaks. */
export function requirePkce(name: ServerName, server: ServerMetadata, setting: OAuthSettings['pkce']): void {
  const { issuer, pkceMethods: methods } = server;
  if (methods?.includes('S256')) return;
  if (methods === undefined && (setting === 'assume' || quirkOf(issuer).assumesPkce)) return;
  throw loginFailed(name, { kind: 'pkce-missing', issuer, methods: methods?.slice(0, 5) });
}

/** An answer of the login page is compared with it. */
export interface ExpectedAnswer {
  readonly server: ServerName;
  readonly state: string;
  readonly issuer: string;
  readonly namesItself: boolean;
}

/** The code. State first, then the issuer, and only then what the answer says: until then it may be anybody's. */
export function codeIn(answer: URLSearchParams, { server, state, issuer, namesItself }: ExpectedAnswer): string {
  const failed = (fault: LoginFault) => loginFailed(server, fault);
  if (answer.get('state') !== state) throw failed({ kind: 'state-differs' });
  const iss = answer.get('iss');
  if (iss === null && namesItself) throw failed({ kind: 'issuer-missing', issuer });
  if (iss !== null && iss !== issuer) throw failed({ kind: 'issuer-differs', issuer });
  const [error, description] = [answer.get('error'), answer.get('error_description')];
  if (error !== null)
    throw failed({
      kind: 'refused',
      error: quote(error),
      ...(description !== null && { description: quote(description) }),
    });
  const code = answer.get('code');
  if (code === null || code === '') throw failed({ kind: 'code-missing' });
  return code;
}

/** A person pastes the whole address at which the browser ended, or the code alone. */
export function codeInPasted(text: string, expected: ExpectedAnswer): string {
  const pasted = text.trim();
  const { server, issuer, namesItself } = expected;
  if (/^https?:\/\//i.test(pasted) && URL.canParse(pasted)) {
    const answer = new URL(pasted).searchParams;
    if (!answer.has('state')) throw loginFailed(server, { kind: 'address-cut' });
    return codeIn(answer, expected);
  }
  if (namesItself) throw loginFailed(server, { kind: 'address-needed', issuer });
  if (pasted === '' || /\s/.test(pasted)) throw loginFailed(server, { kind: 'code-missing' });
  return pasted;
}
