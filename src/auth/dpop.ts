// Owns proofs of possession (RFC 9449): a token that is bound to a key is of no use to anybody who only reads it. The key is
// stored with the login; each request gets a proof of its own.

import { createPrivateKey, generateKeyPairSync, type JsonWebKey, randomUUID } from 'node:crypto';
import { signJwt } from './jwt.ts';
import { s256 } from './pkce.ts';

export interface ProvenRequest {
  readonly method: string;
  readonly url: string;
  /** In seconds, by our own clock. */
  readonly now: number;
  /** As the server gave it last. */
  readonly nonce?: string | undefined;
  /** For a request that carries a token. */
  readonly accessToken?: string | undefined;
}

/**
 * With its private part, for the store. By way of PEM: Node exports a key under a lock that the job which generated it takes as well
 * when it is collected, so an export of the generated key itself stops the process for ever if memory is collected just then.
 */
export function createDpopKey(): JsonWebKey {
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return createPrivateKey(privateKey).export({ format: 'jwk' });
}

export function dpopProof(key: JsonWebKey, { method, url, now, nonce, accessToken }: ProvenRequest): string {
  const { kty, crv, x, y } = key;
  const { origin, pathname } = new URL(url);
  const header = { typ: 'dpop+jwt', jwk: { kty, crv, x, y } };
  const claims = {
    jti: randomUUID(),
    htm: method,
    htu: `${origin}${pathname}`,
    iat: Math.floor(now),
    ...(accessToken !== undefined && { ath: s256(accessToken) }),
    ...(nonce !== undefined && { nonce }),
  };
  return signJwt(createPrivateKey({ key, format: 'jwk' }), header, claims);
}

/** The nonce of a proof of ours; `undefined` where it has none. */
export function nonceOf(proof: string): string | undefined {
  const [, claims = ''] = proof.split('.');
  return JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')).nonce;
}
