// Owns who wins when several files name the same server. Pure; the losers are kept, so that they can be explained.

import type { ServerName } from '../model/names.ts';
import type { Provenance } from '../model/server.ts';

export interface Claim {
  readonly name: ServerName;
  readonly provenance: Provenance;
}

export interface Loser extends Claim {
  readonly lostTo: Provenance;
}

export interface Merged<Each extends Claim> {
  /** Sorted by name. */
  readonly winners: readonly Each[];
  readonly losers: readonly Loser[];
}

/**
 * The first claim of a name wins, so layers come strongest first. A disabled or broken entry still owns its name:
 * whoever switched a server off must not get its weaker twin instead.
 */
export function merge<Each extends Claim>(layers: readonly (readonly Each[])[]): Merged<Each> {
  const owners = new Map<ServerName, Each>();
  const losers: Loser[] = [];
  for (const claim of layers.flat()) {
    const owner = owners.get(claim.name);
    if (owner === undefined) owners.set(claim.name, claim);
    else losers.push({ name: claim.name, provenance: claim.provenance, lostTo: owner.provenance });
  }
  return { winners: [...owners.values()].sort(byName), losers };
}

/** By code unit: the same order on every machine, whatever its language. */
const byName = (a: Claim, b: Claim) => (a.name < b.name ? -1 : 1);
