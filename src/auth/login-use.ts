// Owns signing the requests of one server with one login: the token of the moment with each, refreshed ahead of its end and after
// a refusal. `refresh.ts` does the refreshing, for all servers that use the login.

import type { Clock } from '../kernel/clock.ts';
import type { Emit } from '../kernel/emitter.ts';
import { type MissingLogin, RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { HeaderBlock } from '../transport/http-headers.ts';
import type { LoginRefusal, RequestLogin } from '../transport/signed-client.ts';
import { type Challenge, challengeIn } from './challenge.ts';
import { dpopProof, nonceOf } from './dpop.ts';
import type { AuthEvent } from './events.ts';
import type { Login, LoginKey, Tokens } from './login-model.ts';
import { ageOf, type Refresher, type RefreshWay, type Renewal } from './refresh.ts';
import type { StoredLogin } from './token-store.ts';

interface SignedTarget {
  readonly method: string;
  readonly url: string;
}

export interface LoginUseDeps {
  readonly server: ServerName;
  readonly refresher: Pick<Refresher, 'renew' | 'newerThan'>;
  readonly way: RefreshWay;
  /** Called with a login before its tokens are used, so that nothing that is logged shows them. */
  readonly onLogin: (login: Login) => void;
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
  /** The last access token that this process has fetched itself. */
  #fetched: string | undefined;

  constructor(stored: StoredLogin, deps: LoginUseDeps) {
    this.#deps = deps;
    this.#stored = stored;
    deps.onLogin(stored.login);
  }

  headersFor(request: SignedTarget): HeaderBlock | Promise<HeaderBlock> {
    const age = ageOf(this.#stored.login.tokens, this.#deps.clock.now());
    if (age === 'expired') return this.#signRenewed(request);
    if (age === 'soon' && this.#stored.needsLogin === undefined) this.#renewAhead();
    return this.#sign(request);
  }

  onNonce(nonce: string): void {
    this.#nonce = nonce;
  }

  async onRefused(headers: HeaderBlock, refusal: LoginRefusal): Promise<'again' | RuntimeError | undefined> {
    const { status, repeats } = refusal;
    const challenge = challengeIn(refusal.challenge);
    if (status === 403) {
      if (challenge?.error !== 'insufficient_scope') return undefined;
      // A person may have logged in with more rights meanwhile.
      const stored = repeats < MOST_REPEATS ? await this.#deps.refresher.newerThan(this.#stored) : undefined;
      if (stored) this.#adopt({ kind: 'renewed', stored });
      if (stored) return 'again';
      return this.#needsLogin({ why: 'scopes', ...(challenge.scopes && { scopes: challenge.scopes }) });
    }
    if (repeats >= MOST_REPEATS) return this.#needsLogin(REFUSED_NEW);
    const { tokens } = this.#stored.login;
    if (lacksNonce(headers, refusal, challenge) || !headers.includes(authorizationOf(tokens))) return 'again';
    // A token that was fetched for this very request is refused as well: no other one will do better.
    if (repeats > 0 && tokens.accessToken === this.#fetched) return this.#needsLogin(REFUSED_NEW);
    const renewal = await this.#renew();
    return renewal.kind === 'renewed' ? 'again' : this.#failure(renewal);
  }

  #sign({ method, url }: SignedTarget): HeaderBlock {
    const { tokens, dpopKey } = this.#stored.login;
    const authorization = ['authorization', authorizationOf(tokens)];
    if (dpopKey === undefined) return authorization;
    const { accessToken } = tokens;
    const now = this.#deps.clock.now() / 1_000;
    return [...authorization, 'dpop', dpopProof(dpopKey, { method, url, now, nonce: this.#nonce, accessToken })];
  }

  /** During an outage the old token is tried all the same: the server's clock decides, not ours. */
  async #signRenewed(request: SignedTarget): Promise<HeaderBlock> {
    const renewal = await this.#renew();
    if (renewal.kind === 'needs-login') throw this.#failure(renewal);
    return this.#sign(request);
  }

  #renewAhead(): void {
    this.#renew().catch(this.#deps.onError);
  }

  async #renew(): Promise<Renewal> {
    const { refresher, way } = this.#deps;
    const renewal = await refresher.renew(this.#stored, way);
    if (renewal.kind === 'renewed') this.#adopt(renewal);
    else if (renewal.kind === 'needs-login' && renewal.why !== 'gone' && renewal.why !== 'expired')
      this.#stored = { ...this.#stored, needsLogin: renewal.why };
    return renewal;
  }

  /** Calls that waited together get the same tokens: the first one of them takes them over. */
  #adopt({ stored, isNew }: Extract<Renewal, { readonly kind: 'renewed' }>): void {
    if (stored === this.#stored) return;
    const { server, onLogin, emit } = this.#deps;
    this.#stored = stored;
    const { key, tokens } = stored.login;
    onLogin(stored.login);
    const expiry = tokens.expiresAt === undefined ? {} : { expiresAt: tokens.expiresAt };
    if (!isNew) return;
    this.#fetched = tokens.accessToken;
    emit({ type: 'token.refreshed', server, ...accountIn(key), ...expiry });
  }

  #failure(renewal: Exclude<Renewal, { readonly kind: 'renewed' }>): RuntimeError {
    if (renewal.kind === 'outage') return renewal.error;
    return this.#needsLogin(renewal.why === 'gone' ? {} : { why: renewal.why });
  }

  #needsLogin(need: Pick<MissingLogin, 'why' | 'scopes' | 'isTokenNew'>): RuntimeError {
    const { account } = this.#stored.login.key;
    return new RuntimeError('AUTH_REQUIRED', {
      server: this.#deps.server,
      ...need,
      ...(account !== '' && { account }),
    });
  }
}

const REFUSED_NEW = { why: 'refused', isTokenNew: true } as const;

const accountIn = ({ account }: LoginKey) => (account === '' ? {} : { account });

const authorizationOf = ({ tokenType, accessToken }: Tokens) => `${tokenType} ${accessToken}`;

/**
 * Whether the request was refused for the nonce of its proof, and not for its token. What counts is the nonce that it was sent with:
 * of requests that were under way together each learns the new one. Servers may name one with every refusal, so one that gives
 * no reason is believed to want the nonce once.
 */
function lacksNonce(headers: HeaderBlock, { nonce, repeats }: LoginRefusal, challenge: Challenge | undefined): boolean {
  const at = headers.indexOf('dpop');
  if (at === -1 || nonce === undefined || nonceOf(headers[at + 1] ?? '') === nonce) return false;
  return challenge?.error === 'use_dpop_nonce' || (challenge?.error === undefined && repeats === 0);
}
