// Owns one login from the first question to its tokens. A machine logs in by itself (`machine-login.ts`); a person gets a page,
// once, and its answer is taken by a listener or pasted. Nothing is stored here: a new login replaces an old one only when the
// caller has it in its hands.

import type { JsonWebKey } from 'node:crypto';
import { createDeferred } from '../kernel/deferred.ts';
import type { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { serverUrlOf } from '../store/login-file.ts';
import { loginFailed } from './auth-http.ts';
import {
  codeIn,
  codeInPasted,
  type ExpectedAnswer,
  pageUrl,
  requirePkce,
  resourceFor,
  scopesFor,
} from './authorization.ts';
import { type Callback, openCallback } from './callback.ts';
import { type Discovered, discover } from './discovery.ts';
import { createDpopKey } from './dpop.ts';
import type { ClientRegistration, Login } from './login-model.ts';
import { loginOf, wantsDpop } from './login-parts.ts';
import type { LoginDeps, LoginPerson, LoginPreview, LoginRequest } from './login-request.ts';
import { logInAsMachine, machineGrantOf } from './machine-login.ts';
import type { ServerMetadata } from './metadata.ts';
import { createState, createVerifier, s256 } from './pkce.ts';
import { findClient, forgetUnknown, isCallback } from './registration.ts';
import { refusesResource, requestTokens } from './token-request.ts';

/** A login whose page is open: everything that is needed to finish it, also in another process. Holds secrets. */
export interface PendingLogin {
  readonly server: ServerName;
  readonly url: string;
  readonly account: string;
  readonly stepUps?: number | undefined;
  readonly metadata: ServerMetadata;
  readonly client: ClientRegistration;
  readonly redirectUri: string;
  readonly verifier: string;
  readonly state: string;
  readonly scopes: readonly string[];
  readonly resource: string;
  /** The resource is not one that the person demands: a server that does not know it is asked without. */
  readonly isResourceOptional: boolean;
  readonly dpopKey?: JsonWebKey | undefined;
}

export async function logIn(request: LoginRequest, deps: LoginDeps, person: LoginPerson = {}): Promise<Login> {
  const grant = machineGrantOf(request.settings);
  if (grant !== undefined) return logInAsMachine(request, deps, grant);
  const prepared = await prepare(request, deps, person);
  try {
    return await ask(prepared, deps, person);
  } catch (error) {
    const { client, found } = prepared;
    await forgetUnknown(deps.registrations, { issuer: found.server.issuer, client }, error);
    throw error;
  }
}

/** Begins a login that `finishLogin` ends, maybe in another process: no listener waits for its answer. */
export async function beginLogin(
  request: LoginRequest,
  deps: LoginDeps,
): Promise<{ readonly preview: LoginPreview; readonly pending: PendingLogin }> {
  const prepared = await prepare(request, deps, {});
  const pending = pend(prepared, prepared.client.redirectUris[0] ?? '');
  return { preview: previewOf(prepared, pending), pending };
}

/** `answer` is the address at which the browser ended, or the code alone. `onCode` comes before the code is used up. */
export async function finishLogin(
  pending: PendingLogin,
  answer: string,
  { onCode, ...deps }: ExchangeDeps & { readonly onCode?: () => Promise<void> },
): Promise<Login> {
  const code = codeInPasted(answer, expectedOf(pending));
  await onCode?.();
  return exchange(pending, code, deps);
}

interface Prepared {
  readonly request: LoginRequest;
  readonly server: ServerName;
  readonly found: Discovered;
  readonly page: string;
  readonly client: ClientRegistration;
  readonly scopes: readonly string[];
  readonly resource: string;
  readonly isResourceOptional: boolean;
}

async function prepare(request: LoginRequest, deps: LoginDeps, { askClientId }: LoginPerson): Promise<Prepared> {
  const { http, registrations, signal } = deps;
  const { settings, known = [] } = request;
  const found = await discover(http, request);
  const { server } = found;
  if (server.authorizationEndpoint === undefined)
    throw loginFailed(http.server, { kind: 'metadata-missing', issuer: server.issuer });
  requirePkce(http.server, server, settings.pkce);
  const client = await findClient(http, registrations, { server, settings, askClientId, signal });
  const isRefused = known.some(
    ({ key, refusesResource: refuses }) =>
      refuses && key.issuer === server.issuer && key.serverUrl === serverUrlOf(request.url),
  );
  const isAutomatic = (settings.resource ?? 'auto') === 'auto';
  const resource = isRefused && isAutomatic ? '' : resourceFor(settings.resource, found);
  return {
    request,
    server: http.server,
    found,
    page: server.authorizationEndpoint,
    client,
    scopes: scopesFor({ asked: request.scopes, configured: settings.scopes }, found),
    resource,
    isResourceOptional: isAutomatic && resource !== '',
  };
}

function pend(prepared: Prepared, redirectUri: string, state = createState()): PendingLogin {
  const { request, server, found, client, scopes, resource, isResourceOptional } = prepared;
  const { url, account, stepUps } = request;
  return {
    ...{
      server,
      url,
      account,
      stepUps,
      metadata: found.server,
      client,
      redirectUri,
      scopes,
      resource,
      isResourceOptional,
    },
    verifier: createVerifier(),
    state,
    dpopKey: wantsDpop(found) ? createDpopKey() : undefined,
  };
}

function previewOf(
  { request, server, found, page }: Prepared,
  { client, redirectUri, verifier, state, scopes, resource }: PendingLogin,
  paste?: LoginPreview['paste'],
): LoginPreview {
  const challenge = s256(verifier);
  const address = pageUrl(page, { clientId: client.clientId, redirectUri, challenge, state, scopes, resource });
  if (address.length > limits.login.pageChars)
    throw loginFailed(server, { kind: 'page-too-long', chars: address.length, scopes: scopes.length });
  return { server: request.url, issuer: found.server.issuer, scopes, page: address, paste };
}

/** A server that does not know the resource is asked once more, without it. */
async function ask(prepared: Prepared, deps: LoginDeps, person: LoginPerson): Promise<Login> {
  try {
    return await askOnce(prepared, deps, person);
  } catch (error) {
    if (!prepared.isResourceOptional || !refusesResource(error)) throw error;
    return {
      ...(await askOnce({ ...prepared, resource: '', isResourceOptional: false }, deps, person)),
      refusesResource: true,
    };
  }
}

/** Shows the page and waits for its answer, by whichever way it comes first. */
async function askOnce(prepared: Prepared, deps: LoginDeps, person: LoginPerson): Promise<Login> {
  const { server, client } = prepared;
  const listenable = client.redirectUris.filter(isCallback);
  const state = createState();
  let stray: URLSearchParams | undefined;
  const callback = await openCallback(listenable, (fields) => {
    const isOfLogin = fields.get('state') === state;
    if (!isOfLogin) stray = fields;
    return isOfLogin;
  });
  const answered = new AbortController();
  try {
    if (callback === undefined && person.paste === undefined)
      throw loginFailed(server, { kind: 'ports-taken', addresses: client.redirectUris });
    const pending = pend(prepared, callback?.redirectUri ?? client.redirectUris[0] ?? '', state);
    const missing = listenable.length === 0 ? 'not-this-machine' : 'ports-taken';
    const preview = previewOf(prepared, pending, callback === undefined ? missing : undefined);
    await person.show?.(preview);
    const tokenDeps = { ...deps, privateKey: prepared.request.settings.privateKey };
    // The listener answers before the page counts as opened: a program that opens it may wait until the browser is done.
    const ways = [
      ...(callback === undefined ? [] : [byCallback(callback, pending, tokenDeps)]),
      openPage(person, preview.page).then(() => byPaste(person.paste?.(answered.signal), pending, tokenDeps, callback)),
    ];
    return await withinLimit(Promise.race(ways), deps, () => notFinished(pending, stray));
  } finally {
    answered.abort();
    await callback?.close();
  }
}

type ExchangeDeps = Pick<LoginDeps, 'http' | 'clock'> & { readonly privateKey?: string | undefined };

async function openPage({ open }: LoginPerson, page: string): Promise<void> {
  await open?.(page);
}

/** The browser is told how it went only when it is known. */
async function byCallback({ answer }: Callback, pending: PendingLogin, deps: ExchangeDeps): Promise<Login> {
  const { fields, show } = await answer;
  try {
    const login = await exchange(pending, codeIn(fields, expectedOf(pending)), deps);
    show(true);
    return login;
  } catch (error) {
    show(false);
    throw error;
  }
}

/** A person who pastes nothing may still finish the page, where a listener waits for it. */
async function byPaste(
  pasted: Promise<string | undefined> | undefined,
  pending: PendingLogin,
  deps: ExchangeDeps,
  callback: Callback | undefined,
): Promise<Login> {
  const text = await pasted;
  if (text !== undefined) return finishLogin(pending, text, deps);
  if (callback === undefined) throw loginFailed(pending.server, { kind: 'cancelled' });
  return createDeferred<never>().promise;
}

/** Answers that belong to no login here end none, but they are the reason if no other one came. */
function notFinished({ server, resource }: PendingLogin, stray: URLSearchParams | undefined): RuntimeError {
  if (stray === undefined) return loginFailed(server, { kind: 'timed-out', afterMs: limits.login.pageMs, resource });
  return loginFailed(server, { kind: stray.has('state') ? 'state-differs' : 'state-missing' });
}

async function withinLimit(
  login: Promise<Login>,
  { clock, signal }: LoginDeps,
  tooLate: () => RuntimeError,
): Promise<Login> {
  const ended = createDeferred<never>();
  const cancel = clock.after(limits.login.pageMs, () => ended.reject(tooLate()));
  const abort = () => ended.reject(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  try {
    return await Promise.race([login, ended.promise]);
  } finally {
    cancel();
    signal?.removeEventListener('abort', abort);
  }
}

function expectedOf({ server, state, metadata: { issuer, namesItself } }: PendingLogin): ExpectedAnswer {
  return { server, state, issuer, namesItself };
}

/** The server may not know the resource, and say so only here: the code is offered once more without it. */
async function exchange(pending: PendingLogin, code: string, deps: ExchangeDeps): Promise<Login> {
  const { metadata, client, redirectUri, verifier, scopes, dpopKey } = pending;
  const { issuer, tokenEndpoint } = metadata;
  const send = async (resource: string) => {
    const form = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
      resource,
    };
    const tokens = await requestTokens(deps, { issuer, tokenEndpoint, client, form, scopes, dpopKey });
    return loginOf(pending, { server: metadata }, { client, tokens, resource, dpopKey });
  };
  try {
    return await send(pending.resource);
  } catch (error) {
    if (!pending.isResourceOptional || !refusesResource(error)) throw error;
    return { ...(await send('')), refusesResource: true };
  }
}
