// Owns exchanging tokens that have expired, or were refused, for new ones: once in this process, and by one holder of the lock
// between all processes. What is stored is read again before a request and compared again after it, so that a slow process
// never undoes the work of a faster one. The request itself is `token-request.ts`.

import type { Clock } from '../kernel/clock.ts';
import { SingleFlight } from '../kernel/single-flight.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { HoldingStore } from './holding-store.ts';
import type { Login, Tokens } from './login-model.ts';
import { isSameLogin, type LoginNeed, type StoredLogin } from './token-store.ts';

/** The answer of the authorization server to one request for new tokens. */
export type RefreshAnswer =
  /** The same login with new tokens. */
  | { readonly kind: 'tokens'; readonly login: Login }
  /** It understood the request and does not accept the login any more. */
  | { readonly kind: 'refused' }
  /** It did not answer, or not in a way that says anything about the login. */
  | { readonly kind: 'outage'; readonly error: RuntimeError };

export type Renewal =
  /** `isNew`: by a request of this process, and not by another process or a login. */
  | { readonly kind: 'renewed'; readonly stored: StoredLogin; readonly isNew?: true }
  /** `expired`: there is nothing to refresh it with. `gone`: it was logged out. */
  | { readonly kind: 'needs-login'; readonly why: LoginNeed | 'expired' | 'gone' }
  | { readonly kind: 'outage'; readonly error: RuntimeError };

/** How new tokens of a login are requested. */
export interface RefreshWay {
  /** A machine that logs in by itself gets new tokens without one. */
  readonly needsRefreshToken: boolean;
  /** Limited in time: it ends while the lock is held. */
  readonly request: (login: Login) => Promise<RefreshAnswer>;
}

export interface RefreshDeps {
  readonly store: HoldingStore;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

export class Refresher {
  readonly #deps: RefreshDeps;
  readonly #flights = new SingleFlight<string, Renewal>();
  /** By login: until when an authorization server that is down is left alone. */
  readonly #outages = new Map<string, { readonly until: number; readonly renewal: Renewal }>();

  constructor(deps: RefreshDeps) {
    this.#deps = deps;
  }

  /** Tokens that may be used instead of those in `used`, or why there are none. */
  renew(used: StoredLogin, way: RefreshWay): Promise<Renewal> {
    const name = JSON.stringify(used.login.key);
    const outage = this.#outages.get(name);
    const leftMs = outage === undefined ? 0 : outage.until - this.#deps.clock.now();
    // More is left than there ever was: the clock was set back.
    if (outage !== undefined && leftMs > 0 && leftMs <= limits.refresh.pauseMs) return Promise.resolve(outage.renewal);
    return this.#flights.run(name, async () => {
      const renewal = await this.#renewAlone(used, way);
      if (renewal.kind === 'outage')
        this.#outages.set(name, { until: this.#deps.clock.now() + limits.refresh.pauseMs, renewal });
      else this.#outages.delete(name);
      return renewal;
    });
  }

  /** Other tokens of the same login that are stored by now; `undefined` where there are none. */
  async newerThan(used: StoredLogin): Promise<StoredLogin | undefined> {
    const present = await this.#present(used.login);
    return present !== undefined && isNewer(present, used) ? present : undefined;
  }

  async #renewAlone(used: StoredLogin, way: RefreshWay): Promise<Renewal> {
    const { store } = this.#deps;
    const release = await store.lock(used.login.key, limits.refresh.lockMs);
    try {
      for (;;) {
        const present = await this.#present(used.login);
        if (present === undefined) return { kind: 'needs-login', why: 'gone' };
        if (isNewer(present, used) && !this.#isExpired(present)) return { kind: 'renewed', stored: present };
        if (present.needsLogin !== undefined) return { kind: 'needs-login', why: present.needsLogin };
        if (way.needsRefreshToken && present.login.tokens.refreshToken === undefined)
          return { kind: 'needs-login', why: 'expired' };
        const begun = { ...present, refreshBegan: this.#deps.clock.now() };
        // Written before the request leaves: if this process dies, the next holder knows that tokens may have been replaced.
        if (await store.replace(present.login.key, present, begun))
          return await this.#request(begun, { way, wasInterrupted: present.refreshBegan !== undefined });
      }
    } finally {
      await release();
    }
  }

  async #request(
    begun: StoredLogin,
    { way, wasInterrupted }: { readonly way: RefreshWay; readonly wasInterrupted: boolean },
  ): Promise<Renewal> {
    const answer = await way.request(begun.login);
    if (answer.kind === 'tokens') return this.#keep(begun, answer.login);
    // The mark of the beginning stays: the answer may have been lost on its way.
    if (answer.kind === 'outage') return answer;
    return this.#refused(begun, wasInterrupted ? 'interrupted' : 'refused');
  }

  /** A login that was made meanwhile counts more than these tokens; a mark that another process left does not. */
  async #keep(begun: StoredLogin, login: Login): Promise<Renewal> {
    const { store, onError } = this.#deps;
    const stored: StoredLogin = { login, grantedTo: begun.grantedTo };
    try {
      for (let expected: StoredLogin | undefined = begun; ; expected = await this.#present(begun.login)) {
        if (expected === undefined) return { kind: 'needs-login', why: 'gone' };
        if (isNewer(expected, begun)) return { kind: 'renewed', stored: expected };
        const next: StoredLogin = { ...stored, grantedTo: expected.grantedTo };
        if (await store.replace(login.key, expected, next)) return { kind: 'renewed', stored: next, isNew: true };
      }
    } catch (error) {
      // A full disk must not cost this process its login as well.
      if (!(error instanceof RuntimeError)) throw error;
      store.hold(begun, stored);
      onError(error);
      return { kind: 'renewed', stored, isNew: true };
    }
  }

  /** The refusal may be about tokens that another process has replaced since. Nothing is deleted either way. */
  async #refused(begun: StoredLogin, why: LoginNeed): Promise<Renewal> {
    for (;;) {
      const present = await this.#present(begun.login);
      if (present === undefined) return { kind: 'needs-login', why: 'gone' };
      if (isNewer(present, begun)) return { kind: 'renewed', stored: present };
      const { refreshBegan: _, ...rest } = present;
      if (await this.#deps.store.replace(present.login.key, present, { ...rest, needsLogin: why }))
        return { kind: 'needs-login', why };
    }
  }

  async #present({ key }: Login): Promise<StoredLogin | undefined> {
    return (await this.#deps.store.list()).find(({ login }) => isSameLogin(login.key, key));
  }

  #isExpired({ login }: StoredLogin): boolean {
    return login.tokens.expiresAt !== undefined && login.tokens.expiresAt <= this.#deps.clock.now();
  }
}

/** Whether its tokens are others than those that were used. */
const isNewer = ({ login: { tokens } }: StoredLogin, { login: { tokens: used } }: StoredLogin) =>
  tokens.accessToken !== used.accessToken || tokens.refreshToken !== used.refreshToken;

/** `soon`: the token still works, and is refreshed before it does not. Counted from its receipt, by our own clock. */
export function ageOf({ receivedAt, expiresAt }: Tokens, now: number): 'fresh' | 'soon' | 'expired' {
  if (expiresAt === undefined) return 'fresh';
  if (expiresAt <= now) return 'expired';
  const aheadMs = Math.min(limits.refresh.aheadMs, (expiresAt - receivedAt) / 5);
  return expiresAt - aheadMs <= now ? 'soon' : 'fresh';
}
