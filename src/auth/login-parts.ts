// Owns putting a login together from what was found out and what was granted. Pure.

import type { JsonWebKey } from 'node:crypto';
import { serverUrlOf } from '../store/login-file.ts';
import type { Discovered } from './discovery.ts';
import type { ClientRegistration, Login, Tokens } from './login-model.ts';
import type { LoginRequest } from './login-request.ts';

/** The server asks for tokens that are bound to a key, and its authorization server issues them for the kind of key that we have. */
export function wantsDpop({ challenge, resource, server }: Discovered): boolean {
  const isAsked = challenge?.scheme === 'DPoP' || resource?.requiresDpop === true;
  return isAsked && (server.dpopAlgorithms?.includes('ES256') ?? true);
}

interface Granted {
  readonly client: ClientRegistration;
  readonly tokens: Tokens;
  readonly resource: string;
  readonly dpopKey: JsonWebKey | undefined;
}

export function loginOf(
  { url, account, stepUps }: Pick<LoginRequest, 'url' | 'account' | 'stepUps'>,
  { server }: Pick<Discovered, 'server'>,
  { client, tokens, resource, dpopKey }: Granted,
): Login {
  return {
    key: { issuer: server.issuer, serverUrl: serverUrlOf(url) ?? url, resource, clientId: client.clientId, account },
    tokens,
    client,
    tokenEndpoint: server.tokenEndpoint,
    revocationEndpoint: server.revocationEndpoint,
    madeAt: tokens.receivedAt,
    ...(stepUps !== undefined && { stepUps }),
    ...(tokens.tokenType === 'DPoP' && { dpopKey }),
  };
}
