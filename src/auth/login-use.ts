// Owns signing the requests of one server with one login: the token of the moment with each, refreshed ahead of its end and after
// a refusal. `refresh.ts` does the refreshing, for all servers that use the login.

import type { Clock } from '../kernel/clock.ts';
import type { Emit } from '../kernel/emitter.ts';
import { type MissingLogin, RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { HeaderBlock } from '../transport/http-headers.ts';
import type { LoginRefusal, RequestLogin } from '../transport/signed-client.ts';
import { challengeIn } from './challenge.ts';
import type { AuthEvent } from './events.ts';
import type { Login, LoginKey, Tokens } from './login-model.ts';
import { ageOf, type Refresher, type RefreshRequest, type Renewal } from './refresh.ts';
import type { StoredLogin } from './token-store.ts';

export interface SignedTarget {
  readonly method: string;
  readonly url: string;
  /** The one that the server asked for last. */
  readonly nonce: string | undefined;
}

export interface LoginUseDeps {
  readonly server: ServerName;
  readonly refresher: Pick<Refresher, 'renew'>;
  /** Sends one request for new tokens, over the network of the server's entry. */
  readonly request: RefreshRequest;
  /** The proof that the sender of a request has the key of the token, for a login with one. */
  readonly proofFor: (login: Login, target: SignedTarget) => Promise<string>;
  /** Called with tokens before they are used, so that nothing that is logged shows them. */
  readonly onTokens: (tokens: Tokens) => void;
  readonly emit: Emit<AuthEvent>;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** A request is sent again for a refreshed token, for one that another process has refreshed, and for a nonce. */
const MOST_REPEATS = 3;

export class LoginInUse implements RequestLogin {
  readonly #deps: LoginUseDeps;
  #stored: StoredLogin;
  #nonce: string | undefined;

  constructor(stored: StoredLogin, deps: LoginUseDeps) {
    this.#deps = deps;
    this.#stored = stored;
    deps.onTokens(stored.login.tokens);
  }

  headersFor(request: { readonly method: string; readonly url: string }): HeaderBlock | Promise<HeaderBlock> {
    const age = ageOf(this.#stored.login.tokens, this.#deps.clock.now());
    if (age === 'expired') return this.#signRenewed(request);
    if (age === 'soon' && this.#stored.needsLogin === undefined) this.#renewAhead();
    return this.#sign(request);
  }

  async onRefused(headers: HeaderBlock, refusal: LoginRefusal): Promise<'again' | RuntimeError | undefined> {
    const { status, nonce, repeats } = refusal;
    const challenge = challengeIn(refusal.challenge);
    if (status === 403) {
      if (challenge?.error !== 'insufficient_scope') return undefined;
      return this.#needsLogin({ why: 'scopes', ...(challenge.scopes && { scopes: challenge.scopes }) });
    }
    const isNewNonce = nonce !== undefined && nonce !== this.#nonce;
    if (nonce !== undefined) this.#nonce = nonce;
    if (repeats >= MOST_REPEATS) return this.#needsLogin({ why: 'refused' });
    if (isNewNonce || !headers.includes(authorizationOf(this.#stored.login.tokens))) return 'again';
    // A token that was fetched for this very request is refused as well: no other one will do better.
    if (repeats > 0) return this.#needsLogin({ why: 'refused' });
    const renewal = await this.#renew();
    return renewal.kind === 'renewed' ? 'again' : this.#failure(renewal);
  }

  #sign(request: { readonly method: string; readonly url: string }): HeaderBlock | Promise<HeaderBlock> {
    const { login } = this.#stored;
    const authorization = ['authorization', authorizationOf(login.tokens)];
    if (login.dpopKey === undefined) return authorization;
    return this.#deps
      .proofFor(login, { ...request, nonce: this.#nonce })
      .then((proof) => [...authorization, 'dpop', proof]);
  }

  /** During an outage the old token is tried all the same: the server's clock decides, not ours. */
  async #signRenewed(request: { readonly method: string; readonly url: string }): Promise<HeaderBlock> {
    const renewal = await this.#renew();
    if (renewal.kind === 'needs-login') throw this.#failure(renewal);
    return this.#sign(request);
  }

  #renewAhead(): void {
    this.#renew().catch(this.#deps.onError);
  }

  async #renew(): Promise<Renewal> {
    const { refresher, request } = this.#deps;
    const renewal = await refresher.renew(this.#stored, request);
    if (renewal.kind === 'renewed') this.#adopt(renewal);
    else if (renewal.kind === 'needs-login' && renewal.why !== 'gone' && renewal.why !== 'expired')
      this.#stored = { ...this.#stored, needsLogin: renewal.why };
    return renewal;
  }

  /** Calls that waited together get the same tokens: the first one of them takes them over. */
  #adopt({ stored, isNew }: Extract<Renewal, { readonly kind: 'renewed' }>): void {
    if (stored === this.#stored) return;
    const { server, onTokens, emit } = this.#deps;
    this.#stored = stored;
    const { key, tokens } = stored.login;
    onTokens(tokens);
    const expiry = tokens.expiresAt === undefined ? {} : { expiresAt: tokens.expiresAt };
    if (isNew) emit({ type: 'token.refreshed', server, ...accountIn(key), ...expiry });
  }

  #failure(renewal: Exclude<Renewal, { readonly kind: 'renewed' }>): RuntimeError {
    const { server } = this.#deps;
    if (renewal.kind === 'needs-login') return this.#needsLogin(renewal.why === 'gone' ? {} : { why: renewal.why });
    const reason = `its login could not be renewed: ${renewal.reason}`;
    return new RuntimeError('CONNECTION_LOST', { server, reason, isRemote: true });
  }

  #needsLogin(need: Pick<MissingLogin, 'why' | 'scopes'>): RuntimeError {
    const { account } = this.#stored.login.key;
    return new RuntimeError('AUTH_REQUIRED', {
      server: this.#deps.server,
      ...need,
      ...(account !== '' && { account }),
    });
  }
}

const accountIn = ({ account }: LoginKey) => (account === '' ? {} : { account });

const authorizationOf = ({ tokenType, accessToken }: Tokens) => `${tokenType} ${accessToken}`;
