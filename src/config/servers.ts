// Owns reading the servers of one file: each entry by itself, so that one mistake disables one entry.

import type { Diagnostic } from '../model/diagnostic.ts';
import type { ServerName } from '../model/names.ts';
import type { InputRequest, Provenance, ServerDefinition } from '../model/server.ts';
import { type ConfigMap, isMap, type KeyPath } from './config-map.ts';
import { defineServer, type EnvDefaults, type WrittenKeys } from './define.ts';
import type { FileProblem, ReportProblem } from './file-problems.ts';
import { entriesOf } from './groups.ts';
import type { EntryGroup } from './importers/importer.ts';
import { withInputs } from './inputs.ts';
import type { Claim } from './merge.ts';
import { labelOf, within, wrongType } from './problem.ts';
import type { ConfigPlace } from './scopes.ts';

/** An entry that claims a server's name: with its definition, or with the diagnostic that says why there is none. */
export type ServerClaim = Claim & { readonly written: WrittenKeys } & (
    | { readonly definition: ServerDefinition }
    | { readonly diagnostic: Diagnostic }
  );

export interface SourceOrigin extends ConfigPlace {
  readonly defaults: EnvDefaults;
  /** Whether the file may loosen anything: it is the user's own, or the user approved its exact content. */
  readonly mayLoosen: boolean;
  /** Rewrites one entry in our keys, where another program gives one of them another meaning. */
  readonly translate?: ((entry: ConfigMap) => ConfigMap) | undefined;
  readonly rename?: ((name: ServerName) => ServerName) | undefined;
}

/** A claim whose problem has no line yet. */
export interface ServerDraft extends Claim {
  readonly definition: ServerDefinition | undefined;
  readonly written: WrittenKeys;
  readonly fault: FileProblem | undefined;
}

export function readServers(groups: readonly EntryGroup[], origin: SourceOrigin, report: ReportProblem): ServerDraft[] {
  const seen = new Map<ServerName, KeyPath>();
  const provenanceFor = provenanceIn(origin);
  const drafts: ServerDraft[] = [];
  for (const group of groups) {
    const entries = entriesOf(group);
    if (entries === undefined) report(notServers(group));
    if (entries && entries.length > MOST_SERVERS) report(tooMany(group.path, entries.length));
    for (const { name, value, path } of entries?.slice(0, MOST_SERVERS) ?? []) {
      const before = name === undefined ? undefined : seen.get(name);
      if (name === undefined) report(nameless(value, path));
      else if (before)
        report({ ...repeated(name, path, isSameGroup(before, path)), server: origin.rename?.(name) ?? name });
      else drafts.push(readServer(name, value, path));
      if (name !== undefined) seen.set(name, path);
    }
  }
  return drafts;

  function readServer(written: ServerName, value: unknown, key: KeyPath): ServerDraft {
    const name = origin.rename?.(written) ?? written;
    const provenance = provenanceFor(key);
    const translated = isMap(value) && origin.translate ? origin.translate(value) : value;
    const { definition, problems, written: keys } = defineServer({ name, value: translated, provenance }, origin);
    if (definition && problems.length === 0) return { name, provenance, definition, written: keys, fault: undefined };
    const located = problems.map((problem): FileProblem => ({ ...within(key, problem), server: name }));
    report(...located);
    const fault = located.find(({ severity }) => severity === 'error');
    return { name, provenance, definition, written: keys, fault };
  }
}

export function claimsOf(
  drafts: readonly ServerDraft[],
  diagnostics: ReadonlyMap<FileProblem, Diagnostic>,
  inputs: readonly InputRequest[] = [],
): readonly ServerClaim[] {
  const claims: ServerClaim[] = [];
  for (const { name, provenance, written, definition, fault } of drafts) {
    const diagnostic = fault && diagnostics.get(fault);
    if (definition) claims.push({ name, provenance, written, definition: withInputs(definition, inputs) });
    else if (diagnostic) claims.push({ name, provenance, written, diagnostic });
  }
  return claims;
}

export const provenanceOf = (place: ConfigPlace, key: KeyPath): Provenance => provenanceIn(place)(key);

/** Made once per place, for all entries there. */
function provenanceIn({ scope, file, inWorkspace, provider }: ConfigPlace): (key: KeyPath) => Provenance {
  if (provider === undefined && !inWorkspace)
    return file === undefined ? (key) => ({ scope, key }) : (key) => ({ scope, file, key });
  const more = { ...(inWorkspace && { inWorkspace }), ...(provider !== undefined && { provider }) };
  return file === undefined ? (key) => ({ scope, ...more, key }) : (key) => ({ scope, ...more, file, key });
}

/** Far above any real number of servers; a hostile file must not delay the start. */
const MOST_SERVERS = 1_000;

function tooMany(path: KeyPath, found: number): FileProblem {
  return {
    severity: 'error',
    path,
    message: `${labelOf(path)} holds ${found} servers, of which only the first ${MOST_SERVERS} are read`,
    remedy: 'Remove those that are not needed.',
  };
}

function notServers({ path, entries }: EntryGroup): FileProblem {
  const problem = wrongType(path, 'a map from names to servers, or a list of servers', entries);
  if (typeof entries !== 'string') return problem;
  return { ...problem, remedy: 'Only the manifest of a plugin may name another file there; write the servers here.' };
}

function nameless(value: unknown, path: KeyPath): FileProblem {
  if (!isMap(value)) return wrongType(path, 'a map of settings', value);
  const message = `${labelOf(path)} has no "name", and a server in a list needs one`;
  return { severity: 'error', path, message, remedy: 'Give it a name.' };
}

const isSameGroup = (one: KeyPath, other: KeyPath) => one.slice(0, -1).join('\0') === other.slice(0, -1).join('\0');

function repeated(name: ServerName, path: KeyPath, inOneList: boolean): FileProblem {
  return {
    severity: inOneList ? 'error' : 'warning',
    path,
    message: inOneList
      ? `two servers of the list are called "${name}", and the first one counts`
      : 'the file defines this server in two places, and the first one counts',
    remedy: inOneList ? 'Give one of them another name.' : 'Remove one of them.',
  };
}
