// Owns finding and reading every source of configuration: files, plugins, other agents' files, and what a host gives in code.
// A broken file or entry is reported and disables only itself.

import { resolve } from 'node:path';
import { sameJson } from '../kernel/json.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { RuntimeError } from '../model/errors.ts';
import { type Provenance, type Scope, scopeOrder } from '../model/server.ts';
import { type ConfigMap, isMap } from './config-map.ts';
import { defineServer, type EnvDefaults } from './define.ts';
import type { DisplacementOptions } from './displacement.ts';
import type { EntryGroup } from './importers/importer.ts';
import { type KeptPolicies, keptOf, layerOfKept } from './kept-policy.ts';
import { emptyLayer, type Layer, readLayer, readServersOnly } from './layer.ts';
import { withoutForeignQuotes } from './links.ts';
import { isOwnEntry } from './own-entry.ts';
import { type ReadDocument, type Remembered, readRemembering } from './read-document.ts';
import type { Settings } from './schema.ts';
import {
  type ConfigPlace,
  enterprisePlaces,
  type FilePlace,
  type HostEnvironment,
  isOwnScope,
  placesOf,
} from './scopes.ts';
import type { HostServer } from './server-entry.ts';
import { provenanceOf, type ServerClaim, type SourceOrigin } from './servers.ts';
import { mergeSettings } from './settings.ts';
import type { DockerGatewayOptions } from './sources/docker-gateway.ts';
import type { Document } from './sources/document.ts';
import { pluginFolders, readPlugins } from './sources/plugin.ts';

/** Settings that a host keeps elsewhere than in files, in the shape of a file. */
export interface ConfigSource {
  /** Shown to users as the origin of a server. */
  readonly name: string;
  readonly read: () => unknown;
  /** `host`: as trusted as servers that the host gives in code. `local`, the default: as little trusted as a local file. */
  readonly scope?: 'host' | 'local';
}

export interface LoadOptions extends HostEnvironment {
  /** When false, no files are searched for. */
  readonly discover: boolean;
  /** Read this file instead of all others, except the enterprise's. */
  readonly configFile?: string | undefined;
  /** Servers given in code; they are stronger than any file of the same scope. */
  readonly servers?: Readonly<Record<string, HostServer>> | undefined;
  readonly extraSources?: readonly ConfigSource[] | undefined;
  /** Detects Docker on this machine; the default caches the answer for the process. */
  readonly docker?: DockerGatewayOptions['docker'];
  /** Limits how long to wait for Docker. Absent: without limit. */
  readonly waitBudget?: DockerGatewayOptions['waitBudget'];
  /** The last readable content of each file, for a long-running reader: while a file is being edited, its servers stay. */
  readonly remembered?: Remembered | undefined;
  /** Keeps and gives back what the user's own files forbade when they were last readable. */
  readonly kept?: KeptPolicies | undefined;
  /** Whether the user approved this exact content of a file in the workspace. */
  readonly isApproved?: ((file: string, text: string) => Promise<boolean>) | undefined;
  /** Whether the user approved this entry of the workspace, which then may take the name of a server outside of it. */
  readonly mayDisplace?: DisplacementOptions['mayDisplace'];
}

/** One source and what was read from it. */
export interface ReadPlace {
  readonly place: ConfigPlace;
  readonly layer: Layer;
  readonly document?: Document;
  /** The same for every path that leads to the file. */
  readonly identity?: string;
  readonly text?: string;
}

interface DiscoverOptions extends LoadOptions {
  readonly defaults: EnvDefaults;
}

export interface DiscoveredConfig {
  /** Strongest first. */
  readonly places: readonly ReadPlace[];
  readonly watched: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  readonly isExclusive: boolean;
  /** The setting that switches everything off. */
  readonly offBy?: Provenance;
}

