// Owns the effective configuration: all sources merged, and for each server that is not used the reason. Starts nothing, and
// resolves no placeholder.

import { canonicalJson } from '../kernel/json.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { ServerName } from '../model/names.ts';
import type { IdleRule, RuleText } from '../model/rule.ts';
import type { InputRequest, Provenance, ServerDefinition } from '../model/server.ts';
import type { EnvDefaults } from './define.ts';
import { type DiscoveredConfig, discover, type LoadOptions, type ReadPlace } from './discover.ts';
import { type PendingServer, pendingDiagnostics, type SettledContests, settleContests } from './displacement.ts';
import { readEnvDefaults } from './env-defaults.ts';
import { createExplain, type Explain } from './explain.ts';
import { inputSourceKey } from './inputs.ts';
import { findRefusal, inWords, type ListedServers, type ListRefusal } from './lists.ts';
import { type DuplicateCheck, dropDuplicates, isContributed, merge, type Shadowed, shadow } from './merge.ts';
import type { Settings } from './schema.ts';
import { isOwnScope } from './scopes.ts';
import { provenanceOf, type ServerClaim } from './servers.ts';
import { mergeSettings, raisedBudget, type SettingClaim } from './settings.ts';
import type { GatewaySource } from './sources/docker-gateway.ts';
import type { Document } from './sources/document.ts';

/** An entry that owns its name but cannot be used. */
export type InvalidServer = ServerClaim & { readonly diagnostic: Diagnostic };

export interface LoadedConfig {
  /** Frozen, sorted by name. */
  readonly definitions: readonly ServerDefinition[];
  readonly invalid: readonly InvalidServer[];
  readonly shadowed: readonly Shadowed[];
  /** Those of the shadowed entries that would be used if the person approved them. */
  readonly pending: readonly PendingServer[];
  /** Servers that a setting or a list keeps out of use, each with a reason that completes "it is not in use: …". */
  readonly refused: ReadonlyMap<ServerName, string>;
  /** Files of the workspace that hold too much and were not read: as their rules are unknown, every tool asks. */
  readonly capped: readonly Diagnostic[];
  /** Servers of files that the enterprise's file switches off. */
  readonly suppressed: readonly Shadowed[];
  readonly rules: readonly RuleText[];
  /** Rules that were read but have no effect. */
  readonly idleRules: readonly IdleRule[];
  readonly lists: readonly ListedServers[];
  /** By the source that declares them, as `inputSourceKey` names it. */
  readonly promptInputs: ReadonlyMap<string, readonly InputRequest[]>;
  readonly settings: Settings;
  /** The defaults of entries that environment variables change. */
  readonly defaults: EnvDefaults;
  readonly diagnostics: readonly Diagnostic[];
  /** The files that were read, strongest first. */
  readonly files: readonly string[];
  /** Every path whose change may change the configuration, whether or not it exists. */
  readonly watched: readonly string[];
  readonly explain: Explain;
  /** Files of the workspace that would loosen something, with the text that was read and that the user may approve. */
  readonly loosening: readonly Loosening[];
}

export interface Loosening {
  readonly file: string;
  readonly text: string;
  readonly lines: readonly Diagnostic[];
}

