// Owns asking a person for a login because a model wants to use a server: at most once per server in fifteen minutes, over all
// processes, so that a server cannot make a model open windows. A login, wherever it happens, ends that.

import type { Connections } from '../connection/connections.ts';
import type { Store } from '../kernel/store.ts';
import { isFailure, loginCommand, type MissingLogin } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { LoginDesk } from './log-in-server.ts';

/** How asking ended. */
export type AskedLogin =
  | { readonly kind: 'done' }
  /** For a host without a person: the page, and the command that takes the answer of the browser. */
  | { readonly kind: 'link'; readonly page: string; readonly finish: string }
  /** A person was asked a while ago, and has not logged in. */
  | { readonly kind: 'asked-before'; readonly command: string };

export interface LoginAskDeps {
  readonly desk: Pick<LoginDesk, 'login' | 'begin'>;
  readonly connections: Pick<Connections, 'get' | 'all'>;
  /** Shared between processes. */
  readonly store: Pick<Store, 'compareAndSet' | 'delete'>;
  /** A person sits before this process, and can be shown a page. */
  readonly isPersonHere: () => boolean;
}

export class LoginAsks {
  readonly #deps: LoginAskDeps;

  constructor(deps: LoginAskDeps) {
    this.#deps = deps;
  }

  /** The servers that wait for a login which a person can give. */
  waiting(): readonly ServerName[] {
    const all = this.#deps.connections.all().map(({ definition }) => definition.name);
    return all.filter((server) => this.#needOf(server) !== undefined);
  }

  async ask(server: ServerName, signal: AbortSignal): Promise<AskedLogin> {
    const { desk, store, isPersonHere } = this.#deps;
    const need = this.#needOf(server) ?? { server };
    const { account, scopes } = need;
    if (!(await store.compareAndSet(keyOf(server), undefined, 'asked', limits.askLoginMs)))
      return { kind: 'asked-before', command: loginCommand(need) };
    if (isPersonHere()) {
      await desk.login(server, { account, scopes, signal });
      return { kind: 'done' };
    }
    try {
      const preview = await desk.begin(server, { account, scopes, signal });
      if (preview !== undefined) return linkOf(preview.page, { server, account });
      // A machine needs no page.
      await desk.login(server, { account, signal });
      return { kind: 'done' };
    } catch (error) {
      // No page was shown to anybody.
      await endAsk(store, server);
      throw error;
    }
  }

  #needOf(server: ServerName): MissingLogin | undefined {
    const state = this.#deps.connections.get(server)?.connection.state;
    if (state?.kind !== 'blocked' || !isFailure(state.cause, 'AUTH_REQUIRED')) return undefined;
    return state.cause.data.isLoginOff ? undefined : state.cause.data;
  }
}

const linkOf = (page: string, { server, account }: Pick<MissingLogin, 'server'> & { account: string | undefined }) =>
  ({
    kind: 'link',
    page,
    finish: `${loginCommand({ server, ...(account !== undefined && { account }) })} --finish URL`,
  }) as const;

/** A person has logged in: the next need of a login may be told at once. */
export async function endAsk(store: Pick<Store, 'delete'>, server: ServerName): Promise<void> {
  await store.delete(keyOf(server));
}

const keyOf = (server: ServerName) => `login-asked/${server}`;