/** The user's own files are read first: they decide whether anything else is read, and what. */
export async function discover(options: DiscoverOptions): Promise<DiscoveredConfig> {
  const { cwd, configFile, discover: isWanted } = options;
  const all = isWanted ? placesOf(options) : [];
  const named: FilePlace[] = configFile === undefined ? [] : [{ scope: 'host', file: resolve(cwd, configFile) }];
  const wanted = configFile === undefined ? all : [...(isWanted ? enterprisePlaces(options) : []), ...named];
  const watched = wanted.map(({ file }) => file);
  const own = await readPlaces(
    wanted.filter(({ scope }) => isOwnScope(scope)),
    options,
  );
  const enterprise = own.filter(({ place }) => place.scope === 'enterprise');
  const isExclusive = enterprise.length > 0 && !isMerged(enterprise);
  const host: ReadPlace = { place: { scope: 'host' }, layer: readHostServers(options) };
  const extra = await readExtraSources(options);
  const deciding = isExclusive ? enterprise : [...own, ...extra.filter(({ place }) => !place.inWorkspace)];
  const { settings: first, origins } = mergeSettings(
    inOrder(deciding, 'project-over-user').map(({ layer }) => layer.settings),
  );
  const offBy = origins.get('enabled');
  if (!first.enabled && offBy)
    return { places: deciding, watched, diagnostics: [switchedOffBy(offBy)], isExclusive, offBy };

  const isLeftOut = ({ scope }: ConfigPlace) => scope === 'project' && !first.project.enabled;
  const isAlone = !isWanted || configFile !== undefined;
  const inWorkspace = wanted.filter((place) => !isOwnScope(place.scope) && !isLeftOut(place));
  // In parallel: which plugins and other agents' files are read rarely depends on the workspace's files.
  const [workspace, expected] = await Promise.all([
    readPlaces(inWorkspace, options),
    isAlone || isExclusive ? undefined : readContributions(first, options),
  ]);
  const sources = withoutDuplicates(inOrder([...own, host, ...workspace, ...extra], first.mergeOrder));
  const { settings } = mergeSettings(
    inOrder(isExclusive ? enterprise : sources, first.mergeOrder).map(({ layer }) => layer.settings),
  );
  if (isAlone) return { places: inOrder(sources, settings.mergeOrder), watched, diagnostics: [], isExclusive };
  // With an exclusive enterprise file the others are read all the same, by the settings it replaces: its users are told what is missing.
  const wanting = isExclusive ? mergeSettings(sources.map(({ layer }) => layer.settings)).settings : settings;
  const isExpected = expected !== undefined && hasSameContributions(first, wanting);
  const others = isExpected ? expected : await readContributions(wanting, options);
  return {
    places: inOrder([...sources, ...withoutTaken(others.places, sources)], settings.mergeOrder),
    watched: [...watched, ...others.watched],
    diagnostics: isExclusive ? [] : others.diagnostics,
    isExclusive,
  };
}

const hasSameContributions = (one: Settings, other: Settings) =>
  sameJson([one.import, one.pluginFolders, one.project], [other.import, other.pluginFolders, other.project]);

/** Another agent's file that is also read as one of Plexus's own counts only as that. */
function withoutTaken(others: readonly ReadPlace[], sources: readonly ReadPlace[]): readonly ReadPlace[] {
  const taken = new Set(sources.map(identityOf));
  return others.filter((each) => each.place.scope !== 'imported' || !taken.has(identityOf(each)));
}

/** A file that could not be read is identified by its path. */
const identityOf = ({ identity, place }: ReadPlace) => identity ?? place.file;

function switchedOffBy({ file }: Provenance): Diagnostic {
  return {
    severity: 'warning',
    code: 'SERVER_DENIED',
    message: 'MCP is switched off: "plexus.enabled" is false, so no other file is read and there are no tools',
    remedy: 'Set it to true, or remove it.',
    ...(file !== undefined && { file }),
  };
}

/** An enterprise file that cannot be read may demand to be exclusive, so it is taken to be. */
function isMerged(enterprise: readonly ReadPlace[]): boolean {
  const [mode] = enterprise.flatMap(({ layer }) => layer.mode ?? []);
  return mode === 'merge' && enterprise.every(({ document }) => document !== undefined);
}

/**
 * A file that two paths lead to counts once, in the stronger of the two scopes. The user's own file stays the user's: a repository
 * could hold a link to it.
 */
function withoutDuplicates(places: readonly ReadPlace[]): readonly ReadPlace[] {
  const isOwn = ({ place }: ReadPlace) => isOwnScope(place.scope);
  const seen = new Set<string>();
  const kept = [...places.filter(isOwn), ...places.filter((each) => !isOwn(each))].filter(({ identity }) => {
    const isNew = identity === undefined || !seen.has(identity);
    if (identity !== undefined) seen.add(identity);
    return isNew;
  });
  return places.filter((each) => kept.includes(each));
}

/** Stable: within one scope the order of the places stays, and sources in code come before the scope's files. */
function inOrder(places: readonly ReadPlace[], mergeOrder: Settings['mergeOrder']): readonly ReadPlace[] {
  const order = mergeOrder === 'user-over-project' ? userOverProject : scopeOrder;
  const rank = ({ place }: ReadPlace) => order.indexOf(place.scope) - (place.file === undefined ? 0.5 : 0);
  return [...places].sort((a, b) => rank(a) - rank(b));
}