/** Throws only for a `configFile` that cannot be read or parsed: a caller who names a file wants that file or none. */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const timeouts = readEnvDefaults(options.env);
  const found = await discover({ ...options, defaults: timeouts.defaults });
  const effective = found.isExclusive ? found.places.filter(({ place }) => place.scope === 'enterprise') : found.places;
  const { settings, origins, raised } = mergeSettings(effective.map(({ layer }) => layer.settings));
  const gateway = await loadGateway(found, settings, options, timeouts.defaults);
  const contests = await settleContests([...effective.map(({ layer }) => layer.claims), gateway.claims], options);
  const { pending } = contests;
  const { winners, shadowed } = dropDuplicates(merge(contests.layers), sameLaunch);
  const definitions = winners.flatMap((each) => ('definition' in each ? each.definition : []));
  const lists = effective.flatMap(({ place: { file }, layer: { allowlist, denylist } }) =>
    allowlist.length + denylist.length > 0 ? [{ allowlist, denylist, ...(file !== undefined && { file }) }] : [],
  );
  const denied = denialsOf(definitions, lists);
  const unknown = effective.find(({ layer }) => layer.isUnknown)?.place.file;
  const refused = refusals(definitions, settings, { denied, offBy: found.offBy, unknown, ...contests });
  const suppressed = suppressedBy(found.places, effective, gateway.unused);
  const documents = new Map(
    found.places.flatMap(({ place, document }) => (place.file && document ? [[place.file, document]] : [])),
  );
  return {
    definitions: definitions.map((each) => switched(each, settings, refused.has(each.name))),
    invalid: winners.flatMap((each) => ('diagnostic' in each ? each : [])),
    shadowed: [...pending, ...shadowed],
    pending,
    refused,
    capped: effective.filter(isCapped).flatMap(({ layer }) => layer.capped ?? []),
    suppressed,
    rules: effective.flatMap(({ layer }) => layer.rules),
    idleRules: effective.flatMap(({ layer }) => layer.idleRules),
    lists,
    promptInputs: inputsOf(effective),
    settings,
    defaults: timeouts.defaults,
    diagnostics: [
      ...timeouts.diagnostics,
      ...found.diagnostics,
      ...effective.flatMap(diagnosticsOf),
      ...(await raisedBudgets(raised, settings, documents)),
      ...gateway.diagnostics,
      ...pendingDiagnostics(contests),
      ...denials(denied),
    ],
    files: found.places.flatMap(({ place }) => place.file ?? []),
    watched: found.watched,
    loosening: effective.flatMap(({ place: { file }, text, layer: { loosenings: lines } }) =>
      file !== undefined && text !== undefined && lines.length > 0 ? [{ file, text, lines }] : [],
    ),
    explain: createExplain({
      winners,
      shadowed: [...pending, ...shadowed, ...suppressed],
      refused,
      settings,
      origins,
      defaults: timeouts.defaults,
      documents,
    }),
  };
}

/**
 * Docker's gateway is the weakest source. Unless a setting asks for it, it counts only where no other server is configured: not
 * with a `configFile`, and not when a file cannot be read, since that file may hold servers.
 */
async function loadGateway(
  { places, isExclusive, offBy }: DiscoveredConfig,
  settings: Settings,
  options: LoadOptions,
  defaults: EnvDefaults,
): Promise<GatewaySource & { readonly unused: readonly ServerClaim[] }> {
  const mayHoldServers = ({ place, layer, document }: ReadPlace) =>
    layer.claims.length > 0 || (place.file !== undefined && document === undefined);
  const isAlone = options.configFile !== undefined || isExclusive;
  const isAskedFor = settings.gateway === 'on';
  const isWanted = isAskedFor || (settings.gateway === 'auto' && !isAlone && !places.some(mayHoldServers));
  const isOff = !options.discover || offBy !== undefined;
  // Listed with the servers of other files that an exclusive enterprise file switches off.
  const isUnused = isExclusive && !isAskedFor && asksForGateway(places);
  if (isOff || !(isWanted || isUnused)) return { claims: [], diagnostics: [], unused: [] };
  const { readGateway, unusedGateway } = await import('./sources/docker-gateway.ts');
  const { docker, waitBudget } = options;
  const asking = { environment: options, isAskedFor, defaults, settings, docker, waitBudget };
  if (isUnused) return { claims: [], diagnostics: [], unused: unusedGateway(asking) };
  return { ...(await readGateway(asking)), unused: [] };
}

const asksForGateway = (places: readonly ReadPlace[]) =>
  mergeSettings(places.map(({ layer }) => layer.settings)).settings.gateway === 'on';

/** Plugins and other agents' files hold no rules, so that leaving them out loosens nothing. */
const isCapped = ({ place, layer }: ReadPlace) => layer.capped !== undefined && !isContributed(place.scope);

function diagnosticsOf(each: ReadPlace): readonly Diagnostic[] {
  const { diagnostics } = each.layer;
  if (!isCapped(each)) return diagnostics;
  return diagnostics.map((one) => ({ ...one, message: `${one.message}, and until it is shortened every tool asks` }));
}

function raisedBudgets(
  raised: readonly SettingClaim[],
  settings: Settings,
  documents: ReadonlyMap<string, Document>,
): Promise<readonly Diagnostic[]> {
  return Promise.all(
    raised.map(async (claim) => {
      const { file, key } = claim.provenance;
      const position = file === undefined ? undefined : await documents.get(file)?.locate(key);
      return { ...raisedBudget(claim, settings), ...(file !== undefined && { file, ...position }) };
    }),
  );
}

