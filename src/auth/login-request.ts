// Owns the words between a login and its surroundings: what it is asked for, what it needs, and what a person is shown and asked.

import type { Clock } from '../kernel/clock.ts';
import type { OAuthSettings } from '../model/server.ts';
import type { AuthHttp } from './auth-http.ts';
import type { Challenge } from './challenge.ts';
import type { Login } from './login-model.ts';
import type { Registrations } from './registration.ts';

export interface LoginRequest {
  /** The address of the MCP server. */
  readonly url: string;
  /** With every placeholder filled in. */
  readonly settings: OAuthSettings;
  /** Tells several logins of one server apart; `''` for the one without a name. */
  readonly account: string;
  /** The challenge of the 401 or 403 that made the login necessary; without it, the server is asked. */
  readonly challenge?: Challenge | undefined;
  /** In place of the scopes that would be chosen. */
  readonly scopes?: readonly string[] | undefined;
  /** Stands in the login: how often more rights were demanded. */
  readonly stepUps?: number | undefined;
  /** The entry stands in a file of the person's own, which may say that the metadata lies elsewhere than its issuer. */
  readonly isOwn: boolean;
  /** Logins of before: an authorization server that refused `resource` is not sent it again. */
  readonly known?: readonly Login[] | undefined;
}

export interface LoginDeps {
  readonly http: AuthHttp;
  readonly clock: Clock;
  readonly registrations: Registrations;
  readonly signal?: AbortSignal | undefined;
}

/** Shown to the person before a page opens: a hostile server can name an honest issuer. */
export interface LoginPreview {
  /** The address of the MCP server. */
  readonly server: string;
  readonly issuer: string;
  readonly scopes: readonly string[];
  /** The address of the login page. */
  readonly page: string;
  /** Why the answer has to be pasted; absent where a listener takes it. */
  readonly paste?: 'ports-taken' | 'not-this-machine' | undefined;
}

/** How a login reaches its person. */
export interface LoginPerson {
  /** Comes before the page opens; rejecting ends the login. */
  readonly show?: ((preview: LoginPreview) => void | Promise<void>) | undefined;
  /** Opens the page. `false`: it cannot be opened here, and the person has to open it elsewhere. */
  readonly open?: ((page: string) => boolean | Promise<boolean>) | undefined;
  /** Asks for the address at which the browser ended, or for the code. The signal aborts when the answer came by itself. */
  readonly paste?: ((signal: AbortSignal) => Promise<string | undefined>) | undefined;
  readonly askClientId?: ((issuer: string) => Promise<string | undefined>) | undefined;
}
