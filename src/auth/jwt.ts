// Owns signing a JSON Web Token (RFC 7515) with a private key of any common kind. The algorithm follows from the key.

import { constants, type KeyObject, sign } from 'node:crypto';

interface Algorithm {
  readonly alg: string;
  readonly digest: string | undefined;
}

const CURVES: Readonly<Record<string, Algorithm>> = {
  prime256v1: { alg: 'ES256', digest: 'sha256' },
  secp384r1: { alg: 'ES384', digest: 'sha384' },
  secp521r1: { alg: 'ES512', digest: 'sha512' },
};

/** `undefined` for a kind of key that no server accepts. */
export function algorithmOf(key: KeyObject): Algorithm | undefined {
  if (key.asymmetricKeyType === 'ec') return CURVES[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (key.asymmetricKeyType === 'rsa') return { alg: 'RS256', digest: 'sha256' };
  return key.asymmetricKeyType === 'ed25519' ? { alg: 'EdDSA', digest: undefined } : undefined;
}

export function signJwt(key: KeyObject, header: object, claims: object): string {
  const algorithm = algorithmOf(key);
  if (algorithm === undefined) throw new TypeError(`no signature is known for a key of type ${key.asymmetricKeyType}`);
  const { alg, digest } = algorithm;
  const text = [{ alg, ...header }, claims].map((part) => encode(JSON.stringify(part))).join('.');
  const signature = sign(digest, Buffer.from(text), {
    key,
    dsaEncoding: 'ieee-p1363',
    padding: constants.RSA_PKCS1_PADDING,
  });
  return `${text}.${signature.toString('base64url')}`;
}

const encode = (text: string) => Buffer.from(text).toString('base64url');
