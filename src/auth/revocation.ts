// Owns telling the authorization server that a login is over (RFC 7009).

import type { Login } from './login-model.ts';
import { requireSuccess, sendForm, type TokenDeps } from './token-request.ts';

/** Whether the server offers it. The refresh token goes first: most servers end the whole login with it. Rejects where it fails. */
export async function revokeLogin(login: Login, deps: TokenDeps): Promise<boolean> {
  const { key, client, tokenEndpoint, revocationEndpoint, tokens } = login;
  if (revocationEndpoint === undefined) return false;
  const all = [
    { token: tokens.refreshToken, token_type_hint: 'refresh_token' },
    { token: tokens.accessToken, token_type_hint: 'access_token' },
  ];
  for (const form of all.filter(({ token }) => token !== undefined)) {
    const response = await sendForm(deps, { issuer: key.issuer, tokenEndpoint, client, form }, revocationEndpoint);
    requireSuccess(deps.http, revocationEndpoint, response);
  }
  return true;
}
