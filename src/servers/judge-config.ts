// Owns what a person's approvals mean for a loaded configuration: which remote servers of the workspace nobody approved, what
// unapproved entries claim in vain, and how many of them are connected.

import type { LoadOptions } from '../config/discover.ts';
import type { LoadedConfig } from '../config/load.ts';
import { claimsNothing, withoutClaims } from '../config/unapproved-limits.ts';
import { shellWord } from '../kernel/shell-word.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { isRemote, type ServerDefinition } from '../model/server.ts';
import type { Gate, Judgement } from '../trust/gate.ts';

export interface JudgedConfig extends LoadedConfig {
  /** The remote servers of the workspace that nobody approved: each is looked at, or asks before it is connected. */
  readonly unapproved: ReadonlyMap<ServerName, 'restricted' | 'asks'>;
  /** Those of them that are not connected because there are too many. */
  readonly overCap: ReadonlySet<ServerName>;
}

type Verdict = Judgement['kind'] | 'unknown';

export async function judgeConfig(config: LoadedConfig, gate: Pick<Gate, 'judge'>): Promise<JudgedConfig> {
  const judged = await Promise.all(
    config.definitions.map(async (definition) => {
      const limited = definition.provenance.inWorkspace ? withoutClaims(definition, config.defaults) : definition;
      const isAsked = definition.provenance.inWorkspace && (limited !== definition || isRemote(definition));
      // Others are not judged: looking up the approval of a process follows links.
      const verdict = isAsked ? await verdictOf(gate, definition) : 'own';
      const isTrusted = verdict === 'approved' || verdict === 'own';
      return { definition: isTrusted ? definition : limited, isLimited: !isTrusted && limited !== definition, verdict };
    }),
  );
  const found = judged.flatMap(({ definition, isLimited }) => (isLimited ? [claimsNothing(definition)] : []));
  return {
    ...config,
    definitions: found.length === 0 ? config.definitions : judged.map(({ definition }) => definition),
    diagnostics: found.length === 0 ? config.diagnostics : [...config.diagnostics, ...found],
    unapproved: new Map(
      judged.flatMap(({ definition, verdict }): [ServerName, 'restricted' | 'asks'][] => {
        if (!isRemote(definition) || verdict === 'approved' || verdict === 'own') return [];
        return [[definition.name, verdict === 'restricted' ? 'restricted' : 'asks']];
      }),
    ),
    overCap: new Set(),
  };
}

/** Only an approval that is stored counts: an answer for one session was about another server. */
export const approvedBy =
  (gate: Pick<Gate, 'judge'>): NonNullable<LoadOptions['mayDisplace']> =>
  async (claim) =>
    'definition' in claim && (await verdictOf(gate, claim.definition)) === 'approved';

/** An entry that cannot be judged, such as one whose variables have no end, is not approved; opening it says what is wrong. */
async function verdictOf(gate: Pick<Gate, 'judge'>, definition: ServerDefinition): Promise<Verdict> {
  try {
    return (await gate.judge(definition)).kind;
  } catch {
    return 'unknown';
  }
}

/** Connects the first of the unapproved servers: a repository must not make the host reach hundreds of addresses. */
export function withCap(config: JudgedConfig): JudgedConfig {
  const { definitions, refused, unapproved } = config;
  const connected = definitions.filter(
    ({ name, settings }) => settings.enabled && !refused.has(name) && unapproved.get(name) === 'restricted',
  );
  const rest = connected.slice(limits.unapprovedServers).map(({ name }) => name);
  if (rest.length === 0) return config;
  const reasonFor = (name: ServerName) =>
    `nobody approved it, and ${limits.unapprovedServers} such servers are connected already; approve it with: plexus approve ${shellWord(name)}`;
  return {
    ...config,
    refused: new Map([...refused, ...rest.map((name) => [name, reasonFor(name)] as const)]),
    diagnostics: [...config.diagnostics, cappedDiagnostic(rest.length)],
    overCap: new Set(rest),
  };
}

function cappedDiagnostic(count: number): Diagnostic {
  const more = count === 1 ? 'one more remote server' : `${count} more remote servers`;
  return {
    severity: 'warning',
    code: 'SERVER_UNTRUSTED',
    message: `${more} of the workspace ${count === 1 ? 'is' : 'are'} not connected, because nobody approved ${count === 1 ? 'it' : 'them'} and ${limits.unapprovedServers} such servers are connected already`,
    remedy: 'See their names with: plexus list --json. Approve those that you trust with: plexus approve NAME',
  };
}
