// Owns telling servers what the agent may touch: as a notification to those that listen for it, with every call to those that
// want it there. What was said last is said again to a server that comes back.

import { isObject, type JsonObject } from '../kernel/json.ts';
import type { Session } from './session.ts';

/** What the agent's sandbox allows, in the words that servers of this kind understand. */
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

/** How a server says that it wants to know, and under which name it is told. */
const NOTIFIED = 'codex/sandbox-state';
const UPDATE = 'codex/sandbox-state/update';
const WITH_CALLS = 'codex/sandbox-state-meta';

export class SandboxNews {
  #state: SandboxState | undefined;

  /** What was announced last; two who announced different things must not share a server. */
  get state(): SandboxState | undefined {
    return this.#state;
  }

  /**
   * Tells those who are there now; who comes later is told then. A server that others use as well would take our word for
   * theirs: it is opened anew, for us alone.
   */
  announce(
    state: SandboxState,
    listeners: Iterable<{ readonly session: Session; readonly openAnew: () => void }>,
  ): void {
    this.#state = state;
    for (const { session, openAnew } of listeners) {
      if (session.isShared() && wants(session, NOTIFIED)) openAnew();
      else this.tell(session);
    }
  }

  tell(session: Session): void {
    if (this.#state !== undefined && wants(session, NOTIFIED)) session.notify(UPDATE, { ...this.#state });
  }

  metaFor(session: Session): JsonObject | undefined {
    return this.#state !== undefined && wants(session, WITH_CALLS) ? { [WITH_CALLS]: this.#state } : undefined;
  }
}

function wants({ capabilities }: Session, ability: string): boolean {
  const { experimental } = capabilities;
  return isObject(experimental) && experimental[ability] !== undefined;
}
