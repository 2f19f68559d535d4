// Owns fetching the credentials of an entry again after its server refused them with 401: its commands and its header helper run once
// more, and only another value opens another session.

import { isCommand } from '../config/expand.ts';
import { canonicalJson } from '../kernel/json.ts';
import type { Launch, ServerDefinition } from '../model/server.ts';

export interface CredentialsDeps {
  /** Fills in the entry; commands whose output is known do not run. */
  readonly resolve: (definition: ServerDefinition, signal: AbortSignal) => Promise<Launch>;
  /** The commands of the entry run again when it is next filled in. */
  readonly forget: (definition: ServerDefinition) => void;
  readonly onError: (error: unknown) => void;
}

export class Credentials {
  readonly #deps: CredentialsDeps;
  readonly #renewals = new Map<ServerDefinition, Promise<Launch | undefined>>();

  constructor(deps: CredentialsDeps) {
    this.#deps = deps;
  }

  /** The launch with new values, or `undefined` where they are those that were refused. Sessions that are refused together share one run. */
  renew(definition: ServerDefinition, refused: Launch, signal: AbortSignal): Promise<Launch | undefined> {
    if (!runsCommands(definition)) return Promise.resolve(undefined);
    const renewal =
      this.#renewals.get(definition) ??
      this.#renew(definition, refused, signal).finally(() => this.#renewals.delete(definition));
    this.#renewals.set(definition, renewal);
    return renewal;
  }

  /** A command that fails now leaves the login as refused as it was. */
  async #renew(definition: ServerDefinition, refused: Launch, signal: AbortSignal): Promise<Launch | undefined> {
    const { resolve, forget, onError } = this.#deps;
    try {
      forget(definition);
      const launch = await resolve(definition, signal);
      return canonicalJson(launch) === canonicalJson(refused) ? undefined : launch;
    } catch (error) {
      if (!signal.aborted) onError(error);
      return undefined;
    }
  }
}

/** Whether a remote entry sends values that a command prints. */
export function runsCommands({ launch }: Pick<ServerDefinition, 'launch'>): boolean {
  if (launch.kind === 'stdio' || launch.kind === 'in-process') return false;
  if (launch.headersHelper !== undefined) return true;
  return Object.values({ ...launch.env, ...launch.headers }).some(isCommand);
}
