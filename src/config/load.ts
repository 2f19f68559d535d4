// Owns the configuration as it counts: everything that was found, merged, with what others keep out of use and why.
// Starts nothing, and resolves no placeholder.

import { canonicalJson } from '../kernel/json.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { ServerName } from '../model/names.ts';
import type { IdleRule, RuleText } from '../model/rule.ts';
import type { Provenance, ServerDefinition } from '../model/server.ts';
import type { EnvDefaults } from './define.ts';
import { type DiscoveredConfig, discover, type LoadOptions, type ReadPlace } from './discover.ts';
import { readEnvDefaults } from './env-defaults.ts';
import { createExplain, type Explain } from './explain.ts';
import { declaredBy, type InputRequest } from './inputs.ts';
import { findRefusal, inWords, type ListedServers, type ListRefusal } from './lists.ts';
import { type DuplicateCheck, dropDuplicates, merge, type Shadowed, shadow } from './merge.ts';
import type { Settings } from './schema.ts';
import { provenanceOf, type ServerClaim } from './servers.ts';
import { mergeSettings } from './settings.ts';
import type { GatewaySource } from './sources/docker-gateway.ts';

/** An entry that owns its name but cannot be used. */
export type InvalidServer = ServerClaim & { readonly diagnostic: Diagnostic };

export interface LoadedConfig {
  /** Frozen, sorted by name. */
  readonly definitions: readonly ServerDefinition[];
  readonly invalid: readonly InvalidServer[];
  readonly shadowed: readonly Shadowed[];
  /** What another setting keeps out of use, by name, in words that complete "it is not in use: …". */
  readonly refused: ReadonlyMap<ServerName, string>;
  /** Servers that the enterprise's file silences. */
  readonly suppressed: readonly Shadowed[];
  readonly rules: readonly RuleText[];
  /** Those that were read and do not count. */
  readonly idleRules: readonly IdleRule[];
  readonly lists: readonly ListedServers[];
  /** By what declares them, in the words of `declaredBy`. */
  readonly promptInputs: ReadonlyMap<string, readonly InputRequest[]>;
  readonly settings: Settings;
  readonly diagnostics: readonly Diagnostic[];
  /** The files that were read, strongest first. */
  readonly files: readonly string[];
  /** Every path whose change may change the configuration, whether or not something is there. */
  readonly watched: readonly string[];
  readonly explain: Explain;
  /** Files of the workspace that would loosen something, with the text that was read: what a person may approve. */
  readonly loosening: readonly Loosening[];
}

export interface Loosening {
  readonly file: string;
  readonly text: string;
  readonly lines: readonly Diagnostic[];
}

/** Throws only for a `configFile` that cannot be read or parsed: whoever names a file wants that one or none. */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const timeouts = readEnvDefaults(options.env);
  const found = await discover({ ...options, defaults: timeouts.defaults });
  const counting = found.isExclusive ? found.places.filter(({ place }) => place.scope === 'enterprise') : found.places;
  const { settings, origins } = mergeSettings(counting.map(({ layer }) => layer.settings));
  const gateway = await loadGateway(found, settings, options, timeouts.defaults);
  const claims = [...counting.map(({ layer }) => layer.claims), gateway.claims];
  const { winners, shadowed } = dropDuplicates(merge(claims), sameLaunch);
  const definitions = winners.flatMap((each) => ('definition' in each ? each.definition : []));
  const lists = counting.flatMap(({ place: { file }, layer: { allowlist, denylist } }) =>
    allowlist.length + denylist.length > 0 ? [{ allowlist, denylist, ...(file !== undefined && { file }) }] : [],
  );
  const denied = denialsOf(definitions, lists);
  const refused = refusals(definitions, settings, denied, found.offBy);
  const suppressed = suppressedBy(found.places, counting);
  return {
    definitions: definitions.map((each) => switched(each, settings, refused.has(each.name))),
    invalid: winners.flatMap((each) => ('diagnostic' in each ? each : [])),
    shadowed,
    refused,
    suppressed,
    rules: counting.flatMap(({ layer }) => layer.rules),
    idleRules: counting.flatMap(({ layer }) => layer.idleRules),
    lists,
    promptInputs: inputsOf(counting),
    settings,
    diagnostics: [
      ...timeouts.diagnostics,
      ...found.diagnostics,
      ...counting.flatMap(({ layer }) => layer.diagnostics),
      ...gateway.diagnostics,
      ...denials(denied),
    ],
    files: found.places.flatMap(({ place }) => place.file ?? []),
    watched: found.watched,
    loosening: counting.flatMap(({ place: { file }, text, layer: { loosenings: lines } }) =>
      file !== undefined && text !== undefined && lines.length > 0 ? [{ file, text, lines }] : [],
    ),
    explain: createExplain({
      winners,
      shadowed: [...shadowed, ...suppressed],
      refused,
      settings,
      origins,
      defaults: timeouts.defaults,
      documents: new Map(
        found.places.flatMap(({ place, document }) => (place.file && document ? [[place.file, document]] : [])),
      ),
    }),
  };
}

