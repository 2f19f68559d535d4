// Owns the random parts of one login: the verifier and challenge of PKCE (RFC 7636, S256 alone) and the state.

import { createHash, randomBytes } from 'node:crypto';

export const createVerifier = (): string => randomBytes(32).toString('base64url');

/** The challenge for a verifier. */
export const s256 = (text: string): string => createHash('sha256').update(text).digest('base64url');

export const createState = (): string => randomBytes(32).toString('base64url');
