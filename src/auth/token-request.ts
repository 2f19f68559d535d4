// Owns requests to a token endpoint: one form, one answer, read as tokens or as a failure. A refusal means that another try with
// the same grant is of no use; everything else that goes wrong is an outage, and nothing stored may be dropped for it.

import type { JsonWebKey } from 'node:crypto';
import { cleanText } from '../kernel/clean-text.ts';
import type { Clock } from '../kernel/clock.ts';
import { isObject, parseJson } from '../kernel/json.ts';
import { oneLine } from '../kernel/one-line.ts';
import { isFailure, type RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { headerIn } from '../transport/exchange.ts';
import type { TextResponse } from '../transport/fetch-text.ts';
import { type AuthHttp, loginFailed, unavailable } from './auth-http.ts';
import { scopesIn } from './challenge.ts';
import { authenticate } from './client-authentication.ts';
import { dpopProof } from './dpop.ts';
import type { ClientRegistration, Login, Tokens } from './login-model.ts';

export interface TokenDeps {
  readonly http: AuthHttp;
  readonly clock: Pick<Clock, 'now'>;
  /** In PEM, for a client that authenticates with it; it is not stored with the login. */
  readonly privateKey?: string | undefined;
}

export interface TokenRequest {
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly client: ClientRegistration;
  /** The grant and its fields; empty ones are left out. */
  readonly form: Readonly<Record<string, string | undefined>>;
  /** Scopes that count as granted where the answer names none. */
  readonly scopes: readonly string[];
  readonly dpopKey?: JsonWebKey | undefined;
}

/** Rejects with LOGIN_FAILED (`refused`) where the server refuses, and with LOGIN_UNAVAILABLE for an outage. */
export async function requestTokens(deps: TokenDeps, request: TokenRequest): Promise<Tokens> {
  return tokensIn(deps, request, await sendForm(deps, request, request.tokenEndpoint));
}

export interface RefreshOptions extends TokenDeps {
  /** The person demands the resource: a server that does not know it is not asked without. */
  readonly isResourceDemanded?: boolean;
}

/**
 * Exactly one request, or another where the server first names the nonce that it wants, or does not know the resource. The login that
 * comes back keeps what the answer leaves out.
 */
export async function refreshLogin(login: Login, options: RefreshOptions): Promise<Login> {
  const { key, client, tokenEndpoint, dpopKey, tokens: old } = login;
  const resource = login.refusesResource ? '' : key.resource;
  const form = { grant_type: 'refresh_token', refresh_token: old.refreshToken, resource };
  const { scopes } = old;
  try {
    const tokens = await requestTokens(options, { issuer: key.issuer, tokenEndpoint, client, form, scopes, dpopKey });
    return { ...login, tokens: { ...tokens, refreshToken: tokens.refreshToken ?? old.refreshToken } };
  } catch (error) {
    if (resource === '' || options.isResourceDemanded || !refusesResource(error)) throw error;
    return refreshLogin({ ...login, refusesResource: true }, options);
  }
}

/** Whether a server refused the request itself: asking again with the same grant does not help. */
export function isRefusedGrant(error: unknown): error is RuntimeError<'LOGIN_FAILED'> {
  return isFailure(error, 'LOGIN_FAILED') && error.data.fault.kind === 'refused';
}

/** The server does not know the resource that the request names. */
export function refusesResource(error: unknown): boolean {
  return isRefusedGrant(error) && error.data.fault.kind === 'refused' && error.data.fault.error === 'invalid_target';
}

/** Any endpoint that takes a form from an authenticated client. A nonce that is asked for is given, once. */
export async function sendForm(
  deps: TokenDeps,
  request: Omit<TokenRequest, 'scopes'>,
  address: string,
): Promise<TextResponse> {
  const first = await sendOnce(deps, request, address);
  const nonce = headerIn(first.headers, 'dpop-nonce');
  const wantsNonce = request.dpopKey !== undefined && nonce !== undefined && errorIn(first)?.error === 'use_dpop_nonce';
  return wantsNonce ? sendOnce(deps, request, address, nonce) : first;
}

function sendOnce(
  { http, clock, privateKey }: TokenDeps,
  { issuer, client, form, dpopKey }: Omit<TokenRequest, 'scopes'>,
  address: string,
  nonce?: string,
): Promise<TextResponse> {
  const now = clock.now();
  const { headers, form: own } = authenticate(client, { server: http.server, issuer, privateKey, now });
  const proof = dpopKey && dpopProof(dpopKey, { method: 'POST', url: address, now: now / 1_000, nonce });
  return http.request(address, {
    method: 'POST',
    headers: [
      ...['content-type', 'application/x-www-form-urlencoded', ...headers],
      ...(proof === undefined ? [] : ['dpop', proof]),
    ],
    body: new URLSearchParams(Object.entries({ ...form, ...own }).filter(isGiven)).toString(),
  });
}

const isGiven = (field: [string, string | undefined]): field is [string, string] => Boolean(field[1]);

function tokensIn({ http, clock }: TokenDeps, request: TokenRequest, response: TextResponse): Tokens {
  const { tokenEndpoint, scopes, dpopKey } = request;
  requireSuccess(http, tokenEndpoint, response);
  const unusable = (problem: string) =>
    loginFailed(http.server, { kind: 'token-unusable', address: tokenEndpoint, problem });
  const parsed = parseJson(response.text);
  const fields = parsed.ok && isObject(parsed.value) ? parsed.value : undefined;
  const accessToken = fields?.['access_token'];
  if (fields === undefined || typeof accessToken !== 'string' || !HEADER_SAFE.test(accessToken))
    throw unusable('it has no access token');
  const type = String(fields['token_type'] ?? 'Bearer').toLowerCase();
  if (type !== 'bearer' && type !== 'dpop') throw unusable(`its type is ${quote(type)}`);
  if (type === 'dpop' && dpopKey === undefined) throw unusable('it is bound to a key that was not sent');
  const { refresh_token: refreshToken, scope } = fields;
  const receivedAt = clock.now();
  const lifetime = lifetimeIn(fields['expires_in']);
  return {
    accessToken,
    tokenType: type === 'dpop' ? 'DPoP' : 'Bearer',
    refreshToken: typeof refreshToken === 'string' && refreshToken !== '' ? refreshToken : undefined,
    // More than any page can ask for was not granted by one.
    scopes: typeof scope === 'string' && scope.length <= limits.login.pageChars ? scopesIn(scope) : scopes,
    receivedAt,
    expiresAt: lifetime === undefined ? undefined : receivedAt + lifetime * 1_000,
  };
}

/** In seconds. Nothing, less than nothing and more than a century are no lifetime: the server's refusal will tell the end. */
function lifetimeIn(value: unknown): number | undefined {
  const seconds = typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
  return seconds > 0 && seconds <= limits.login.lifetimeSeconds ? seconds : undefined;
}

/** A token goes into a header. */
const HEADER_SAFE = /^[\x21-\x7e]+$/;

/**
 * An OAuth error, and 401 and 403 without one, refuse the request. Any other failure says nothing about the grant, and neither does a
 * web page, which comes from a proxy or a firewall on the way.
 */
export function requireSuccess({ server }: AuthHttp, address: string, response: TextResponse): void {
  const { status } = response;
  const said = errorIn(response);
  if (status >= 200 && status < 300 && said === undefined) return;
  const isPage = /^\s*</.test(response.text);
  const isRefusal = said !== undefined || (!isPage && (status === 401 || status === 403));
  if (!isRefusal || BUSY.has(status) || TEMPORARY.has(said?.error ?? ''))
    throw unavailable(server, new URL(address).origin, `it answered HTTP ${status}`);
  throw loginFailed(server, { kind: 'refused', ...(said ?? { error: `HTTP ${status}` }) });
}

/** Too late, too early, too often: whatever the body says. */
const BUSY: ReadonlySet<number> = new Set([408, 425, 429]);
const TEMPORARY: ReadonlySet<string> = new Set(['temporarily_unavailable', 'server_error', 'slow_down']);

/** Some providers refuse with HTTP 200, and an error in place of the token. */
function errorIn({
  status,
  text,
}: TextResponse): { readonly error: string; readonly description?: string } | undefined {
  const parsed = status < 500 ? parseJson(text) : undefined;
  const fields = parsed?.ok && isObject(parsed.value) ? parsed.value : {};
  const { error, error_description: description, access_token: token } = fields;
  if (typeof error !== 'string' || (status < 400 && token !== undefined)) return undefined;
  return { error: quote(error), ...(typeof description === 'string' && { description: quote(description) }) };
}

/** Words of a server, on one line and not too many of them. */
export const quote = (text: string): string => oneLine(cleanText(text).text, limits.login.quoteChars);
