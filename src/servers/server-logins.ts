// Owns which servers are given a stored login, and which wait for one. Loads `auth/` only for a server that may have a login: for
// all others one look at the disk is all it costs.

import type { AuthEvent } from '../auth/events.ts';
import type { HoldingStore } from '../auth/holding-store.ts';
import type { LoginWish } from '../auth/login-choice.ts';
import type { Login, Tokens } from '../auth/login-model.ts';
import type { Logins, Signer } from '../auth/logins.ts';
import type { StoredLogin, TokenStore } from '../auth/token-store.ts';
import { accountFor, accountOf } from '../config/login-account.ts';
import { type HostEnvironment, isOwnScope, loginsFile, loginsKeyFile } from '../config/scopes.ts';
import type { LoginStatus } from '../connection/status.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Emit } from '../kernel/emitter.ts';
import { isFailure, loginCommand, type RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { Launch, RemoteLaunch, ServerDefinition } from '../model/server.ts';
import type { KnownSecrets } from '../shaping/redact.ts';
import { keyPlaceOf, mayHaveLogin, serverUrlOf, watchLoginFile } from '../store/login-file.ts';
import type { Secrets } from '../store/secrets.ts';
import { networkOf } from '../transport/open.ts';
import type { Gate } from '../trust/gate.ts';
import { type GrantedVariables, lacksApproval } from './approve-server.ts';

export interface ServerLoginDeps {
  readonly environment: HostEnvironment;
  /** A host's own store of logins. */
  readonly tokens: TokenStore | undefined;
  readonly gate: Pick<Gate, 'fingerprint'>;
  /** Keeps how Plexus is known to authorization servers. */
  readonly secrets: Secrets;
  /** Learns every token, so that the redactor knows it. */
  readonly knownSecrets: Pick<KnownSecrets, 'set'>;
  readonly clock: Clock;
  readonly emit: Emit<AuthEvent>;
  /** A server that waited for a login goes on: somebody has logged in. */
  readonly onLoggedIn: (server: ServerName) => void;
  readonly onError: (error: unknown) => void;
}

/** A server that may use logins, as it was last opened. */
interface OpenedServer {
  readonly launch: RemoteLaunch;
  readonly serverUrl: string;
  /** The login of its last request; `undefined` where there was none. */
  login?: Login;
}

interface WaitingServer {
  readonly definition: ServerDefinition;
  /** It refuses new tokens of its login too: processes that refreshed for each other would do so without end. */
  readonly needsOtherLogin: boolean;
}

export class ServerLogins {
  readonly #deps: ServerLoginDeps;
  #store: Promise<HoldingStore> | undefined;
  #logins: Promise<Logins> | undefined;
  /** Addresses with a login that only this process has, since it could not be written. */
  readonly #held = new Set<string>();
  readonly #opened = new WeakMap<ServerDefinition, OpenedServer>();
  /** Servers that wait for a person to log in, here or in another process, and how they go on. */
  readonly #waiting = new Map<() => void, WaitingServer>();
  #unwatch: (() => void) | undefined;

  constructor(deps: ServerLoginDeps) {
    this.#deps = deps;
  }

  /** The store of all logins, of the host or on the disk. */
  store(): Promise<HoldingStore> {
    this.#store ??= this.#openStore();
    return this.#store;
  }

  async #openStore(): Promise<HoldingStore> {
    const { tokens, environment, clock } = this.#deps;
    const { createHoldingStore } = await import('../auth/holding-store.ts');
    const onHeld = ({ login }: StoredLogin) => {
      this.#held.add(login.key.serverUrl);
      this.#recheckSoon();
    };
    if (tokens) return createHoldingStore(tokens, onHeld);
    const { createLoginStore } = await import('../auth/login-store.ts');
    const [file, keyFile] = [loginsFile(environment), loginsKeyFile(environment)];
    return createHoldingStore(createLoginStore({ file, keyFile, clock }), onHeld);
  }

  /** The file with the key of the logins; `undefined` where the keychain or the host keeps it, and before the first login. */
  keyFile(): string | undefined {
    const { tokens, environment } = this.#deps;
    const isInFile = tokens === undefined && keyPlaceOf(loginsFile(environment)) === 'file';
    return isInFile ? loginsKeyFile(environment) : undefined;
  }

  /** The login that signs the requests of a server; `undefined` for a server that is to be reached without one. */
  async signerFor(definition: ServerDefinition, launch: Launch, grants: GrantedVariables): Promise<Signer | undefined> {
    // A server of a repository gets nothing of the person's before they approved it.
    if (!isSignable(launch) || lacksApproval(definition, grants)) return undefined;
    const serverUrl = serverUrlOf(launch.url);
    if (serverUrl === undefined) return undefined;
    const opened: OpenedServer = { launch, serverUrl };
    this.#opened.set(definition, opened);
    if (!isMachine(launch) && !this.#mayHaveLogin(serverUrl)) return undefined;
    const { environment, knownSecrets } = this.#deps;
    const [logins, wish] = await Promise.all([this.logins(), this.wishOf(definition, opened)]);
    return logins.signerFor({
      server: definition.name,
      // A WebSocket is opened at the same address as its pages.
      url: launch.url.replace(/^ws/i, 'http'),
      network: networkOf(launch, { hostEnv: environment.env, cwd: environment.cwd }),
      wish,
      onLogin: (login) => {
        // The former tokens are still on their way, in requests and in errors.
        const secrets = { ...secretsIn('former_', opened.login?.tokens), ...secretsIn('', login.tokens) };
        knownSecrets.set(`login of ${definition.name}`, secrets);
        opened.login = login;
      },
    });
  }

  /** The login that a server uses, or the account that it would use in this folder. */
  statusOf(definition: ServerDefinition): LoginStatus | undefined {
    const { key, tokens } = this.#opened.get(definition)?.login ?? {};
    const account = key?.account ?? accountOf(definition.launch, this.#deps.environment);
    if (key === undefined && account === '') return undefined;
    return {
      ...(account !== '' && { account }),
      ...(key && { issuer: key.issuer }),
      ...(tokens?.expiresAt !== undefined && { expiresAt: tokens.expiresAt }),
    };
  }

  /** Reports that a server needs a login, and lets it go on once another one is stored, by any process. */
  onBlocked(definition: ServerDefinition, cause: RuntimeError, unblock: () => void): void {
    if (!isFailure(cause, 'AUTH_REQUIRED')) return;
    const { isLoginOff, isTokenNew, ...need } = cause.data;
    this.#deps.emit({ type: 'auth.required', ...need, command: loginCommand(need) });
    if (isLoginOff || !this.#opened.has(definition)) return;
    this.#waiting.set(unblock, { definition, needsOtherLogin: isTokenNew === true });
    this.#unwatch ??= this.#watch(() => this.#recheckSoon());
    this.#recheckSoon();
  }

  close(): void {
    this.#unwatch?.();
    this.#waiting.clear();
  }

  /** Tries once more to write what only this process has, before that is lost with it. */
  async flush(): Promise<void> {
    if (this.#held.size > 0) await (await this.store()).list();
  }

  logins(): Promise<Logins> {
    this.#logins ??= Promise.all([import('../auth/logins.ts'), this.store()]).then(
      ([auth, store]) => new auth.Logins({ ...this.#deps, store }),
    );
    return this.#logins;
  }

  async wishOf(
    definition: ServerDefinition,
    { launch, serverUrl }: Pick<OpenedServer, 'launch' | 'serverUrl'>,
  ): Promise<LoginWish> {
    const { environment, gate } = this.#deps;
    const { scope, file = '' } = definition.provenance;
    const settings = launch.oauth || {};
    return {
      serverUrl,
      settings,
      account: accountFor(settings.account, environment),
      isOwn: isOwnScope(scope),
      // The same entry in another repository is another one.
      grant: `${await gate.fingerprint(definition)} ${file}`,
    };
  }

  #mayHaveLogin(serverUrl: string): boolean {
    const { tokens, environment } = this.#deps;
    return tokens !== undefined || this.#held.has(serverUrl) || mayHaveLogin(loginsFile(environment), serverUrl);
  }

  #watch(changed: () => void): () => void {
    const { tokens, environment, clock } = this.#deps;
    return tokens?.watch(changed) ?? watchLoginFile(loginsFile(environment), clock, changed);
  }

  #recheckSoon(): void {
    this.#recheck().catch(this.#deps.onError);
  }

  async #recheck(): Promise<void> {
    for (const [unblock, waiting] of [...this.#waiting]) {
      if (!(await this.#canGoOn(waiting)) || !this.#waiting.delete(unblock)) continue;
      this.#deps.onLoggedIn(waiting.definition.name);
      unblock();
    }
    if (this.#waiting.size > 0) return;
    this.#unwatch?.();
    this.#unwatch = undefined;
  }

  /** Whether a login is stored whose token the server has not refused. */
  async #canGoOn({ definition, needsOtherLogin }: WaitingServer): Promise<boolean> {
    const opened = this.#opened.get(definition);
    if (opened === undefined || !this.#mayHaveLogin(opened.serverUrl)) return false;
    const stored = await (await this.logins()).find(await this.wishOf(definition, opened));
    if (stored === undefined || stored.needsLogin !== undefined) return false;
    if (needsOtherLogin && stored.login.madeAt === opened.login?.madeAt) return false;
    return stored.login.tokens.accessToken !== opened.login?.tokens.accessToken;
  }
}

/** An Authorization header of the entry, or a login in its address, counts more than any stored login. */
function isSignable(launch: Launch): launch is RemoteLaunch {
  if (launch.kind === 'stdio' || launch.kind === 'in-process' || launch.oauth === false) return false;
  if (Object.keys(launch.headers).some((name) => name.toLowerCase() === 'authorization')) return false;
  return URL.canParse(launch.url) && new URL(launch.url).username === '';
}

/** It logs in by itself. */
const isMachine = ({ oauth }: RemoteLaunch) =>
  Boolean(oauth && oauth.grant !== undefined && oauth.grant !== 'authorization_code');

const secretsIn = (prefix: string, tokens: Tokens | undefined): Readonly<Record<string, string>> => ({
  ...(tokens && { [`${prefix}access_token`]: tokens.accessToken }),
  ...(tokens?.refreshToken !== undefined && { [`${prefix}refresh_token`]: tokens.refreshToken }),
});
