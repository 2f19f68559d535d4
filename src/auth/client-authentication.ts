// Owns how a client shows an authorization server that it is that client: not at all, with a secret, or with a signed assertion.

import { createPrivateKey, type KeyObject, randomUUID } from 'node:crypto';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { HeaderBlock } from '../transport/http-headers.ts';
import { loginFailed } from './auth-http.ts';
import { algorithmOf, signJwt } from './jwt.ts';
import type { ClientAuthentication, ClientRegistration } from './login-model.ts';

export interface Authenticated {
  readonly headers: HeaderBlock;
  readonly form: Readonly<Record<string, string>>;
}

export interface AuthenticationOptions {
  readonly server: ServerName;
  /** For whom an assertion is. */
  readonly issuer: string;
  /** In PEM. */
  readonly privateKey?: string | undefined;
  /** In ms. */
  readonly now: number;
}

export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

export function authenticate(client: ClientRegistration, options: AuthenticationOptions): Authenticated {
  const { clientId, clientSecret = '' } = client;
  switch (client.authentication) {
    case 'client_secret_basic':
      return { headers: ['authorization', `Basic ${basicOf(clientId, clientSecret)}`], form: {} };
    case 'client_secret_post':
      return { headers: [], form: { client_id: clientId, client_secret: clientSecret } };
    case 'private_key_jwt':
      return {
        headers: [],
        form: {
          client_id: clientId,
          client_assertion_type: ASSERTION_TYPE,
          client_assertion: assertion(clientId, options),
        },
      };
    case 'none':
      return { headers: [], form: { client_id: clientId } };
  }
}

/** The parts are encoded as in a form (RFC 6749, 2.3.1), so that a colon in an id does no harm. */
function basicOf(id: string, secret: string): string {
  const encoded = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);
  return Buffer.from(`${encoded(id)}:${encoded(secret)}`).toString('base64');
}

function assertion(clientId: string, { server, issuer, privateKey, now }: AuthenticationOptions): string {
  const key = keyIn(server, privateKey);
  const iat = Math.floor(now / 1_000);
  const exp = iat + limits.login.assertionSeconds;
  return signJwt(key, { typ: 'JWT' }, { iss: clientId, sub: clientId, aud: issuer, jti: randomUUID(), iat, exp });
}

function keyIn(server: ServerName, pem: string | undefined): KeyObject {
  const unusable = (problem: string, cause?: unknown) =>
    loginFailed(server, { kind: 'setting-unusable', setting: 'private_key', problem }, cause);
  if (pem === undefined) throw unusable('is not set, and this client authenticates with it');
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (error) {
    throw unusable('is not a private key in PEM', error);
  }
  if (algorithmOf(key) === undefined) throw unusable('is a kind of key that no server accepts');
  return key;
}

export interface ClientMeans {
  readonly clientSecret?: string | undefined;
  readonly privateKey?: string | undefined;
  /** As the authorization server registered it. */
  readonly method?: string | undefined;
}

const KNOWN: readonly ClientAuthentication[] = ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'];

/** The method of the registration; otherwise the strongest that the client can do and the server lists. A list is optional. */
export function chooseAuthentication(
  { clientSecret, privateKey, method }: ClientMeans,
  supported: readonly string[] | undefined,
): ClientAuthentication {
  const registered = KNOWN.find((each) => each === method);
  if (registered !== undefined) return registered;
  if (privateKey !== undefined) return 'private_key_jwt';
  if (clientSecret === undefined) return 'none';
  const bySecret = (['client_secret_basic', 'client_secret_post'] as const).find((each) => supported?.includes(each));
  // Every server that knows secrets takes them this way (RFC 6749, 2.3.1).
  return bySecret ?? (supported === undefined ? 'client_secret_basic' : 'none');
}
