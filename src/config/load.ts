// Owns finding, reading and merging everything that is configured. A broken file costs itself, a broken entry costs itself;
// both are told. Starts nothing, and resolves no placeholder.

import { extname, resolve } from 'node:path';
import type { Diagnostic } from '../model/diagnostic.ts';
import { RuntimeError } from '../model/errors.ts';
import type { RuleText } from '../model/rule.ts';
import type { ServerDefinition } from '../model/server.ts';
import { type DefaultTimeouts, defineServer } from './define.ts';
import { resolveLaunch } from './expand.ts';
import { type Layer, readLayer, type ServerClaim } from './layer.ts';
import { applyLists } from './lists.ts';
import { type Claim, type Loser, merge } from './merge.ts';
import { isMap } from './problem.ts';
import { type FileText, identify, readText } from './read-text.ts';
import { plexusSchema, type Settings } from './schema.ts';
import { isWorkspaceScope, type Place, placesOf, type Surroundings } from './scopes.ts';
import type { HostServer } from './server-entry.ts';
import type { Parsed } from './sources/document.ts';
import { readTimeouts } from './timeouts.ts';

export interface LoadOptions extends Surroundings {
  /** When false, no file is looked for. */
  readonly discover: boolean;
  /** This file instead of all others. */
  readonly configFile?: string | undefined;
  /** Given in code, stronger than any file of the same scope. */
  readonly servers?: Readonly<Record<string, HostServer>> | undefined;
}

/** An entry that owns its name but cannot be used. */
export interface InvalidServer extends Claim {
  readonly diagnostic: Diagnostic;
}

export interface LoadedConfig {
  /** Frozen, sorted by name. */
  readonly definitions: readonly ServerDefinition[];
  readonly invalid: readonly InvalidServer[];
  readonly losers: readonly Loser[];
  readonly rules: readonly RuleText[];
  readonly settings: Settings;
  readonly diagnostics: readonly Diagnostic[];
  /** The files that were read, strongest first. */
  readonly files: readonly string[];
}

/** Throws only for a `configFile` that cannot be read or parsed: whoever names a file wants that one or none. */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const timeouts = readTimeouts(options.env);
  const host = readHostServers(options.servers ?? {}, timeouts.defaults);
  const files = await Promise.all((await findPlaces(options)).map((place) => readPlace(place, timeouts.defaults)));
  const found = files.filter((file) => file !== undefined);
  const layers = [host, ...found.map(({ layer }) => layer)];

  const { winners, losers } = merge(layers.map(({ claims }) => claims));
  const { definitions, denials } = applyLists(
    winners.flatMap((each) => ('definition' in each ? each.definition : [])),
    layers,
  );
  return {
    definitions,
    invalid: winners.flatMap((each) => ('diagnostic' in each ? each : [])),
    losers,
    rules: layers.flatMap(({ rules }) => rules),
    settings: plexusSchema.parse({ startup: Object.assign({}, ...layers.map(({ startup }) => startup).reverse()) }),
    diagnostics: [
      ...timeouts.diagnostics,
      ...layers.flatMap(({ diagnostics }) => diagnostics),
      ...denials,
      ...definitions.flatMap((definition) => emptied(definition, options.env)),
    ],
    files: found.map(({ file }) => file),
  };
}

/** One path per file: what two paths lead to is read once, for the stronger of the two scopes. */
async function findPlaces(options: LoadOptions): Promise<readonly Place[]> {
  const { configFile, cwd, discover } = options;
  if (configFile !== undefined) return [{ scope: 'host', file: resolve(cwd, configFile) }];
  const places = discover ? placesOf(options) : [];
  const identities = await Promise.all(places.map(({ file }) => identify(file)));
  return places.filter((_, at) => identities.indexOf(identities[at] ?? '') === at);
}

interface ReadPlace {
  readonly file: string;
  readonly layer: Layer;
}

