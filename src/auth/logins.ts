// Owns the stored logins in use: finds the one that fits a server and signs the server's requests with it, over one refresher for
// all. Everything of `auth/` that a running server needs is loaded with this file, and only for a server that has a login.

import type { Clock } from '../kernel/clock.ts';
import type { Emit } from '../kernel/emitter.ts';
import { isFailure, RuntimeError } from '../model/errors.ts';
import { type LoginFaultKind, loginFaultSentences } from '../model/login-faults.ts';
import type { ServerName } from '../model/names.ts';
import type { Secrets } from '../store/secrets.ts';
import type { Network } from '../transport/dial.ts';
import type { RequestLogin } from '../transport/signed-client.ts';
import { createAuthHttp, unavailable } from './auth-http.ts';
import type { AuthEvent } from './events.ts';
import type { HoldingStore } from './holding-store.ts';
import { chooseLogin, type LoginWish } from './login-choice.ts';
import type { Login } from './login-model.ts';
import { LoginInUse } from './login-use.ts';
import { type RefreshAnswer, Refresher } from './refresh.ts';
import { isRefusedGrant, refreshLogin } from './token-request.ts';
import type { StoredLogin } from './token-store.ts';

export interface LoginsDeps {
  readonly store: HoldingStore;
  /** Keeps how Plexus is known to authorization servers. */
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly emit: Emit<AuthEvent>;
  readonly onError: (error: unknown) => void;
}

/** The server whose requests are to be signed. */
export interface SignedServer {
  readonly server: ServerName;
  readonly url: string;
  readonly network: Network;
  readonly wish: LoginWish;
  /** Called with a login before its tokens are used, so that nothing that is logged shows them. */
  readonly onLogin: (login: Login) => void;
}

export interface Signer {
  readonly login: RequestLogin;
  /** The same for every server that uses the same login. */
  readonly id: string;
}

export class Logins {
  readonly #deps: LoginsDeps;
  readonly #refresher: Refresher;

  constructor(deps: LoginsDeps) {
    this.#deps = deps;
    this.#refresher = new Refresher(deps);
  }

  /** `undefined`: no login fits. Throws `LOGINS_UNUSABLE` where the store cannot be read. */
  async find(wish: LoginWish): Promise<StoredLogin | undefined> {
    return chooseLogin(await this.#deps.store.list(), wish);
  }

  async signerFor(target: SignedServer): Promise<Signer | undefined> {
    const isMachine = (target.wish.settings.grant ?? 'authorization_code') !== 'authorization_code';
    const stored = (await this.find(target.wish)) ?? (isMachine ? await this.#logInAsMachine(target) : undefined);
    if (stored === undefined) return undefined;
    const { clock, emit, onError } = this.#deps;
    const { server, onLogin } = target;
    const way = { needsRefreshToken: !isMachine, request: (login: Login) => this.#refresh(login, target) };
    const refresher = this.#refresher;
    const login = new LoginInUse(stored, { server, refresher, way, onLogin, clock, emit, onError });
    return { login, id: JSON.stringify(stored.login.key) };
  }

  /** A machine needs nobody: it logs in when its server is first opened. */
  async #logInAsMachine(target: SignedServer): Promise<StoredLogin | undefined> {
    const { performLogin } = await import('./perform-login.ts');
    await performLogin(target, this.#deps, {});
    return this.find(target.wish);
  }

  async #refresh(login: Login, target: SignedServer): Promise<RefreshAnswer> {
    const { server, url, network, wish } = target;
    const { clock, secrets } = this.#deps;
    const { privateKey, allowPrivateNetwork: allowsPrivate, resource = 'auto' } = wish.settings;
    const http = await createAuthHttp({ server, url, network, clock, allowsPrivate });
    try {
      if (login.tokens.refreshToken !== undefined) {
        const isResourceDemanded = resource !== 'auto';
        return { kind: 'tokens', login: await refreshLogin(login, { http, clock, privateKey, isResourceDemanded }) };
      }
      const { requestAgain } = await import('./perform-login.ts');
      return { kind: 'tokens', login: await requestAgain(login, target, { http, clock, secrets }) };
    } catch (error) {
      if (isRefusedGrant(error)) return { kind: 'refused' };
      if (error instanceof RuntimeError) return { kind: 'outage', error: asOutage(error, login) };
      throw error;
    } finally {
      await http.close();
    }
  }
}

/** Only the person can mend these. */
const MENDED_BY_SETTING: ReadonlySet<LoginFaultKind> = new Set([
  'setting-missing',
  'setting-unusable',
  'private-address',
]);

/**
 * An answer that is not the authorization server's own, such as a proxy's page, says nothing about the login and passes: the server
 * is tried again by itself.
 */
function asOutage(error: RuntimeError, { tokenEndpoint }: Login): RuntimeError {
  if (!isFailure(error, 'LOGIN_FAILED') || MENDED_BY_SETTING.has(error.data.fault.kind)) return error;
  const { server, fault } = error.data;
  return unavailable(server, new URL(tokenEndpoint).origin, loginFaultSentences(fault, server).happened, error);
}
