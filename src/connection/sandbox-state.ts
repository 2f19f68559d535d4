// Owns telling servers what the agent's sandbox allows: by a notification or in the `_meta` of every call, depending on the
// capability that the server declares. A server that reconnects gets the latest state again.

import { isObject, type JsonObject } from '../kernel/json.ts';
import type { Session } from './session.ts';

/** What the agent's sandbox allows, in the format of Codex. */
export interface SandboxState {
  readonly sandboxPolicy: {
    readonly type: 'danger-full-access' | 'read-only' | 'workspace-write' | 'external-sandbox';
    readonly writable_roots?: readonly string[];
    readonly network_access?: boolean | 'enabled' | 'restricted';
    readonly [detail: string]: unknown;
  };
  readonly sandboxCwd: string;
  readonly [detail: string]: unknown;
}

/** The experimental capabilities that servers declare, and the notification for the first of them. */
const NOTIFY_CAPABILITY = 'codex/sandbox-state';
const UPDATE_METHOD = 'codex/sandbox-state/update';
const META_CAPABILITY = 'codex/sandbox-state-meta';

export class SandboxNotifier {
  #state: SandboxState | undefined;
  readonly #excluded = new WeakSet<Session>();

  /** The latest state. Part of the connection key: runtimes with different states must not share a server. */
  get state(): SandboxState | undefined {
    return this.#state;
  }

  /**
   * Notifies the servers that are up; a server that comes up later is told then. A shared session is opened anew for this
   * runtime alone, since its server would apply the state to the other leases as well.
   */
  announce(
    state: SandboxState,
    listeners: Iterable<{ readonly session: Session; readonly openAnew: () => void }>,
  ): void {
    this.#state = state;
    for (const { session, openAnew } of listeners) {
      if (this.#excluded.has(session)) continue;
      if (session.isShared() && wants(session, NOTIFY_CAPABILITY)) openAnew();
      else this.tell(session);
    }
  }

  /** Never tells this session anything: nobody approved its server. */
  exclude(session: Session): void {
    this.#excluded.add(session);
  }

  tell(session: Session): void {
    if (this.#state !== undefined && !this.#excluded.has(session) && wants(session, NOTIFY_CAPABILITY))
      session.notify(UPDATE_METHOD, { ...this.#state });
  }

  metaFor(session: Session): JsonObject | undefined {
    return this.#state !== undefined && !this.#excluded.has(session) && wants(session, META_CAPABILITY)
      ? { [META_CAPABILITY]: this.#state }
      : undefined;
  }
}

function wants({ capabilities }: Session, capability: string): boolean {
  const { experimental } = capabilities;
  return isObject(experimental) && experimental[capability] !== undefined;
}
