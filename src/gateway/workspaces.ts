// Owns the fleets of the gateway: its own, and one for each workspace that clients work in. A fleet is a runtime of its own, so no
// client gets the servers, rules or results of another folder; what may be shared, the session pool of the process shares.

import { stat } from 'node:fs/promises';
import type { Runtime } from '../api.ts';
import { limits } from '../model/limits.ts';
import { codes, ProtocolError } from '../serving/protocol.ts';
import { GatewayFleet } from './gateway-fleet.ts';
import type { ServerLine } from './server-line.ts';

export interface WorkspacesOptions {
  /** Opens the runtime of a folder; without it, all clients share the gateway's own. */
  readonly open?: ((folder: string) => Promise<Runtime>) | undefined;
  /** The folder of the gateway's own fleet, which clients that work in it use too. */
  readonly folder?: string | undefined;
  /** Called with every fleet, the gateway's own included. */
  readonly onFleet: (fleet: GatewayFleet) => void;
  /** Whether a client of the fleet is there. */
  readonly isUsed: (fleet: GatewayFleet) => boolean;
}

export class Workspaces {
  readonly own: GatewayFleet;
  readonly #options: WorkspacesOptions;
  /** The one that was asked for least recently comes first. */
  readonly #fleets = new Map<string, Promise<GatewayFleet>>();
  /** How often each folder is held. */
  readonly #held = new Map<string, number>();
  readonly #opened = new Set<GatewayFleet>();
  /** Of the servers that all fleets share. */
  readonly #sharedLines = new Map<string, ServerLine>();

  constructor(runtime: Runtime, options: WorkspacesOptions) {
    this.#options = options;
    this.own = new GatewayFleet(runtime, undefined, this.#sharedLines);
    options.onFleet(this.own);
  }

  async fleetOf(folder: string | undefined): Promise<GatewayFleet> {
    const { open, folder: own } = this.#options;
    if (folder === undefined || open === undefined || folder === own) return this.own;
    const release = this.hold(folder);
    try {
      while (!this.#fleets.has(folder) && this.#fleets.size >= limits.relay.workspaces) await this.#makeRoom();
      const opening = this.#fleets.get(folder) ?? this.#open(folder, open);
      this.#fleets.delete(folder);
      this.#fleets.set(folder, opening);
      opening.catch(() => this.#fleets.get(folder) === opening && this.#fleets.delete(folder));
      return await opening;
    } finally {
      // Its client is known a few microtasks later.
      setImmediate(release);
    }
  }

  /** Runs `work` with the fleet of a folder, which stays open meanwhile. */
  async use<Value>(folder: string | undefined, work: (fleet: GatewayFleet) => Promise<Value>): Promise<Value> {
    const release = this.hold(folder);
    try {
      return await work(await this.fleetOf(folder));
    } finally {
      release();
    }
  }

  /** From now on the fleet of a folder stays open, once it is. Returns how that ends. */
  hold(folder = ''): () => void {
    this.#held.set(folder, (this.#held.get(folder) ?? 0) + 1);
    return () => {
      const others = (this.#held.get(folder) ?? 1) - 1;
      if (others > 0) this.#held.set(folder, others);
      else this.#held.delete(folder);
    };
  }

  /** At the limit, the fleet without clients that was used least recently goes. */
  async #makeRoom(): Promise<void> {
    for (const [folder, opening] of this.#fleets) {
      if (this.#held.has(folder)) continue;
      const fleet = await opening;
      // Meanwhile a request may have asked for it.
      if (this.#held.has(folder) || this.#fleets.get(folder) !== opening) continue;
      if (fleet.isBusy || this.#options.isUsed(fleet)) continue;
      this.#fleets.delete(folder);
      this.#opened.delete(fleet);
      void fleet.runtime.close().catch(fleet.parts.host.onError);
      return;
    }
    throw new ProtocolError(codes.overloaded, 'Too many workspaces are open', undefined, { status: 503 });
  }

  async #open(folder: string, open: (folder: string) => Promise<Runtime>): Promise<GatewayFleet> {
    const isFolder = await stat(folder).then(
      (found) => found.isDirectory(),
      () => false,
    );
    if (!isFolder)
      throw new ProtocolError(codes.invalidRequest, 'The workspace is no folder of this machine', undefined, {
        status: 400,
      });
    const fleet = new GatewayFleet(await open(folder), folder, this.#sharedLines);
    this.#opened.add(fleet);
    this.#options.onFleet(fleet);
    return fleet;
  }

  /** Those that are open by now. */
  open(): readonly GatewayFleet[] {
    return [this.own, ...this.#opened];
  }

  /** The same with those that are being opened, the gateway's own first. */
  async all(): Promise<readonly GatewayFleet[]> {
    const settled = await Promise.allSettled(this.#fleets.values());
    return [this.own, ...settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))];
  }

  /** Closes the runtimes of workspaces; the gateway's own belongs to its host. */
  async close(): Promise<void> {
    const [, ...others] = await this.all();
    this.#fleets.clear();
    this.#opened.clear();
    await Promise.all(others.map(({ runtime }) => runtime.close()));
  }
}
