// Owns the fleets of the gateway: its own, and one for each workspace that clients work in. A fleet is a runtime of its own, so no
// client gets the servers, rules or results of another folder; what may be shared, the session pool of the process shares.

import { stat } from 'node:fs/promises';
import type { Runtime } from '../api.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
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

interface OpenedFleet {
  readonly opening: Promise<GatewayFleet>;
  /** Requests that are about to use it. */
  waiting: number;
}

export class Workspaces {
  readonly own: GatewayFleet;
  readonly #options: WorkspacesOptions;
  readonly #fleets = new Map<string, OpenedFleet>();
  readonly #opened = new Set<GatewayFleet>();
  readonly #machineLines = new Map<ServerName, ServerLine>();

  constructor(runtime: Runtime, options: WorkspacesOptions) {
    this.#options = options;
    this.own = new GatewayFleet(runtime, undefined, this.#machineLines);
    options.onFleet(this.own);
  }

  async fleetOf(folder: string | undefined): Promise<GatewayFleet> {
    const { open, folder: own } = this.#options;
    if (folder === undefined || open === undefined || folder === own) return this.own;
    if (!this.#fleets.has(folder)) await this.#makeRoom();
    const known = this.#fleets.get(folder) ?? { opening: this.#open(folder, open), waiting: 0 };
    // The one that was asked for least recently comes first.
    this.#fleets.delete(folder);
    this.#fleets.set(folder, known);
    known.waiting++;
    try {
      return await known.opening;
    } catch (error) {
      if (this.#fleets.get(folder) === known) this.#fleets.delete(folder);
      throw error;
    } finally {
      // Its client is known a few microtasks later.
      setImmediate(() => known.waiting--);
    }
  }

  /** At the limit, the fleet without clients that was used least recently goes. */
  async #makeRoom(): Promise<void> {
    if (this.#fleets.size < limits.relay.workspaces) return;
    for (const [folder, known] of this.#fleets) {
      if (known.waiting > 0) continue;
      const fleet = await known.opening;
      // Meanwhile a request may have asked for it.
      if (known.waiting > 0 || this.#fleets.get(folder) !== known || this.#options.isUsed(fleet)) continue;
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
    const fleet = new GatewayFleet(await open(folder), folder, this.#machineLines);
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
    const settled = await Promise.allSettled([...this.#fleets.values()].map(({ opening }) => opening));
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
