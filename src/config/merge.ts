// Owns who wins when several files name the same server. Pure; the losers are kept, so that they can be explained.

import type { ServerName } from '../model/names.ts';
import { type Provenance, scopeOrder } from '../model/server.ts';

export interface Claim {
  readonly name: ServerName;
  readonly provenance: Provenance;
}

export interface ShadowedBy {
  readonly lostTo: Provenance;
  /** Completes "it is not used, because …". */
  readonly because: string;
}

export type Shadowed<Each extends Claim = Claim> = Each & ShadowedBy;

export interface MergedClaims<Each extends Claim> {
  /** Sorted by name. */
  readonly winners: readonly Each[];
  readonly shadowed: readonly Shadowed<Each>[];
}

/**
 * The first claim of a name wins, so layers come strongest first. A disabled or broken entry still owns its name:
 * whoever switched a server off must not get its weaker twin instead.
 */
export function merge<Each extends Claim>(layers: readonly (readonly Each[])[]): MergedClaims<Each> {
  const owners = new Map<ServerName, Each>();
  const shadowed: Shadowed<Each>[] = [];
  for (const claim of layers.flat()) {
    const owner = owners.get(claim.name);
    if (owner === undefined) owners.set(claim.name, claim);
    else shadowed.push(shadow(claim, owner, 'a stronger file defines a server of the same name'));
  }
  return { winners: [...owners.values()].sort(byName), shadowed };
}

/** How twins are told: the cheap question is asked of every claim, the other only where it does not settle the matter. */
export interface DuplicateCheck<Each> {
  /** Equal for all that might be the same; `undefined` for what never is. */
  readonly roughKey: (claim: Each) => string | undefined;
  /** Equal for what is the same, among kin. */
  readonly exactKey: (claim: Each) => string;
}

/** The same server under two names would run twice: of those that others brought, the first one stays. */
export function dropDuplicates<Each extends Claim>(
  { winners, shadowed }: MergedClaims<Each>,
  twins: DuplicateCheck<Each>,
): MergedClaims<Each> {
  if (!winners.some(isContributed)) return { winners, shadowed };
  const families = new Map<string, Each[]>();
  for (const claim of winners) {
    const kin = twins.roughKey(claim);
    const family = kin === undefined ? undefined : families.get(kin);
    if (family) family.push(claim);
    else if (kin !== undefined) families.set(kin, [claim]);
  }
  const lost = [...families.values()].flatMap((family) => (family.length > 1 ? duplicatesIn(family, twins) : []));
  const dropped = new Set(lost.map(({ name }) => name));
  return { winners: winners.filter(({ name }) => !dropped.has(name)), shadowed: [...shadowed, ...lost] };
}

function duplicatesIn<Each extends Claim>(
  family: readonly Each[],
  { exactKey: essenceOf }: DuplicateCheck<Each>,
): Shadowed<Each>[] {
  const rank = ({ provenance }: Claim) => scopeOrder.indexOf(provenance.scope);
  const first = new Map<string, Each>();
  return [...family]
    .sort((a, b) => rank(a) - rank(b))
    .flatMap((claim) => {
      const essence = essenceOf(claim);
      const owner = first.get(essence);
      if (owner === undefined) first.set(essence, claim);
      return owner && isContributed(claim) ? [shadow(claim, owner, `it is the same as "${owner.name}"`)] : [];
    });
}

const isContributed = ({ provenance: { scope } }: Claim) => scope === 'plugin' || scope === 'imported';

export function shadow<Each extends Claim>(claim: Each, to: Claim, because: string): Shadowed<Each> {
  return { ...claim, lostTo: to.provenance, because };
}

/** By code unit: the same order on every machine, whatever its language. */
const byName = (a: Claim, b: Claim) => (a.name < b.name ? -1 : 1);