const userOverProject = [...new Set<Scope>(['enterprise', 'host', 'user', ...scopeOrder])];

async function readPlaces(places: readonly FilePlace[], options: DiscoverOptions): Promise<readonly ReadPlace[]> {
  const read = await Promise.all(places.map((place) => readPlace(place, options)));
  return read.filter((each) => each !== undefined);
}

async function readPlace(place: FilePlace, options: DiscoverOptions): Promise<ReadPlace | undefined> {
  const read = await readRemembering(place.file, options.remembered, place);
  if (place.scope === 'host') requireReadable(place, read);
  if (read.kind === 'absent') return undefined;
  if (read.kind !== 'document') return { place, layer: await unreadLayer(place, read, options) };
  const origin: SourceOrigin = { ...place, defaults: options.defaults, mayLoosen: isOwnScope(place.scope) };
  const strict = await readLayer(read.document, origin);
  // Hardly any file tries to loosen something; only then the approvals are looked up.
  const isApproved = strict.loosenings.length > 0 && (await options.isApproved?.(place.file, read.text));
  const layer = isApproved ? await readLayer(read.document, { ...origin, mayLoosen: true }) : strict;
  // In the background: a disk that never answers must not delay the start.
  if (isKept(place) && !read.outdated) void options.kept?.keep(place.file, keptOf(layer));
  const whole = {
    place,
    layer: withoutForeignQuotes(withOutdated(layer, read), place, options),
    document: read.document,
    identity: read.identity,
    text: read.text,
  };
  // Other agents read a workspace's files too: an entry there that leads to the gateway is theirs.
  return place.inWorkspace ? withoutOwnEntries(whole) : whole;
}

async function unreadLayer(
  place: FilePlace,
  read: Exclude<ReadDocument, { kind: 'document' }>,
  options: DiscoverOptions,
): Promise<Layer> {
  const { diagnostic } = read;
  const isCapped = read.kind === 'broken' && read.isCapped;
  const layer = { ...emptyLayer, ...(isCapped && { capped: diagnostic }), diagnostics: [diagnostic] };
  if (!isKept(place)) return withoutForeignQuotes(layer, place, options);
  const kept = await options.kept?.read(place.file);
  const so = kept ? 'its lists and its rules that deny or ask count as they were' : NOTHING_KEPT;
  const told = { ...diagnostic, remedy: `${diagnostic.remedy} Until then ${so}.` };
  return { ...(kept ? layerOfKept(kept, place) : { ...layer, isUnknown: true }), diagnostics: [told] };
}

/** A file that the host names must be readable, so nothing is kept of it. */
const isKept = ({ scope }: FilePlace) => scope === 'user' || scope === 'enterprise';

const NOTHING_KEPT = 'no server of the workspace, of a plugin or of an import starts, since the file may forbid it';

function withOutdated(layer: Layer, { outdated }: Extract<ReadDocument, { kind: 'document' }>): Layer {
  return outdated ? { ...layer, diagnostics: [outdated, ...layer.diagnostics] } : layer;
}

function requireReadable({ file }: FilePlace, read: ReadDocument): void {
  if (read.kind === 'document') return;
  if (read.kind !== 'broken')
    throw new RuntimeError('CONFIG_UNREADABLE', { file, problem: read.problem }, { cause: read.cause });
  const { message: problem, line } = read.diagnostic;
  throw new RuntimeError('CONFIG_INVALID', { file, problem, ...(line !== undefined && { line }) });
}

/** A source that throws is reported and disables only itself. */
function readExtraSources({ extraSources = [], defaults }: DiscoverOptions): Promise<readonly ReadPlace[]> {
  return Promise.all(
    extraSources.map(async ({ name, read, scope = 'local' }): Promise<ReadPlace> => {
      const isOwn = isOwnScope(scope);
      const place: ConfigPlace = { scope, provider: name, ...(!isOwn && { inWorkspace: true }) };
      try {
        const value: unknown = (await read()) ?? {};
        const document: Document = { value, locate: async () => undefined, repeated: async () => [] };
        return { place, layer: await readLayer(document, { ...place, defaults, mayLoosen: isOwn }) };
      } catch (error) {
        return { place, layer: { ...emptyLayer, diagnostics: [failedSource(name, error)] } };
      }
    }),
  );
}

function failedSource(name: string, error: unknown): Diagnostic {
  return {
    severity: 'error',
    code: 'CONFIG_UNREADABLE',
    message: `the settings of ${name} could not be read: ${error instanceof Error ? error.message : String(error)}`,
    remedy: `Correct them in ${name}; the rest goes on without them.`,
  };
}

