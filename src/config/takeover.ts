// Owns what `plexus import` would do: which servers other agents' files hold, which of them are taken over and as what, and why
// the others are not. Decides, and writes nothing.

import { canonicalJson } from '../kernel/json.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { ServerName } from '../model/names.ts';
import type { Launch, Scope, ServerDefinition } from '../model/server.ts';
import { diagnose, type Finding, type Note, shorten } from './finding.ts';
import type { Content } from './importers/importer.ts';
import type { ImportFile } from './imports.ts';
import { type FoundSecret, replaceSecrets } from './literal-secrets.ts';
import { isMap } from './problem.ts';
import type { Surroundings } from './scopes.ts';
import { claimsOf, readServers, type ServerClaim } from './servers.ts';

export interface Candidate {
  readonly name: ServerName;
  readonly app: string;
  readonly file: string;
  readonly transport: Launch['kind'] | 'unknown';
}

export interface Taken extends Candidate {
  /** What a file in the workspace holds goes into the workspace's file and still has to be approved; the rest is the person's. */
  readonly scope: Extract<Scope, 'user' | 'project'>;
  /** In our words, secrets replaced. */
  readonly entry: Content;
  readonly secrets: readonly FoundSecret[];
}

export interface Skipped extends Candidate {
  /** Completes "it is not taken, because …". */
  readonly because: string;
}

export interface Takeover {
  readonly found: readonly Candidate[];
  readonly taken: readonly Taken[];
  readonly skipped: readonly Skipped[];
  /** What was not understood, or could not be read. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface Existing {
  readonly definitions: readonly ServerDefinition[];
  /** The files that Plexus reads anyway. */
  readonly files: readonly string[];
}

interface Read {
  readonly claims: readonly (ServerClaim & Pick<Candidate, 'app' | 'file'> & { readonly forFolder?: string })[];
  readonly diagnostics: readonly Diagnostic[];
}

export async function planTakeover(
  files: readonly ImportFile[],
  existing: Existing,
  around: Surroundings,
): Promise<Takeover> {
  // Many apps read the workspace's common file, as Plexus does: it is told of once.
  const isRepeated = ({ place }: ImportFile, at: number) =>
    existing.files.includes(place.file) && files.findIndex((other) => other.place.file === place.file) !== at;
  const distinct = files.filter((file, at) => !isRepeated(file, at));
  const read = await Promise.all(distinct.map((file) => readFile(file, around)));
  const known = new Map(existing.definitions.map((each) => [each.name, each]));
  const essences = new Map(
    existing.definitions.map((each) => [essenceOf(each.launch), `"${each.name}", which is there already`]),
  );
  const found: Candidate[] = [];
  const taken: Taken[] = [];
  const skipped: Skipped[] = [];
  // The person's own first: of two that are the same, the one that needs no approval is taken.
  const claims = read.flatMap((each) => each.claims).sort((a, b) => inWorkspace(a) - inWorkspace(b));
  for (const claim of claims) {
    const { name, app, file } = claim;
    const definition = 'definition' in claim ? claim.definition : undefined;
    const candidate: Candidate = { name, app, file, transport: definition?.launch.kind ?? 'unknown' };
    found.push(candidate);
    const because = reasonAgainst(claim, existing, known, essences);
    if (because !== undefined || definition === undefined) {
      skipped.push({ ...candidate, because: because ?? 'it is not valid' });
      continue;
    }
    known.set(name, definition);
    essences.set(essenceOf(definition.launch), `"${name}" of ${app}`);
    const { entry, secrets } = entryOf(definition, claim);
    taken.push({ ...candidate, scope: definition.provenance.inWorkspace ? 'project' : 'user', entry, secrets });
  }
  return { found, taken, skipped, diagnostics: read.flatMap(({ diagnostics }) => diagnostics) };
}

const inWorkspace = ({ provenance }: ServerClaim) => (provenance.inWorkspace ? 1 : 0);

function reasonAgainst(
  claim: Read['claims'][number],
  { files }: Existing,
  known: ReadonlyMap<ServerName, ServerDefinition>,
  essences: ReadonlyMap<string, string>,
): string | undefined {
  if ('diagnostic' in claim) return `its entry is not valid: ${claim.diagnostic.message}`;
  if (claim.forFolder !== undefined) return `it is for the folder ${claim.forFolder}; import it there`;
  if (files.includes(claim.file)) return 'Plexus reads this file anyway';
  const same = essences.get(essenceOf(claim.definition.launch));
  if (same !== undefined) return `it is the same as ${same}`;
  const other = known.get(claim.name);
  if (other === undefined) return undefined;
  return `another server of that name comes from ${other.provenance.file ?? other.provenance.scope}`;
}

async function readFile({ importer, place, read }: ImportFile, around: Surroundings): Promise<Read> {
  if (read.kind !== 'document') return { claims: [], diagnostics: [read.diagnostic] };
  const content = isMap(read.document.value) ? read.document.value : {};
  const findings: Finding[] = [];
  const note: Note = (...found) => findings.push(...found);
  const origin = { ...place, defaults: {}, mayLoosen: !place.inWorkspace, translate: importer.translate };
  const groups = importer.find(content, around).map((group) => ({
    drafts: readServers([group], origin, note),
    ...(group.forFolder !== undefined && { forFolder: group.forFolder }),
  }));
  const diagnostics = await diagnose(findings, read.document, place.file);
  const claims = groups.flatMap(({ drafts, ...more }) =>
    claimsOf(drafts, diagnostics).map((claim) => ({ ...claim, ...more, app: importer.app, file: place.file })),
  );
  return { claims, diagnostics: shorten([...diagnostics.values()]) };
}

/** Only what was written, in canonical keys: what is a default here stays one. */
function entryOf({ name, launch, settings }: ServerDefinition, { written }: ServerClaim) {
  if (launch.kind === 'in-process') return { entry: {}, secrets: [] };
  const { kind, ...way } = launch;
  const isMade = kind === 'stdio' || kind === 'auto' || (kind === 'ws' && !written.has('transport'));
  const said: Content = {
    ...(!isMade && { transport: kind }),
    // One key may say several things: a command in a list holds its arguments.
    ...Object.fromEntries(Object.entries(way).filter(([key, value]) => !isDefault(key, value))),
    ...Object.fromEntries(Object.entries(settings).filter(([key]) => written.has(key))),
  };
  const { entry, secrets } = replaceSecrets(name, said);
  return { entry: { ...said, ...entry }, secrets };
}

const isDefault = (key: string, value: unknown) =>
  key === 'inheritEnv' ? value === 'safe' : typeof value === 'object' && Object.keys(Object(value)).length === 0;

/** Two that differ only in where their secrets stand are the same: one of them was taken over before. */
function essenceOf(launch: Launch): string {
  if (launch.kind === 'in-process') return '';
  return canonicalJson({ ...launch, ...replaceSecrets('', launch).entry }).replace(/\$\{input:[^}]*\}/g, '(secret)');
}
