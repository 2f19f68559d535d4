// Owns the words of a login: what is stored of it, under which key, and what one needs to use and to refresh it. Pure data.

import type { JsonWebKey } from 'node:crypto';

/** Which login it is. Never a server's name in a repository: the same name may stand for anything elsewhere. */
export interface LoginKey {
  /** The authorization server, exactly as its metadata spells it. */
  readonly issuer: string;
  /** The MCP server: origin and path of its address. */
  readonly serverUrl: string;
  /** The resource the token was requested for; `''` where none was sent. */
  readonly resource: string;
  readonly clientId: string;
  /** Tells several logins for one server apart; `''` is the one without a name. */
  readonly account: string;
}

export interface Tokens {
  readonly accessToken: string;
  readonly tokenType: 'Bearer' | 'DPoP';
  readonly refreshToken?: string | undefined;
  /** The scopes that were granted, as far as the server said. */
  readonly scopes: readonly string[];
  /** By our own clock, in ms. */
  readonly receivedAt: number;
  /** `receivedAt` plus the lifetime that the server named; the server's clock does not count. */
  readonly expiresAt?: number | undefined;
}

export type ClientAuthentication = 'none' | 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt';

/** How Plexus is known to an authorization server. A registration is kept per issuer and reused. */
export interface ClientRegistration {
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  readonly authentication: ClientAuthentication;
  /** How the client id came about. */
  readonly origin: 'configured' | 'metadata-document' | 'registered' | 'asked' | 'quirk';
  readonly redirectUris: readonly string[];
}

/** One login as it is stored: everything that a refresh and a logout need, without a request to find it out again. */
export interface Login {
  readonly key: LoginKey;
  readonly tokens: Tokens;
  readonly client: ClientRegistration;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint?: string | undefined;
  /** The authorization server does not know the resource: new logins do not name it either. */
  readonly refusesResource?: true | undefined;
  /** By our own clock, in ms; a refresh keeps it. Two logins with the same key are told apart by it. */
  readonly madeAt?: number | undefined;
  /** How often a server has demanded more rights since the last login that was made without a demand. */
  readonly stepUps?: number | undefined;
  /** The private key of DPoP, shared by all processes that use the token. */
  readonly dpopKey?: JsonWebKey | undefined;
}