async function readPlace(place: Place, defaults: DefaultTimeouts): Promise<ReadPlace | undefined> {
  const { scope, file } = place;
  const read = await readText(file);
  if (read.kind === 'absent' && scope !== 'host') return undefined;
  if (read.kind === 'text') {
    const parsed = await parseFile(file, read.text);
    if (parsed.ok) return { file, layer: await readLayer(parsed.document, { ...place, defaults }) };
    const layer = broken(file, parsed);
    const [syntax] = layer.diagnostics;
    if (scope !== 'host' || syntax === undefined) return { file, layer };
    throw new RuntimeError('CONFIG_INVALID', {
      file,
      problem: syntax.message,
      ...(syntax.line !== undefined && { line: syntax.line }),
    });
  }
  if (scope === 'host' && read.kind !== 'not-text') {
    throw new RuntimeError('CONFIG_UNREADABLE', { file, problem: read.problem }, { cause: read.cause });
  }
  return { file, layer: layerOf(unreadable(file, read)) };
}

/** Loaded by need: most people write one dialect. A file without a telling name is known by how it begins. */
async function parseFile(file: string, text: string): Promise<Parsed> {
  const extension = extname(file).toLowerCase();
  const isJson = extension === '.toml' ? false : /^\.jsonc?$/.test(extension) || /^[\s\uFEFF]*\{/.test(text);
  if (isJson) return (await import('./sources/json.ts')).parseJson(text);
  return (await import('./sources/toml.ts')).parseToml(text);
}

const layerOf = (...diagnostics: readonly Diagnostic[]): Layer => ({
  ...{ claims: [], rules: [], allowlist: [], denylist: [], startup: {} },
  diagnostics,
});

function broken(file: string, { problem }: Extract<Parsed, { ok: false }>): Layer {
  const { message, excerpt, line, column } = problem;
  return layerOf({
    severity: 'error',
    code: 'CONFIG_INVALID',
    message: excerpt === '' ? message : `${message}, at: ${excerpt}`,
    remedy: 'Correct that line; until then nothing in the file counts.',
    ...{ file, line, column },
  });
}

function unreadable(file: string, read: Exclude<FileText, { kind: 'text' }>): Diagnostic {
  if (read.kind === 'not-text') {
    const { problem, remedy, position } = read;
    return { severity: 'error', code: 'CONFIG_INVALID', message: problem, remedy, file, ...position };
  }
  return {
    severity: 'error',
    code: 'CONFIG_UNREADABLE',
    message: `the file cannot be read: ${read.problem}`,
    remedy: 'Make it a file that you may read, or remove it.',
    file,
  };
}

function readHostServers(servers: Readonly<Record<string, unknown>>, defaults: DefaultTimeouts): Layer {
  const diagnostics: Diagnostic[] = [];
  const claims = Object.entries(servers).flatMap(([name, given]): ServerClaim[] => {
    const provenance = { scope: 'host', key: ['servers', name] } as const;
    const { definition, problems } = defineServer({ name, provenance, ...splitServe(given) }, defaults);
    const found = problems.map(
      ({ path: _, ...said }): Diagnostic => ({ code: 'CONFIG_INVALID', ...said, server: name }),
    );
    diagnostics.push(...found);
    if (definition) return [{ name, provenance, definition }];
    return found
      .filter(({ severity }) => severity === 'error')
      .slice(0, 1)
      .map((diagnostic) => ({ name, provenance, diagnostic }));
  });
  return { ...layerOf(...diagnostics), claims };
}

/** A server that runs inside the host is the one thing that cannot be written in a file. */
function splitServe(given: unknown) {
  if (!isMap(given) || typeof given['serve'] !== 'function') return { value: given };
  const { serve, ...value } = given;
  return { value, serve: serve as Extract<HostServer, { serve: unknown }>['serve'] };
}

/** A workspace's entry that asks for the person's variables gets nothing for them, and somebody should know. */
function emptied(definition: ServerDefinition, env: LoadOptions['env']): Diagnostic[] {
  const { name, provenance } = definition;
  if (!isWorkspaceScope(provenance.scope)) return [];
  return resolveLaunch(definition, env).missing.map((variable) => ({
    severity: 'warning',
    code: 'ENV_MISSING',
    server: name,
    message: `server "${name}" asks for your variable ${variable}; a file in this folder does not get it, so it is empty`,
    remedy: 'Define the server in your own file instead; see where it lies with: plexus config path',
    ...(provenance.file !== undefined && { file: provenance.file }),
  }));
}
