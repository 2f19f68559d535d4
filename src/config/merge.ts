// Owns which entry wins when several files define the same server. Pure; shadowed entries are kept, so that they can be
// explained.

import type { ServerName } from '../model/names.ts';
import { type Provenance, type Scope, scopeOrder } from '../model/server.ts';

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
 * The first claim of a name wins, so layers come strongest first. A disabled or broken entry still owns its name: a user who
 * switched a server off must not get a weaker file's server of that name instead.
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

/** Two keys that find duplicates: the cheap one is made for every claim, the exact one only where the cheap ones are equal. */
export interface DuplicateCheck<Each> {
  /** Equal for claims that might be duplicates; `undefined` for a claim that never is one. */
  readonly roughKey: (claim: Each) => string | undefined;
  /** Equal for duplicates, among claims with the same rough key. */
  readonly exactKey: (claim: Each) => string;
}

/** The same server under two names would run twice. Of duplicates that plugins and other agents contribute, the first one stays. */
export function dropDuplicates<Each extends Claim>(
  { winners, shadowed }: MergedClaims<Each>,
  check: DuplicateCheck<Each>,
): MergedClaims<Each> {
  if (!winners.some(isContributedClaim)) return { winners, shadowed };
  const alike = new Map<string, Each[]>();
  for (const claim of winners) {
    const key = check.roughKey(claim);
    const others = key === undefined ? undefined : alike.get(key);
    if (others) others.push(claim);
    else if (key !== undefined) alike.set(key, [claim]);
  }
  const duplicates = [...alike.values()].flatMap((claims) => (claims.length > 1 ? duplicatesIn(claims, check) : []));
  const dropped = new Set(duplicates.map(({ name }) => name));
  return { winners: winners.filter(({ name }) => !dropped.has(name)), shadowed: [...shadowed, ...duplicates] };
}

function duplicatesIn<Each extends Claim>(
  claims: readonly Each[],
  { exactKey }: DuplicateCheck<Each>,
): Shadowed<Each>[] {
  const rank = ({ provenance }: Claim) => scopeOrder.indexOf(provenance.scope);
  const first = new Map<string, Each>();
  return [...claims]
    .sort((a, b) => rank(a) - rank(b))
    .flatMap((claim) => {
      const key = exactKey(claim);
      const owner = first.get(key);
      if (owner === undefined) first.set(key, claim);
      // A repository's entry under another name takes nothing from the servers of the user's own plugins and imports.
      const mayOwn = owner && (!owner.provenance.inWorkspace || claim.provenance.inWorkspace);
      return mayOwn && isContributedClaim(claim) ? [shadow(claim, owner, `it is the same as "${owner.name}"`)] : [];
    });
}

/** Plugins and other agents' files contribute servers, and nothing else. */
export const isContributed = (scope: Scope) => scope === 'plugin' || scope === 'imported';

const isContributedClaim = ({ provenance: { scope } }: Claim) => isContributed(scope);

export function shadow<Each extends Claim>(claim: Each, to: Claim, because: string): Shadowed<Each> {
  return { ...claim, lostTo: to.provenance, because };
}

/** By code unit: the same order on every machine, whatever its locale. */
const byName = (a: Claim, b: Claim) => (a.name < b.name ? -1 : 1);