/**
 * Docker's gateway is the weakest of all, and unasked it comes only where nothing else is: not when someone said which file
 * counts, nor when a file cannot be read, since that may have said anything.
 */
async function loadGateway(
  { places, isExclusive, offBy }: DiscoveredConfig,
  settings: Settings,
  options: LoadOptions,
  defaults: EnvDefaults,
): Promise<GatewaySource> {
  const saysSomething = ({ place, layer, document }: ReadPlace) =>
    layer.claims.length > 0 || (place.file !== undefined && document === undefined);
  const isAlone = options.configFile !== undefined || isExclusive;
  const isAskedFor = settings.gateway === 'on';
  const isWanted = isAskedFor || (settings.gateway === 'auto' && !isAlone && !places.some(saysSomething));
  if (!isWanted || !options.discover || offBy) return { claims: [], diagnostics: [] };
  const { readGateway } = await import('./sources/docker-gateway.ts');
  const { docker, waitBudget } = options;
  return readGateway({ environment: options, isAskedFor, defaults, settings, docker, waitBudget });
}

/** One file may stand in two layers, for two apps. */
function inputsOf(places: readonly ReadPlace[]): LoadedConfig['promptInputs'] {
  const inputs = new Map<string, readonly InputRequest[]>();
  for (const { place, layer } of places.filter((each) => each.layer.promptInputs.length > 0)) {
    const by = declaredBy(place);
    inputs.set(by, [...(inputs.get(by) ?? []), ...layer.promptInputs]);
  }
  return inputs;
}

const launchOf = (claim: ServerClaim) => ('definition' in claim ? claim.definition.launch : undefined);

/** Two entries that would start or reach the same thing. */
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

function refusals(
  definitions: readonly ServerDefinition[],
  { disabledServers }: Settings,
  denied: Denials,
  offBy: Provenance | undefined,
): Reasons {
  const names = definitions.map(({ name }) => name);
  if (offBy) return new Map(names.map((name) => [name, `${offBy.file ?? 'a setting'} switches everything off`]));
  const disabled = names.filter((name) => disabledServers.includes(name));
  return new Map([
    ...disabled.map((name) => [name, '"disabledServers" names it'] as const),
    ...[...denied].map(([name, refusal]) => [name, inWords(refusal)] as const),
  ]);
}

/** A server that a list rules out keeps its name and is switched off, with the reason beside it. */
function switched(definition: ServerDefinition, { enabledServers }: Settings, isRefused: boolean): ServerDefinition {
  const enabled = !isRefused && (definition.settings.enabled || enabledServers.includes(definition.name));
  if (enabled === definition.settings.enabled) return definition;
  return Object.freeze({ ...definition, settings: Object.freeze({ ...definition.settings, enabled }) });
}

/** Told where the list is, which is what a person can change. */
function denials(denied: Denials): readonly Diagnostic[] {
  return [...denied].map(([server, { because, file }]) => ({
    severity: 'warning',
    code: 'SERVER_DENIED',
    server,
    message: `server "${server}" is not used, because ${because}`,
    remedy: 'Change that list, or ask whoever wrote it.',
    ...(file !== undefined && { file }),
  }));
}

function suppressedBy(all: readonly ReadPlace[], counting: readonly ReadPlace[]): readonly Shadowed<ServerClaim>[] {
  const [enterprise] = counting;
  if (enterprise === undefined || all.length === counting.length) return [];
  const silenced = all.filter((each) => !counting.includes(each));
  const to = { name: '', provenance: provenanceOf(enterprise.place, []) };
  const because = `the enterprise configuration ${enterprise.place.file ?? ''} replaces all others`;
  return silenced.flatMap(({ layer }) => layer.claims.map((claim) => shadow(claim, to, because)));
}
