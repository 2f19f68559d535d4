// Owns which stored login a server uses: the one for its address and its account, and only where the person granted it to that
// definition. Pure.

import type { OAuthSettings } from '../model/server.ts';
import type { StoredLogin } from './token-store.ts';

export interface LoginWish {
  /** Origin and path of the server's address. */
  readonly serverUrl: string;
  readonly settings: OAuthSettings;
  /** The account for the folder of the host; `''` for the login without a name. */
  readonly account: string;
  /** The definition stands in a file of the person's own, which may use every login of theirs. */
  readonly isOwn: boolean;
  /** Identifies the definition among those that a login was granted to. */
  readonly grant: string;
}

/** The account that a file of others names is a suggestion: without a login for it, the one without a name is used. */
export function chooseLogin(logins: readonly StoredLogin[], wish: LoginWish): StoredLogin | undefined {
  const fitting = logins.filter((each) => fits(each, wish)).sort((a, b) => receivedAt(b) - receivedAt(a));
  const ofAccount = (account: string) => fitting.find(({ login }) => login.key.account === account);
  return ofAccount(wish.account) ?? (wish.isOwn ? undefined : ofAccount(''));
}

/** Whether the login is for the server, whichever account it is of. */
export function fits(
  { login: { key }, grantedTo }: StoredLogin,
  { serverUrl, settings, isOwn, grant }: LoginWish,
): boolean {
  const { clientId, resource = 'auto' } = settings;
  if (key.serverUrl !== serverUrl) return false;
  if (clientId !== undefined && key.clientId !== clientId) return false;
  if (resource !== 'auto' && key.resource !== (resource === 'off' ? '' : resource)) return false;
  return isOwn || grantedTo.includes(grant);
}

const receivedAt = ({ login }: StoredLogin) => login.tokens.receivedAt;
