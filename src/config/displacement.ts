// Owns which entries of the workspace may take a server's name from an entry outside of it: only those that a person approved.
// The others are shadowed; one of them that is disabled still switches the server of its name off.

import { shellWord } from '../kernel/shell-word.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { ServerName } from '../model/names.ts';
import { type Claim, type Shadowed, shadow } from './merge.ts';
import type { HostEnvironment } from './scopes.ts';
import type { ServerClaim } from './servers.ts';

/** Names that the platform's files could not bear side by side are the same name: logs and approvals are kept by them. */
export function nameKey(name: ServerName, platform: NodeJS.Platform): string {
  if (platform === 'darwin') return name.normalize('NFC').toLowerCase().normalize('NFC');
  return platform === 'win32' ? name.toLowerCase() : name;
}

export interface Contest<Each extends Claim> {
  /** The entry of the workspace. */
  readonly claim: Each;
  /** The entry outside of the workspace whose name it claims. */
  readonly owner: Each;
  /** The workspace's entry would win if it were approved. */
  readonly isStronger: boolean;
}

/** Layers come strongest first. A weaker claim to exactly the same name loses anyway and is no contest. */
export function contestsIn<Each extends Claim>(
  layers: readonly (readonly Each[])[],
  platform: NodeJS.Platform,
): readonly Contest<Each>[] {
  const claims = layers.flat();
  if (!claims.some(isInWorkspace)) return [];
  const owners = new Map<string, { readonly owner: Each; readonly at: number }>();
  for (const [at, owner] of claims.entries()) {
    const key = nameKey(owner.name, platform);
    if (!isInWorkspace(owner) && !owners.has(key)) owners.set(key, { owner, at });
  }
  return claims.flatMap((claim, at) => {
    const found = isInWorkspace(claim) ? owners.get(nameKey(claim.name, platform)) : undefined;
    if (found === undefined || (found.at < at && found.owner.name === claim.name)) return [];
    return [{ claim, owner: found.owner, isStronger: at < found.at }];
  });
}

const isInWorkspace = ({ provenance }: Claim) => provenance.inWorkspace === true;

/** An entry of the workspace that is not used until the person approves it, because its name is taken. */
export type PendingServer = Shadowed<ServerClaim>;

export interface SettledContests {
  /** Without the claims that may not displace anything. */
  readonly layers: readonly (readonly ServerClaim[])[];
  readonly pending: readonly PendingServer[];
  /** Servers that an unapproved entry switches off, each with that entry. */
  readonly switchedOff: ReadonlyMap<ServerName, PendingServer>;
}

export interface DisplacementOptions extends Pick<HostEnvironment, 'platform'> {
  /** Whether the person approved this exact entry of the workspace. */
  readonly mayDisplace?: ((claim: ServerClaim) => Promise<boolean>) | undefined;
}

export async function settleContests(
  layers: readonly (readonly ServerClaim[])[],
  { platform, mayDisplace }: DisplacementOptions,
): Promise<SettledContests> {
  const contests = contestsIn(layers, platform);
  if (contests.length === 0) return { layers, pending: [], switchedOff: new Map() };
  const approved = await Promise.all(contests.map(async ({ claim }) => (await mayDisplace?.(claim)) ?? false));
  const displaced = new Set<ServerName>();
  const lost: Contest<ServerClaim>[] = [];
  for (const [at, contest] of contests.entries()) {
    const { name } = contest.claim;
    if (approved[at]) displaced.add(name);
    // An entry below an approved one is shadowed by that: approving it would change nothing.
    else if (!displaced.has(name)) lost.push(contest);
  }
  const pending = lost.map((each) => ({ ...each, entry: shadow(each.claim, each.owner, reasonFor(each)) }));
  const dropped = new Set(lost.map(({ claim }) => claim));
  return {
    layers: layers.map((layer) => layer.filter((claim) => !dropped.has(claim))),
    pending: pending.map(({ entry }) => entry),
    switchedOff: new Map(pending.filter(isSwitch).map(({ owner, entry }) => [owner.name, entry])),
  };
}

/** Switching off is all that an unapproved entry can do to a server outside of the workspace: it only takes something away. */
const isSwitch = ({ claim, isStronger }: Contest<ServerClaim>) =>
  isStronger && 'definition' in claim && !claim.definition.settings.enabled;

function reasonFor(contest: Contest<ServerClaim>): string {
  const { claim, owner } = contest;
  const place = owner.provenance.file ?? owner.provenance.provider ?? 'the host';
  if (isSwitch(contest)) return `it is not approved, so it only switches off the server of ${place} that has its name`;
  return `it is not approved, and ${place} has a server of the same name; approve it with: plexus approve ${shellWord(claim.name)}`;
}

/** Warns of each pending entry at its own file. */
export function pendingDiagnostics({ pending, switchedOff }: SettledContests): readonly Diagnostic[] {
  const switches = new Set(switchedOff.values());
  return pending.map((entry) => {
    const { name: server, provenance } = entry;
    const place = provenance.file === undefined ? {} : { file: provenance.file };
    if (switches.has(entry))
      return {
        severity: 'warning',
        code: 'SERVER_DENIED',
        server,
        message: `server "${server}" is switched off by an entry of the workspace, which is not approved`,
        remedy: 'To use it here, name it in "enabled_servers" in your own file.',
        ...place,
      };
    return {
      severity: 'warning',
      code: 'SERVER_UNTRUSTED',
      server,
      message: `this server "${server}" is not used, because it is not approved and another of that name is yours`,
      remedy: `If you trust it, approve it with: plexus approve ${shellWord(server)}`,
      ...place,
    };
  });
}
