// Owns the names by which a model calls tools. A clean canonical name depends on the ToolId alone, and no name in any style
// depends on which server connected first.

import { limits } from '../model/limits.ts';
import { hashOfKey, type QualifiedName, type ToolId, toolKey } from '../model/names.ts';
import { sanitize } from '../model/spellings.ts';
import type { ToolRef } from '../model/tool.ts';

/** `mcp__s__t`, `mcp__s_t`, `mcp_s_t`, `t`. */
export type NamingStyle = 'canonical' | 'compact' | 'single' | 'bare';

export interface NamingOptions {
  readonly style?: NamingStyle;
  /** The longest name that the provider of the model accepts. */
  readonly maxLength?: number;
  /** Names that are taken, such as those of the host's own tools: no server's tool gets one. */
  readonly reserved?: ReadonlySet<string>;
}

/** No underscore at an edge and no two in a row, so a canonical name made of clean parts can be read in one way only. */
const clean = /^[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$/;

const joinName: Readonly<Record<NamingStyle, (id: ToolId) => string>> = {
  canonical: ({ server, tool }) => `mcp__${server}__${tool}`,
  compact: ({ server, tool }) => `mcp__${server}_${tool}`,
  single: ({ server, tool }) => `mcp_${server}_${tool}`,
  bare: ({ tool }) => tool,
};

export const namingStyles = Object.keys(joinName) as readonly NamingStyle[];

/**
 * Names for all tools of one catalog, unique, under their `toolKey`.
 *
 * Of two tools that would get the same name, neither does: each plain name gets a hash, so that a new server can never take
 * over a name that meant another server's tool a moment ago. In the canonical style two plain names never collide, and a
 * tool keeps its name whichever servers come and go. In the other styles a tool has its hashed name as long as its rival is
 * connected.
 */
export function assignNames(ids: readonly ToolId[], options: NamingOptions = {}): ReadonlyMap<string, QualifiedName> {
  const { style = 'canonical', maxLength = limits.toolNameLength, reserved = nothing } = options;
  const names = new Map<string, QualifiedName>();
  const isClean = new Map<string, boolean>();
  const claim = (id: ToolId) => {
    const isCleanServer = isClean.get(id.server) ?? clean.test(id.server);
    isClean.set(id.server, isCleanServer);
    return claimOf(id, isCleanServer, style, maxLength);
  };
  // Plain canonical names can be read in one way only: they collide with nothing but names that look like a hashed one.
  let mayCollide = style !== 'canonical' || [...reserved].some(isCanonical);
  for (const id of ids) {
    const { key, name, isPlain } = claim(id);
    names.set(key, name);
    mayCollide ||= !isPlain;
  }
  if (mayCollide && !areDistinct(names, reserved)) settle(names, ids.map(claim), { style, maxLength, reserved });
  return names;
}

/** The tool's name in rules and advice, whatever style the model reads: it says which server the tool belongs to. */
export function canonicalName(id: ToolId): QualifiedName {
  return claimOf(id, clean.test(id.server), 'canonical', limits.toolNameLength).name;
}

const nothing: ReadonlySet<string> = new Set();

/** A name that no tool got, because several would have it or because it is reserved. */
export interface NameCollision {
  readonly name: QualifiedName;
  readonly isReserved: boolean;
  /** The tools that would have it, with the names that they have instead. */
  readonly tools: readonly ToolRef[];
}

/** In the canonical style, plain names collide with reserved ones alone. */
export function collisionsAmong(
  tools: readonly { readonly id: ToolId; readonly name: QualifiedName }[],
  { style = 'canonical', reserved = nothing }: NamingOptions,
): readonly NameCollision[] {
  if (style === 'canonical' && ![...reserved].some(isCanonical)) return [];
  const rivals = new Map<QualifiedName, ToolRef[]>();
  for (const { id, name } of tools) {
    const wanted = joinName[style](id);
    if (wanted === name) continue;
    const others = rivals.get(wanted);
    if (others) others.push({ ...id, name });
    else rivals.set(wanted, [{ ...id, name }]);
  }
  return [...rivals].flatMap(([name, refs]) => {
    const isReserved = reserved.has(name);
    return isReserved || refs.length > 1 ? [{ name, isReserved, tools: refs }] : [];
  });
}

const isCanonical = (name: string) => name.startsWith('mcp__');

function areDistinct(names: ReadonlyMap<string, QualifiedName>, reserved: ReadonlySet<string>): boolean {
  const taken = new Set(names.values());
  if (taken.size < names.size) return false;
  for (const name of reserved) if (taken.has(name)) return false;
  return true;
}

/** In rounds: tools whose names collide get other names in the next, until all differ. A round looks at a set, never at an order. */
function settle(
  names: Map<string, QualifiedName>,
  all: readonly Claim[],
  { style, maxLength, reserved }: Required<NamingOptions>,
): void {
  const claims = new Map(all.map((claim) => [claim.key, claim]));
  const rounds = new Map(all.map(({ key, isPlain }) => [key, isPlain ? 0 : 1]));
  for (;;) {
    const colliding = collidingIn(names, rounds, reserved);
    if (colliding.length === 0) return;
    for (const key of colliding) {
      const round = (rounds.get(key) ?? 0) + 1;
      rounds.set(key, round);
      const claim = claims.get(key);
      if (claim) names.set(key, hashedName(claim, { style, maxLength, round }));
    }
  }
}

/** The tools that must get another name. Against plain names a hashed one is kept: the plain ones can still be hashed. */
function collidingIn(
  names: ReadonlyMap<string, QualifiedName>,
  rounds: ReadonlyMap<string, number>,
  reserved: ReadonlySet<string>,
): readonly string[] {
  const keysByName = new Map<QualifiedName, string[]>();
  for (const [key, name] of names) {
    const sameName = keysByName.get(name);
    if (sameName) sameName.push(key);
    else keysByName.set(name, [key]);
  }
  return [...keysByName].flatMap(([name, keys]) => {
    if (keys.length === 1 && !reserved.has(name)) return [];
    const plain = keys.filter((key) => rounds.get(key) === 0);
    return plain.length > 0 ? plain : keys;
  });
}

/** The name that one tool would get if it were the only one. */
interface Claim {
  readonly key: string;
  readonly id: ToolId;
  readonly isPlain: boolean;
  readonly name: QualifiedName;
}

function claimOf(id: ToolId, isCleanServer: boolean, style: NamingStyle, maxLength: number): Claim {
  const isCleanTool = clean.test(id.tool);
  // Clean parts hold nothing to escape: this is their `toolKey`, at a fraction of its cost.
  const key = isCleanServer && isCleanTool ? `["${id.server}","${id.tool}"]` : toolKey(id);
  const plain = isCleanTool && (isCleanServer || style === 'bare') ? joinName[style](id) : '';
  const isPlain = plain !== '' && plain.length <= maxLength;
  return { key, id, isPlain, name: isPlain ? plain : hashedName({ id, key }, { style, maxLength, round: 1 }) };
}

interface HashOptions {
  readonly style: NamingStyle;
  readonly maxLength: number;
  /** Two equal hashes, which only an attacker can have searched for, differ in the next round. */
  readonly round: number;
}

/** The same tools are named again at every change of the catalog, and hashing costs more than everything else here. */
const hashedNames = new Map<string, Map<string, QualifiedName>>();
const MOST_HASHED_NAMES = 20_000;

function hashedName({ id, key }: Pick<Claim, 'id' | 'key'>, { style, maxLength, round }: HashOptions): QualifiedName {
  const kind = `${style} ${maxLength} ${round}`;
  const ofKind = hashedNames.get(kind) ?? new Map<string, QualifiedName>();
  const cached = ofKind.get(key);
  if (cached !== undefined) return cached;
  const hash = hashOfKey(round === 1 ? key : `${key}#${round}`);
  const room = maxLength - hash.length - 1;
  const name = `${sanitizedName(id, style).slice(0, room).replace(/_+$/, '')}_${hash}`;
  // A full cache starts anew: names of tools that are gone leave with it.
  if (ofKind.size >= MOST_HASHED_NAMES) ofKind.clear();
  ofKind.set(key, name);
  hashedNames.set(kind, ofKind);
  return name;
}

/** The readable beginning of a hashed name, not yet shortened. */
export function sanitizedName({ server, tool }: ToolId, style: NamingStyle): string {
  return joinName[style]({ server: sanitize(server), tool: sanitize(tool) });
}
