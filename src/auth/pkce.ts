// Owns the random parts of one login: the verifier and challenge of PKCE (RFC 7636, S256 alone) and the state.

import { createHash, randomBytes } from 'node:crypto';

export interface PkcePair {
  readonly verifier: string;
  readonly challenge: string;
}

export function createPkce(): PkcePair {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: s256(verifier) };
}

export const s256 = (text: string): string => createHash('sha256').update(text).digest('base64url');

export const createState = (): string => randomBytes(32).toString('base64url');
