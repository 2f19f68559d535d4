// Owns logging in to one server and out of it, with the store: a new login is kept once it has succeeded, and takes the place of
// the old one only then. `login.ts` is the flow itself.

import type { Clock } from '../kernel/clock.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { Secrets } from '../store/secrets.ts';
import type { Network } from '../transport/dial.ts';
import { type AuthHttp, createAuthHttp, loginFailed } from './auth-http.ts';
import { stepUpScopes } from './authorization.ts';
import type { HoldingStore } from './holding-store.ts';
import { createPendingLogins, createRegistrations } from './kept-logins.ts';
import { beginLogin, finishLogin, logIn } from './login.ts';
import { chooseLogin, fits, type LoginWish } from './login-choice.ts';
import type { Login } from './login-model.ts';
import type { LoginDeps, LoginPerson, LoginPreview, LoginRequest } from './login-request.ts';
import { machineGrantOf } from './machine-login.ts';
import { forgetUnknown, keepAsked } from './registration.ts';
import { revokeLogin } from './revocation.ts';
import { isSameLogin, type StoredLogin, type TokenStore } from './token-store.ts';

export interface LoginTarget {
  readonly server: ServerName;
  readonly url: string;
  readonly network: Network;
  readonly wish: LoginWish;
}

export interface LoginWork {
  readonly store: HoldingStore;
  /** Keeps registrations, and logins whose answer is awaited. */
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  readonly onError: (error: unknown) => void;
}

export interface KeptLogin {
  readonly login: Login;
  /** The authorization server of the login before, where that was another one. */
  readonly formerIssuer?: string | undefined;
  /** Why it could not be written: only this process has it so far. */
  readonly unwritten?: RuntimeError | undefined;
}

/** `scopes`: those that the server demands besides the ones that the present login has. */
export async function performLogin(
  target: LoginTarget,
  work: LoginWork,
  { person, scopes }: { readonly person?: LoginPerson | undefined; readonly scopes?: readonly string[] | undefined },
): Promise<KeptLogin> {
  return withHttp(target, work, async (deps) => {
    const request = await requestFor(target, work, scopes);
    const login = await logIn(request, deps, person);
    const kept = await keep(target, work, login);
    await keepAsked(deps.registrations, login).catch(work.onError);
    return kept;
  });
}

/** New tokens for a machine that has no refresh token: it logs in once more. */
export async function requestAgain(
  { key, madeAt }: Login,
  { url, wish }: Pick<LoginTarget, 'url' | 'wish'>,
  { http, clock, secrets }: Pick<LoginWork, 'clock' | 'secrets'> & { readonly http: AuthHttp },
): Promise<Login> {
  const request = { url, settings: wish.settings, account: wish.account, isOwn: wish.isOwn };
  return { ...(await logIn(request, { http, clock, registrations: createRegistrations(secrets) })), key, madeAt };
}

/** For a person who is elsewhere: the page to open. `finishPending` ends the login, within ten minutes. A machine needs no page. */
export async function beginPending(
  target: LoginTarget,
  work: LoginWork,
  scopes?: readonly string[],
): Promise<LoginPreview | undefined> {
  if (machineGrantOf(target.wish.settings) !== undefined) return undefined;
  return withHttp(target, work, async (deps) => {
    const { preview, pending } = await beginLogin(await requestFor(target, work, scopes), deps);
    await createPendingLogins(work.secrets, work.clock).keep(pending);
    return preview;
  });
}

/** `answer` is the address at which the browser ended, or the code alone. */
export async function finishPending(target: LoginTarget, work: LoginWork, answer: string): Promise<KeptLogin> {
  const { url, wish, server } = target;
  const all = createPendingLogins(work.secrets, work.clock);
  const pending = await all.find({ url, account: wish.account });
  if (pending === undefined) throw loginFailed(server, { kind: 'nothing-pending' });
  return withHttp(target, work, async ({ http, clock, registrations }) => {
    const { privateKey } = wish.settings;
    // A mistyped answer can be given again; a code cannot.
    const onCode = async () => {
      await work.store.requireWritable?.();
      await all.drop(pending);
    };
    try {
      return await keep(target, work, await finishLogin(pending, answer, { http, clock, privateKey, onCode }));
    } catch (error) {
      await forgetUnknown(registrations, { issuer: pending.metadata.issuer, client: pending.client }, error);
      throw error;
    }
  });
}

/** The logins of the server that were removed. Each is revoked where its authorization server offers that; a failure of it is passed on. */
export async function logOut(target: LoginTarget, work: LoginWork): Promise<readonly Login[]> {
  const { wish } = target;
  const all = (await work.store.list()).filter((each) => fits(each, wish) && each.login.key.account === wish.account);
  await withHttp(target, work, async ({ http, clock }) => {
    for (const stored of all) {
      const { login } = await removeUnrefreshed(work, stored);
      await revokeLogin(login, { http, clock, privateKey: wish.settings.privateKey }).catch(work.onError);
    }
  });
  return all.map(({ login }) => login);
}