/** One file may be read for two apps, and then stands in two layers. */
function inputsOf(places: readonly ReadPlace[]): LoadedConfig['promptInputs'] {
  const inputs = new Map<string, readonly InputRequest[]>();
  for (const { place, layer } of places.filter((each) => each.layer.promptInputs.length > 0)) {
    const source = inputSourceKey(place);
    inputs.set(source, [...(inputs.get(source) ?? []), ...layer.promptInputs]);
  }
  return inputs;
}

const launchOf = (claim: ServerClaim) => ('definition' in claim ? claim.definition.launch : undefined);

/** Two entries are duplicates when they start the same command or reach the same address. */
const sameLaunch: DuplicateCheck<ServerClaim> = {
  roughKey: (claim) => {
    const launch = launchOf(claim);
    if (launch === undefined || launch.kind === 'in-process') return undefined;
    return launch.kind === 'stdio' ? `${launch.command} ${launch.args.join(' ')}` : launch.url;
  },
  exactKey: (claim) => canonicalJson(launchOf(claim)),
};

type Reasons = ReadonlyMap<ServerName, string>;
type Denials = ReadonlyMap<ServerName, ListRefusal>;

function denialsOf(definitions: readonly ServerDefinition[], lists: readonly ListedServers[]): Denials {
  if (lists.length === 0) return new Map();
  return new Map(
    definitions.flatMap((definition): [ServerName, ListRefusal][] => {
      const refusal = findRefusal(lists, definition);
      return refusal === undefined ? [] : [[definition.name, refusal]];
    }),
  );
}

interface Refusers extends Pick<SettledContests, 'switchedOff'> {
  readonly denied: Denials;
  readonly offBy: Provenance | undefined;
  /** The person's own file that is broken and may forbid anything. */
  readonly unknown: string | undefined;
}

function refusals(
  definitions: readonly ServerDefinition[],
  { disabledServers, enabledServers }: Settings,
  { denied, offBy, unknown, switchedOff }: Refusers,
): Reasons {
  const names = definitions.map(({ name }) => name);
  if (offBy) return new Map(names.map((name) => [name, `${offBy.file ?? 'a setting'} switches everything off`]));
  const disabled = names.filter((name) => disabledServers.includes(name));
  const off = [...switchedOff].filter(([name]) => !enabledServers.includes(name));
  const doubtful = unknown === undefined ? [] : definitions.filter(({ provenance }) => !isOwnScope(provenance.scope));
  return new Map([
    ...doubtful.map(({ name }) => [name, `${unknown} is broken, and it may forbid this server`] as const),
    ...off.map(([name, { provenance }]) => [name, `${provenance.file ?? 'the workspace'} switches it off`] as const),
    ...disabled.map((name) => [name, '"disabledServers" names it'] as const),
    ...[...denied].map(([name, refusal]) => [name, inWords(refusal)] as const),
  ]);
}

/** A server that a list or setting refuses keeps its name and is switched off; `refused` has the reason. */
function switched(definition: ServerDefinition, { enabledServers }: Settings, isRefused: boolean): ServerDefinition {
  const enabled = !isRefused && (definition.settings.enabled || enabledServers.includes(definition.name));
  if (enabled === definition.settings.enabled) return definition;
  return Object.freeze({ ...definition, settings: Object.freeze({ ...definition.settings, enabled }) });
}

/** Names the file of the list, which is what the user can change. */
function denials(denied: Denials): readonly Diagnostic[] {
  return [...denied].map(([server, { because, file }]) => ({
    severity: 'warning',
    code: 'SERVER_DENIED',
    server,
    message: `server "${server}" is not used, because ${because}`,
    remedy: 'Change that list, or ask its author.',
    ...(file !== undefined && { file }),
  }));
}

function suppressedBy(
  all: readonly ReadPlace[],
  effective: readonly ReadPlace[],
  gateway: readonly ServerClaim[],
): readonly Shadowed<ServerClaim>[] {
  const [enterprise] = effective;
  if (enterprise === undefined || all.length === effective.length) return [];
  const suppressed = all.filter((each) => !effective.includes(each)).flatMap(({ layer }) => layer.claims);
  const to = { name: '', provenance: provenanceOf(enterprise.place, []) };
  const because = `the enterprise configuration ${enterprise.place.file ?? ''} replaces all others`;
  return [...suppressed, ...gateway].map((claim) => shadow(claim, to, because));
}
