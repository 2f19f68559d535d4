// Owns how a model spells a tool. A clean name of the canonical style depends on the ToolId alone, and no name of any style on
// who arrived first.

import { limits } from '../model/limits.ts';
import { hashOfKey, type QualifiedName, type ToolId, toolKey } from '../model/names.ts';
import { sanitize } from '../model/spellings.ts';

/** `mcp__s__t`, `mcp__s_t`, `mcp_s_t`, `t`. */
export type NamingStyle = 'canonical' | 'compact' | 'single' | 'bare';

export interface NamingOptions {
  readonly style?: NamingStyle;
  /** The longest name that the provider of the model accepts. */
  readonly maxLength?: number;
  /** Names of others, such as the host's own tools: no server's tool gets one. */
  readonly reserved?: ReadonlySet<string>;
}

/** No underscore at an edge and no two in a row, so a canonical name made of clean parts can be read in one way only. */
const clean = /^[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$/;

const joined: Readonly<Record<NamingStyle, (id: ToolId) => string>> = {
  canonical: ({ server, tool }) => `mcp__${server}__${tool}`,
  compact: ({ server, tool }) => `mcp__${server}_${tool}`,
  single: ({ server, tool }) => `mcp_${server}_${tool}`,
  bare: ({ tool }) => tool,
};

export const namingStyles = Object.keys(joined) as readonly NamingStyle[];

/**
 * Names for all tools of one catalog, unique, under their `toolKey`.
 *
 * Of two that would be called the same, neither is: each plain one is hashed, so that no arrival can take over a name that
 * meant somebody else a moment ago. In the canonical style two plain names never meet, and a tool keeps its name whoever
 * comes and goes. In the other styles a tool has its hashed name for as long as its rival is there.
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
  // Plain names of the canonical style can be read in one way only: they meet nobody but those who are called like a hash.
  let mayMeet = style !== 'canonical' || [...reserved].some((name) => name.startsWith('mcp__'));
  for (const id of ids) {
    const { key, name, isPlain } = claim(id);
    names.set(key, name);
    mayMeet ||= !isPlain;
  }
  if (mayMeet && !areDistinct(names, reserved)) settle(names, ids.map(claim), { style, maxLength, reserved });
  return names;
}

/** What a tool is called in rules and advice, whatever style a model reads: a name that says whose tool it is. */
export function canonicalName(id: ToolId): QualifiedName {
  return claimOf(id, clean.test(id.server), 'canonical', limits.toolNameLength).name;
}

const nothing: ReadonlySet<string> = new Set();

function areDistinct(names: ReadonlyMap<string, QualifiedName>, reserved: ReadonlySet<string>): boolean {
  const taken = new Set(names.values());
  if (taken.size < names.size) return false;
  for (const name of reserved) if (taken.has(name)) return false;
  return true;
}

/** Rounds: whoever meets somebody gets another name in the next, until all differ. Each decides over a set, never over an order. */
function settle(
  names: Map<string, QualifiedName>,
  all: readonly Claim[],
  { style, maxLength, reserved }: Required<NamingOptions>,
): void {
  const claims = new Map(all.map((claim) => [claim.key, claim]));
  const rounds = new Map(all.map(({ key, isPlain }) => [key, isPlain ? 0 : 1]));
  for (;;) {
    const meeting = meetingIn(names, rounds, reserved);
    if (meeting.length === 0) return;
    for (const key of meeting) {
      const round = (rounds.get(key) ?? 0) + 1;
      rounds.set(key, round);
      const claim = claims.get(key);
      if (claim) names.set(key, hashedName(claim, { style, maxLength, round }));
    }
  }
}

/** Who must get another name. A hashed name is kept against plain ones: they can still be hashed. */
function meetingIn(
  names: ReadonlyMap<string, QualifiedName>,
  rounds: ReadonlyMap<string, number>,
  reserved: ReadonlySet<string>,
): readonly string[] {
  const holders = new Map<QualifiedName, string[]>();
  for (const [key, name] of names) {
    const met = holders.get(name);
    if (met) met.push(key);
    else holders.set(name, [key]);
  }
  return [...holders].flatMap(([name, keys]) => {
    if (keys.length === 1 && !reserved.has(name)) return [];
    const plain = keys.filter((key) => rounds.get(key) === 0);
    return plain.length > 0 ? plain : keys;
  });
}

/** How one tool would be called if it were alone. */
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
  const plain = isCleanTool && (isCleanServer || style === 'bare') ? joined[style](id) : '';
  const isPlain = plain !== '' && plain.length <= maxLength;
  return { key, id, isPlain, name: isPlain ? plain : hashedName({ id, key }, { style, maxLength, round: 1 }) };
}

interface Hashing {
  readonly style: NamingStyle;
  readonly maxLength: number;
  /** Two hashes that are equal, which only somebody who searched for them can have made, differ in the next round. */
  readonly round: number;
}

/** The same tools are named again at every change of the catalog, and a hash costs more than all the rest. */
const known = new Map<string, Map<string, QualifiedName>>();
const MOST_KNOWN = 20_000;

function hashedName({ id, key }: Pick<Claim, 'id' | 'key'>, { style, maxLength, round }: Hashing): QualifiedName {
  const kind = `${style} ${maxLength} ${round}`;
  const alike = known.get(kind) ?? new Map<string, QualifiedName>();
  const before = alike.get(key);
  if (before !== undefined) return before;
  const hash = hashOfKey(round === 1 ? key : `${key}#${round}`);
  const room = maxLength - hash.length - 1;
  const name = `${sanitizedName(id, style).slice(0, room).replace(/_+$/, '')}_${hash}`;
  // What nobody asks for any more goes with the rest.
  if (alike.size >= MOST_KNOWN) alike.clear();
  alike.set(key, name);
  known.set(kind, alike);
  return name;
}

/** What a hashed name begins with, uncut. */
export function sanitizedName({ server, tool }: ToolId, style: NamingStyle): string {
  return joined[style]({ server: sanitize(server), tool: sanitize(tool) });
}
