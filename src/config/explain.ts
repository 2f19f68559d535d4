// Owns the explanation of a server or of Plexus's settings: each setting with its file and line, and the entries that the
// server's entry shadows. Lines cost a second parse, so they are looked up only when an explanation is asked for.

import type { ServerName } from '../model/names.ts';
import type { Provenance, ServerDefinition } from '../model/server.ts';
import type { KeyPath } from './config-map.ts';
import type { EnvDefaults } from './define.ts';
import type { Shadowed } from './merge.ts';
import { asEntry } from './reconnect.ts';
import type { Settings } from './schema.ts';
import type { ServerClaim } from './servers.ts';
import type { Document } from './sources/document.ts';

export interface ExplainedSetting {
  readonly key: string;
  readonly value: unknown;
  readonly from: 'file' | 'code' | 'environment' | 'default';
  readonly file?: string;
  readonly line?: number;
}

export interface ExplainedClaim {
  readonly provenance: Provenance;
  readonly settings: readonly ExplainedSetting[];
  /** Why the entry is broken. */
  readonly problem?: string;
}

export interface ExplainedServer extends ExplainedClaim {
  readonly name: ServerName;
  /** Why the server is not used. */
  readonly refusal?: string;
  readonly beaten: readonly (ExplainedClaim & { readonly because: string })[];
}

export interface Explain {
  /** `undefined`: no entry defines the server. */
  server(name: ServerName): Promise<ExplainedServer | undefined>;
  /** Plexus's own settings, each with the place that set it. */
  settings(): Promise<readonly ExplainedSetting[]>;
}

export interface ExplainDeps {
  readonly winners: readonly ServerClaim[];
  readonly shadowed: readonly Shadowed<ServerClaim>[];
  readonly refused: ReadonlyMap<ServerName, string>;
  readonly settings: Settings;
  readonly origins: ReadonlyMap<string, Provenance>;
  readonly defaults: EnvDefaults;
  readonly documents: ReadonlyMap<string, Document>;
}

export function createExplain(deps: ExplainDeps): Explain {
  const locate = async ({ file, key }: Provenance, inside: KeyPath = []) =>
    file === undefined ? undefined : (await deps.documents.get(file)?.locate([...key, ...inside]))?.line;

  const explainClaim = async (claim: ServerClaim): Promise<ExplainedClaim> => {
    const line = await locate(claim.provenance);
    const provenance = { ...claim.provenance, ...(line !== undefined && { line }) };
    if ('diagnostic' in claim) return { provenance, settings: [], problem: claim.diagnostic.message };
    const { name } = claim;
    const isSwitchedOn = deps.settings.enabledServers.includes(name) && !deps.refused.has(name);
    const settings = Object.entries(valuesOf(claim.definition)).map(([key, value]) =>
      key === 'enabled' && value === false && isSwitchedOn
        ? explainSetting(key, true, deps.origins.get('enabledServers'))
        : explainKey(claim, key, value),
    );
    return { provenance, settings: await Promise.all(settings) };
  };
  const explainKey = async (
    { provenance, written }: ServerClaim,
    key: string,
    value: unknown,
  ): Promise<ExplainedSetting> => {
    const spelled = written.get(key);
    if (spelled === undefined)
      return { key, value, from: Object.hasOwn(deps.defaults, key) ? 'environment' : 'default' };
    if (provenance.file === undefined) return { key, value, from: 'code' };
    const line = await locate(provenance, [spelled]);
    return { key, value, from: 'file', file: provenance.file, ...(line !== undefined && { line }) };
  };
  const explainSetting = async (
    key: string,
    value: unknown,
    provenance: Provenance | undefined,
  ): Promise<ExplainedSetting> => {
    if (provenance === undefined) return { key, value, from: 'default' };
    if (provenance.file === undefined) return { key, value, from: 'code' };
    const line = await locate(provenance);
    return { key, value, from: 'file', file: provenance.file, ...(line !== undefined && { line }) };
  };

  return {
    async server(name) {
      const winner = deps.winners.find((each) => each.name === name);
      const shadowed = deps.shadowed.filter((each) => each.name === name);
      const [first] = shadowed;
      const main = winner ?? first;
      if (main === undefined) return undefined;
      const refusal = winner === undefined ? first?.because : deps.refused.get(name);
      const others = shadowed.filter((each) => each !== main);
      return {
        name,
        ...(await explainClaim(main)),
        ...(refusal !== undefined && { refusal }),
        beaten: await Promise.all(
          others.map(async (each) => ({ ...(await explainClaim(each)), because: each.because })),
        ),
      };
    },
    settings: () =>
      Promise.all(flatten(deps.settings).map(([key, value]) => explainSetting(key, value, deps.origins.get(key)))),
  };
}

/** Every setting of a server, as it is in effect. */
function valuesOf({ launch, settings }: ServerDefinition): Record<string, unknown> {
  const { kind: transport, ...launchSettings } = launch;
  const written = { ...settings, reconnect: asEntry(settings.reconnect) };
  return 'serve' in launchSettings ? { transport, ...written } : { transport, ...launchSettings, ...written };
}

function flatten(settings: Settings): readonly (readonly [key: string, value: unknown])[] {
  return Object.entries(settings).flatMap(([key, value]): (readonly [string, unknown])[] =>
    typeof value === 'object' && !Array.isArray(value)
      ? Object.entries(value).map(([inner, each]) => [`${key}.${inner}`, each])
      : [[key, value]],
  );
}
