// Owns logging in to the servers of a runtime and out of them: finds the entry, fills it in as for a start, and hands it to
// `auth/`, which is loaded only now. Servers that wait for a login notice the stored one by themselves.

import type { AuthEvent } from '../auth/events.ts';
import type { LoginWish } from '../auth/login-choice.ts';
import type { Login } from '../auth/login-model.ts';
import type { LoginPerson, LoginPreview } from '../auth/login-request.ts';
import type { KeptLogin, LoginTarget, LoginWork } from '../auth/perform-login.ts';
import type { LoginNeed, StoredLogin } from '../auth/token-store.ts';
import type { HostEnvironment } from '../config/scopes.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Emit } from '../kernel/emitter.ts';
import { asRuntimeError, RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import { commandLine, type Launch, type ServerDefinition } from '../model/server.ts';
import type { KnownSecrets } from '../shaping/redact.ts';
import { serverUrlOf } from '../store/login-file.ts';
import type { Secrets } from '../store/secrets.ts';
import { networkOf } from '../transport/open.ts';
import { lacksApproval, type ServerApprovals } from './approve-server.ts';
import type { ServerResolver } from './resolve-server.ts';
import type { ServerLogins } from './server-logins.ts';

export interface LoginOptions {
  /** Which of several logins of the server; the default is the one that the entry names for this folder. */
  readonly account?: string | undefined;
  /** Rights that the server demands besides those of the present login. */
  readonly scopes?: readonly string[] | undefined;
  /** Shows the login page to the person; the default opens it in the browser of this machine. */
  readonly openUrl?: ((url: string, preview: LoginPreview) => void | Promise<void>) | undefined;
  /** Asks the person for the address at which the browser ended, for a browser that is on another machine. */
  readonly pasteAnswer?: ((signal: AbortSignal) => Promise<string | undefined>) | undefined;
  /** Asks the person for a client id, where the authorization server registers none by itself. */
  readonly askClientId?: ((issuer: string) => Promise<string | undefined>) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** One stored login, without its tokens. */
export interface LoginInfo {
  /** Origin and path of the server's address. */
  readonly serverUrl: string;
  readonly issuer: string;
  /** `''` for the one without a name. */
  readonly account: string;
  readonly scopes: readonly string[];
  readonly expiresAt?: number | undefined;
  /** Only a new login helps. */
  readonly needsLogin?: LoginNeed | undefined;
  /** The authorization server of the login that this one replaced, where it was another. */
  readonly formerIssuer?: string | undefined;
  /** Said with the first login of all, where no keychain answered: the file that holds the key of the logins. */
  readonly keyFile?: string | undefined;
  /** Why the new login could not be written. This process uses it, and writes it once it can; others do not have it. */
  readonly unwritten?: RuntimeError | undefined;
}

export interface LoginDesk {
  login(server: ServerName, options?: LoginOptions): Promise<LoginInfo>;
  /** The page for a person who is elsewhere; `finish` takes what their browser ended with. `undefined`: a machine needs no page. */
  begin(
    server: ServerName,
    options?: Pick<LoginOptions, 'account' | 'scopes' | 'signal'>,
  ): Promise<LoginPreview | undefined>;
  finish(server: ServerName, answer: string, options?: Pick<LoginOptions, 'account' | 'signal'>): Promise<LoginInfo>;
  /** The logins that were removed. */
  logout(server: ServerName, options?: Pick<LoginOptions, 'account' | 'signal'>): Promise<readonly LoginInfo[]>;
  list(): Promise<readonly LoginInfo[]>;
}

export interface LoginDeskDeps {
  readonly environment: HostEnvironment;
  /** Throws `SERVER_UNKNOWN` for a name that is not configured. */
  readonly definitionOf: (server: ServerName) => ServerDefinition;
  readonly approvals: Pick<ServerApprovals, 'require'>;
  readonly resolver: Pick<ServerResolver, 'resolve'>;
  readonly logins: Pick<ServerLogins, 'store' | 'wishOf' | 'keyFile'>;
  readonly secrets: Secrets;
  readonly knownSecrets: Pick<KnownSecrets, 'set'>;
  readonly clock: Clock;
  readonly closing: AbortSignal;
  readonly emit: Emit<AuthEvent>;
  readonly onError: (error: unknown) => void;
}

export function createLoginDesk(deps: LoginDeskDeps): LoginDesk {
  const auth = () => import('../auth/perform-login.ts');
  const workFor = async (signal: AbortSignal | undefined): Promise<LoginWork> => ({
    store: await deps.logins.store(),
    secrets: deps.secrets,
    clock: deps.clock,
    signal: signal === undefined ? deps.closing : AbortSignal.any([deps.closing, signal]),
    onError: deps.onError,
  });
  const told = async (server: ServerName, wish: LoginWish, work: Promise<KeptLogin>): Promise<LoginInfo> => {
    const { account } = wish;
    const hadKey = deps.logins.keyFile() !== undefined;
    const whose = { server, ...(account !== '' && { account }) };
    try {
      const { login, formerIssuer, unwritten } = await work;
      const keyFile = hadKey ? undefined : deps.logins.keyFile();
      const info = {
        ...infoOf({ login }),
        ...(formerIssuer !== undefined && { formerIssuer }),
        ...(keyFile !== undefined && { keyFile }),
        ...(unwritten !== undefined && { unwritten }),
      };
      const { accessToken, refreshToken } = login.tokens;
      const values = { access_token: accessToken, ...(refreshToken !== undefined && { refresh_token: refreshToken }) };
      deps.knownSecrets.set(`new login of ${server}`, values);
      deps.emit({ type: 'login.completed', ...whose, issuer: info.issuer, scopes: info.scopes });
      return info;
    } catch (error) {
      const { code, message, remedy } = asRuntimeError(error);
      deps.emit({ type: 'login.failed', ...whose, error: { code, message, remedy } });
      throw error;
    }
  };
  return {
    async login(server, { account, scopes, signal, ...options } = {}) {
      const target = await targetOf(deps, server, { account, signal });
      const { performLogin } = await auth();
      const person = await personOf(deps, options);
      return told(server, target.wish, performLogin(target, await workFor(signal), { person, scopes }));
    },
    async begin(server, { account, scopes, signal } = {}) {
      const target = await targetOf(deps, server, { account, signal });
      return (await auth()).beginPending(target, await workFor(signal), scopes);
    },
    async finish(server, answer, { account, signal } = {}) {
      const target = await targetOf(deps, server, { account, signal });
      const { finishPending } = await auth();
      return told(server, target.wish, finishPending(target, await workFor(signal), answer));
    },
    async logout(server, { account, signal } = {}) {
      const target = await targetOf(deps, server, { account, signal });
      const removed = await (await auth()).logOut(target, await workFor(signal));
      return removed.map((login) => infoOf({ login }));
    },
    list: async () => (await (await deps.logins.store()).list()).map(infoOf),
  };
}

async function targetOf(
  deps: LoginDeskDeps,
  server: ServerName,
  { account, signal = deps.closing }: Pick<LoginOptions, 'account' | 'signal'>,
): Promise<LoginTarget> {
  const definition = deps.definitionOf(server);
  const launch = await launchOf(deps, definition, signal);
  const isRemote = launch.kind !== 'stdio' && launch.kind !== 'in-process';
  const serverUrl = isRemote ? serverUrlOf(launch.url) : undefined;
  if (!isRemote || serverUrl === undefined)
    throw new RuntimeError('NOT_OFFERED', { server, what: 'a login, since it is not reached at an address' });
  if (launch.oauth === false)
    throw new RuntimeError('NOT_OFFERED', { server, what: 'a login, since its configuration says oauth = false' });
  const wish = await deps.logins.wishOf(definition, { launch, serverUrl });
  const { env: hostEnv, cwd } = deps.environment;
  return {
    server,
    // A WebSocket is opened at the same address as its pages.
    url: launch.url.replace(/^ws/i, 'http'),
    network: networkOf(launch, { hostEnv, cwd }),
    wish: account === undefined ? wish : { ...wish, account },
  };
}

/** A login belongs to a server that the person knows: an entry of the workspace must be approved first. */
async function launchOf(
  { approvals, resolver }: LoginDeskDeps,
  definition: ServerDefinition,
  signal: AbortSignal,
): Promise<Launch> {
  const { name: server, provenance, launch } = definition;
  const grants = await approvals.require(definition, signal);
  if (!lacksApproval(definition, grants)) return resolver.resolve(definition, grants, signal);
  const { file } = provenance;
  throw new RuntimeError('SERVER_UNTRUSTED', {
    server,
    command: commandLine(launch),
    ...(file !== undefined && { file }),
  });
}

async function personOf(
  { environment }: LoginDeskDeps,
  { openUrl, pasteAnswer, askClientId }: Pick<LoginOptions, 'openUrl' | 'pasteAnswer' | 'askClientId'>,
): Promise<LoginPerson> {
  let shown: LoginPreview | undefined;
  const { openBrowser } = await import('../auth/open-browser.ts');
  return {
    show: (preview) => {
      shown = preview;
    },
    open: async (page) => {
      if (openUrl === undefined || shown === undefined) return openBrowser(page, environment);
      await openUrl(page, shown);
      return true;
    },
    paste: pasteAnswer,
    askClientId,
  };
}

function infoOf({
  login,
  needsLogin,
}: Pick<StoredLogin, 'login' | 'needsLogin'> & { readonly login: Login }): LoginInfo {
  const { key, tokens } = login;
  return {
    serverUrl: key.serverUrl,
    issuer: key.issuer,
    account: key.account,
    scopes: tokens.scopes,
    ...(tokens.expiresAt !== undefined && { expiresAt: tokens.expiresAt }),
    ...(needsLogin !== undefined && { needsLogin }),
  };
}
