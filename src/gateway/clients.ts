// Owns which client a request comes from: one for each session, for each caller with a name, and for each token; and which fleet it
// gets, by the workspace that the `connect` command named or that a local session has as its root.

import { fileURLToPath } from 'node:url';
import type { Clock } from '../kernel/clock.ts';
import { isObject } from '../kernel/json.ts';
import { settleWithin } from '../kernel/settle.ts';
import { limits } from '../model/limits.ts';
import type { Peer, Principal, ServedSession } from '../serving/service.ts';
import { originOf } from './access.ts';
import { GatewayClient } from './client.ts';
import type { GatewayFleet } from './gateway-fleet.ts';
import type { Route } from './route.ts';
import type { Workspaces } from './workspaces.ts';

export interface ClientsDeps {
  readonly route: Route;
  readonly workspaces: Workspaces;
  readonly clock: Clock;
  /** Whether a session's roots say which workspace it is of: only where its client is on this machine. */
  readonly trustsRoots: boolean;
  readonly onError: (error: unknown) => void;
}

interface KnownClient {
  readonly principal: Principal;
  /** A promise until it is open. */
  client: GatewayClient | Promise<GatewayClient>;
}

export class Clients {
  readonly #deps: ClientsDeps;
  readonly #sessions = new Map<ServedSession, KnownClient>();
  readonly #others = new Map<string, KnownClient>();
  /** The clients of sessions that may be of another folder by now. */
  readonly #before = new Map<ServedSession, KnownClient>();

  constructor(deps: ClientsDeps) {
    this.#deps = deps;
  }

  /** At once, but for the first request of a client. */
  of(peer: Peer): GatewayClient | Promise<GatewayClient> {
    const { session, principal } = peer;
    return session === undefined
      ? this.#known(this.#others, principal.id, peer)
      : this.#known(this.#sessions, session, peer);
  }

  #known<Key>(clients: Map<Key, KnownClient>, key: Key, peer: Peer) {
    const known = clients.get(key);
    if (known !== undefined) return known.client;
    const opening = this.#open(peer);
    const made: KnownClient = { principal: peer.principal, client: opening };
    clients.set(key, made);
    const opened = (client: GatewayClient) => {
      made.client = client;
    };
    opening.then(opened, () => {
      if (clients.get(key) === made) clients.delete(key);
    });
    return opening;
  }

  /** For `initialize`: a session cannot be asked for its roots before it is answered, and is no client of the fleet yet. */
  useFleet<Value>({ principal }: Peer, work: (fleet: GatewayFleet) => Promise<Value>): Promise<Value> {
    return this.#deps.workspaces.use(originOf(principal).workspace, work);
  }

  /** Whether the client is of the fleet. One that only listens is known by what it brought along. */
  isOf(peer: Peer, fleet: GatewayFleet): boolean {
    const known = peer.session ? this.#sessions.get(peer.session) : this.#others.get(peer.principal.id);
    if (known !== undefined) return isIn(known, fleet);
    const { workspace } = originOf(peer.principal);
    if (workspace === undefined && this.#hasOwnRoots(peer)) return false;
    return this.#deps.workspaces.isOf(fleet, workspace);
  }

  /** The session has ended. */
  forget({ session }: Peer): void {
    if (session === undefined) return;
    for (const clients of [this.#sessions, this.#before]) {
      const known = clients.get(session);
      clients.delete(session);
      if (known !== undefined) this.#close(known);
    }
  }

  /** The session is asked for its roots again with its next request. Returns whether they say where it works. */
  rootsChanged({ session, principal }: Peer): boolean {
    if (session === undefined || originOf(principal).workspace !== undefined) return false;
    const known = this.#sessions.get(session);
    this.#sessions.delete(session);
    if (known !== undefined) this.#before.set(session, known);
    return true;
  }

  /** No request comes from these callers any more. */
  forgetCallers(isMeant: (principal: Principal) => boolean): void {
    for (const [id, known] of this.#others) {
      if (!isMeant(known.principal)) continue;
      this.#others.delete(id);
      this.#close(known);
    }
  }

  /** The client of a session that has asked for something. */
  known({ session }: Peer): GatewayClient | undefined {
    const known = session && this.#sessions.get(session)?.client;
    return known instanceof GatewayClient ? known : undefined;
  }

  /** The fleet of a client, if it is open; for `initialize` that of `useFleet`. */
  fleetOf({ session, principal }: Peer): GatewayFleet | undefined {
    const known = session ? this.#sessions.get(session) : this.#others.get(principal.id);
    if (known?.client instanceof GatewayClient) return known.client.fleet;
    const { workspaces } = this.#deps;
    const { workspace } = originOf(principal);
    return workspaces.open().find((fleet) => workspaces.isOf(fleet, workspace));
  }

  /** Whether a client of the fleet is known. */
  isUsed(fleet: GatewayFleet): boolean {
    return [...this.#sessions.values(), ...this.#others.values()].some((known) => isIn(known, fleet));
  }

  close(): void {
    for (const clients of [this.#sessions, this.#others, this.#before]) {
      for (const known of clients.values()) this.#close(known);
      clients.clear();
    }
  }

  #close({ client }: KnownClient): void {
    // A client that could not be opened has nothing to close.
    void Promise.resolve(client).then((opened) => opened.close().catch(this.#deps.onError), ignore);
  }

  async #open(peer: Peer): Promise<GatewayClient> {
    const before = this.#takeBefore(peer);
    try {
      const fleet = await this.#fleetOf(peer);
      const client = await Promise.resolve(before?.client).catch(ignore);
      // A client whose folder is the same keeps what it was granted, and what has tainted it.
      if (client instanceof GatewayClient && client.fleet === fleet) return client;
      if (before !== undefined) this.#close(before);
      const { session, principal } = peer;
      const isNamed = session !== undefined || originOf(principal).client !== undefined;
      return new GatewayClient(fleet, this.#deps.route, peer, isNamed);
    } catch (error) {
      if (before !== undefined) this.#close(before);
      throw error;
    }
  }

  #takeBefore({ session }: Peer): KnownClient | undefined {
    if (session === undefined) return undefined;
    const before = this.#before.get(session);
    this.#before.delete(session);
    return before;
  }

  async #fleetOf(peer: Peer): Promise<GatewayFleet> {
    const folder = originOf(peer.principal).workspace ?? (await this.#rootOf(peer));
    return this.#deps.workspaces.fleetOf(folder);
  }

  #hasOwnRoots({ session, capabilities }: Peer): boolean {
    return this.#deps.trustsRoots && session !== undefined && isObject(capabilities['roots']);
  }

  /** The first folder among the roots of a session, if it says so in time. */
  async #rootOf(peer: Peer): Promise<string | undefined> {
    const { clock, onError } = this.#deps;
    const { session } = peer;
    if (session === undefined || !this.#hasOwnRoots(peer)) return undefined;
    let roots: unknown;
    const asked = session.ask('roots/list', {}).then((answer) => {
      roots = answer['roots'];
    }, onError);
    await settleWithin([asked], { limitMs: limits.relay.rootsMs, clock });
    const uris = Array.isArray(roots) ? roots.map((root: unknown) => (isObject(root) ? root['uri'] : undefined)) : [];
    return uris.flatMap((uri) => folderOf(uri) ?? []).at(0);
  }
}

const ignore = (): void => undefined;

const isIn = (known: KnownClient | undefined, fleet: GatewayFleet): boolean =>
  known?.client instanceof GatewayClient && known.client.fleet === fleet;

function folderOf(uri: unknown): string | undefined {
  if (typeof uri !== 'string' || !uri.startsWith('file://')) return undefined;
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}