async function requestFor(
  { server, url, wish }: LoginTarget,
  { store }: LoginWork,
  demanded: readonly string[] | undefined,
): Promise<LoginRequest> {
  // Before anything is asked of the authorization server or of a person: what they give could not be kept.
  await store.requireWritable?.();
  const stored = await store.list();
  const present = chooseLogin(stored, wish)?.login;
  const known = stored.map(({ login }) => login);
  const request = { url, settings: wish.settings, account: wish.account, isOwn: wish.isOwn, known };
  if (demanded === undefined) return request;
  const scopes = stepUpScopes(present?.tokens.scopes ?? [], demanded);
  if (scopes === undefined) throw loginFailed(server, { kind: 'scopes-refused', scopes: demanded });
  // A server that invents rights, or an issuer that never grants them, would ask for ever.
  const stepUps = (present?.stepUps ?? 0) + 1;
  if (stepUps > limits.login.stepUps)
    throw loginFailed(server, { kind: 'scopes-endless', times: limits.login.stepUps });
  return { ...request, scopes, ...(present && { stepUps }) };
}

async function withHttp<Value>(
  { server, url, network, wish }: LoginTarget,
  { clock, secrets, signal }: LoginWork,
  act: (deps: LoginDeps) => Promise<Value>,
): Promise<Value> {
  const allowsPrivate = wish.settings.allowPrivateNetwork;
  const http: AuthHttp = await createAuthHttp({ server, url, network, clock, allowsPrivate, signal });
  try {
    return await act({ http, clock, registrations: createRegistrations(secrets), signal });
  } finally {
    await http.close();
  }
}

/** The disk may be full by now, and the code is used up: then the tokens are held like those of a refresh. */
async function keep(target: LoginTarget, work: LoginWork, login: Login): Promise<KeptLogin> {
  try {
    return await keepInTurn(target, work, login);
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    const present = (await work.store.list()).find((each) => isSameLogin(each.login.key, login.key));
    work.onError(error);
    // Only what comes after the write has failed: a former login is still there.
    if (present?.login.tokens.accessToken === login.tokens.accessToken) return { login };
    work.store.hold(present, grantedStored(login, target, present));
    return { login, unwritten: error };
  }
}

/** One process after the other: of those that log in together, the last one's login is the one that stays. */
async function keepInTurn(target: LoginTarget, work: LoginWork, login: Login): Promise<KeptLogin> {
  const anyOfAccount = { ...login.key, issuer: '', resource: '', clientId: '' };
  const release = await work.store.lock(anyOfAccount, limits.refresh.lockMs, work.signal);
  try {
    return await keepAlone(target, work, login);
  } finally {
    await release();
  }
}

/** The new one first: at no moment there is none. A definition that may use the old one may use the new one. */
async function keepAlone(target: LoginTarget, { store }: LoginWork, login: Login): Promise<KeptLogin> {
  const { wish } = target;
  const before = await store.list();
  const former = before.filter(
    (each) => fits(each, wish) && each.login.key.account === wish.account && !isSameLogin(each.login.key, login.key),
  );
  for (let isKept = false; !isKept; ) {
    const present = (await store.list()).find((each) => isSameLogin(each.login.key, login.key));
    isKept = await store.replace(login.key, present, grantedStored(login, target, present));
  }
  for (const each of former) await remove(store, each);
  const formerIssuer = former.map((each) => each.login.key.issuer).find((issuer) => issuer !== login.key.issuer);
  return { login, formerIssuer };
}

function grantedStored(login: Login, { wish }: LoginTarget, present: StoredLogin | undefined): StoredLogin {
  const grantedTo = new Set([...(present?.grantedTo ?? []), ...(wish.isOwn ? [] : [wish.grant])]);
  return { login, grantedTo: [...grantedTo] };
}

/** Waits for a refresh that is under way: what it brings is what has to be revoked. */
async function removeUnrefreshed({ store, signal }: LoginWork, stored: StoredLogin): Promise<StoredLogin> {
  const release = await store.lock(stored.login.key, limits.refresh.lockMs, signal);
  try {
    return (await remove(store, stored)) ?? stored;
  } finally {
    await release();
  }
}

/** What was removed; `undefined`: another process was first. */
async function remove(store: TokenStore, { login: { key } }: StoredLogin): Promise<StoredLogin | undefined> {
  for (;;) {
    const present = (await store.list()).find((each) => isSameLogin(each.login.key, key));
    if (present === undefined || (await store.replace(key, present, undefined))) return present;
  }
}