interface Contribution extends Pick<DiscoveredConfig, 'watched' | 'diagnostics'> {
  readonly places: readonly Promise<ReadPlace>[];
}

/** The servers of plugins and of other agents, read in parallel. */
async function readContributions(
  settings: Settings,
  options: DiscoverOptions,
): Promise<Omit<DiscoveredConfig, 'isExclusive'>> {
  const contributions = await Promise.all([readPluginPlaces(settings, options), readImportPlaces(settings, options)]);
  return {
    places: await Promise.all(contributions.flatMap(({ places }) => places)),
    watched: contributions.flatMap(({ watched }) => watched),
    diagnostics: contributions.flatMap(({ diagnostics }) => diagnostics),
  };
}

/** Loaded when it is needed, and kept: importing it again is not free. */
let imports: Promise<typeof import('./imports.ts')> | undefined;

async function readPluginPlaces(settings: Settings, options: DiscoverOptions): Promise<Contribution> {
  const folders = pluginFolders(settings.pluginFolders, options);
  const { files, watched } = await readPlugins(folders, options);
  const places = files
    .filter(({ place }) => !place.inWorkspace || settings.project.enabled)
    .map(({ place, read, find, ...dialect }) => readContributed({ ...place, ...dialect }, read, find, options));
  return { places, watched: [...folders, ...watched], diagnostics: [] };
}

async function readImportPlaces(settings: Settings, options: DiscoverOptions): Promise<Contribution> {
  if (settings.import === 'off') return { places: [], watched: [], diagnostics: [] };
  imports ??= import('./imports.ts');
  const { chooseApps, readImports } = await imports;
  const { chosen, diagnostics } = chooseApps(settings.import);
  const places = (await readImports(chosen, options))
    .filter(({ place }) => !place.inWorkspace || settings.project.enabled)
    .map(({ importer, place, read }) => {
      const find = (content: ConfigMap) =>
        importer.find(content, options).filter(({ forFolder }) => forFolder === undefined);
      const contributed = readContributed({ ...place, translate: importer.translate }, read, find, options);
      return contributed.then((whole) => withoutOwnEntries(whole, settings.serving.port));
    });
  const watched = chosen.flatMap((importer) => importer.places(options).map(({ file }) => file));
  return { places, watched, diagnostics };
}

function withoutOwnEntries(read: ReadPlace, port?: number): ReadPlace {
  const isForeign = (claim: ServerClaim) => !('definition' in claim && isOwnEntry(claim.definition.launch, port));
  return { ...read, layer: { ...read.layer, claims: read.layer.claims.filter(isForeign) } };
}

type ContributedPlace = FilePlace & Pick<SourceOrigin, 'translate' | 'rename'>;

async function readContributed(
  { translate, rename, ...place }: ContributedPlace,
  read: ReadDocument,
  find: (content: ConfigMap) => readonly EntryGroup[],
  options: DiscoverOptions,
): Promise<ReadPlace> {
  if (read.kind !== 'document') return { place, layer: await unreadLayer(place, read, options) };
  const { defaults } = options;
  const origin: SourceOrigin = { ...place, defaults, mayLoosen: false, translate, rename };
  const layer = withOutdated(await readServersOnly(read.document, origin, find), read);
  return {
    place,
    layer: withoutForeignQuotes(layer, place, options),
    document: read.document,
    identity: read.identity,
  };
}

function readHostServers({ servers = {}, defaults }: DiscoverOptions): Layer {
  const diagnostics: Diagnostic[] = [];
  const claims = Object.entries(servers).flatMap(([name, server]): ServerClaim[] => {
    const provenance = provenanceOf({ scope: 'host' }, ['servers', name]);
    const { definition, problems, written } = defineServer(
      { name, provenance, ...splitServe(server) },
      { defaults, mayLoosen: true },
    );
    const found = problems.map(
      ({ path: _, ...problem }): Diagnostic => ({ code: 'CONFIG_INVALID', ...problem, server: name }),
    );
    diagnostics.push(...found);
    if (definition) return [{ name, provenance, written, definition }];
    return found
      .filter(({ severity }) => severity === 'error')
      .slice(0, 1)
      .map((diagnostic) => ({ name, provenance, written, diagnostic }));
  });
  return { ...emptyLayer, claims, diagnostics };
}

/**
 * The `serve` function of a server that runs inside the host is the one key that a file cannot hold, so it is passed on
 * separately.
 */
function splitServe(server: unknown) {
  if (!isMap(server) || typeof server['serve'] !== 'function') return { value: server };
  const { serve, ...value } = server;
  return { value, serve: serve as Extract<HostServer, { serve: unknown }>['serve'] };
}
