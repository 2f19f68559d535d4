// Owns the plan of `plexus import`: which servers other agents' files hold, which of them are imported and how, and why the
// others are not. Writes nothing.

import { canonicalJson } from '../kernel/json.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { ServerName } from '../model/names.ts';
import type { InputRequest, Launch, Provenance, Scope, ServerDefinition } from '../model/server.ts';
import { type ConfigMap, isMap } from './config-map.ts';
import { foreignPlaceholdersIn } from './expand.ts';
import { diagnose, type FileProblem, type ReportProblem, shorten } from './file-problems.ts';
import { findInputs } from './groups.ts';
import type { EntryGroup } from './importers/importer.ts';
import { mapTexts, textsIn } from './importers/translate.ts';
import type { ImportFile } from './imports.ts';
import { freeId, type LiteralSecret, replaceSecrets } from './literal-secrets.ts';
import { isOwnEntry } from './own-entry.ts';
import { asEntry } from './reconnect.ts';
import type { HostEnvironment } from './scopes.ts';
import { claimsOf, readServers, type ServerClaim } from './servers.ts';

export interface ImportCandidate {
  readonly name: ServerName;
  readonly app: string;
  readonly file: string;
  readonly transport: Launch['kind'] | 'unknown';
}

export interface ImportedServer extends ImportCandidate {
  /**
   * Servers of a file in the workspace go into the workspace's file, servers for this folder only into its local file; both still
   * have to be approved. All others go into the user's own file.
   */
  readonly scope: TargetScope;
  /** In our keys, with secrets replaced. */
  readonly entry: ConfigMap;
  readonly secrets: readonly LiteralSecret[];
  /** Inputs that the user will be asked for, since the app does not share its answers. */
  readonly inputs: readonly AskedInput[];
}

export type TargetScope = Extract<Scope, 'user' | 'project' | 'local'>;

/** As the app's file declares it, under its new id; written beside the server, so that the question keeps its words. */
export type AskedInput = Pick<InputRequest, 'id' | 'type' | 'description' | 'options' | 'default'> &
  Partial<Pick<InputRequest, 'password'>>;

export interface SkippedServer extends ImportCandidate {
  /** Completes "it is not imported, because …". */
  readonly because: string;
}

export interface ImportPlan {
  readonly found: readonly ImportCandidate[];
  readonly taken: readonly ImportedServer[];
  readonly skipped: readonly SkippedServer[];
  /** Problems of the files that were read. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface ExistingConfig {
  readonly definitions: readonly ServerDefinition[];
  /** The files that Plexus reads already. */
  readonly files: readonly string[];
  /** Ids of inputs that the target files use already. */
  readonly inputs: readonly string[];
  /** The gateway's. */
  readonly port?: number;
}

type ImportClaim = ServerClaim &
  Pick<ImportCandidate, 'app' | 'file'> &
  Pick<EntryGroup, 'forFolder' | 'isForThisFolder'> & {
    readonly title: string;
    /** The inputs that the file declares. */
    readonly declared: readonly ConfigMap[];
  };

interface ReadImport {
  readonly claims: readonly ImportClaim[];
  readonly diagnostics: readonly Diagnostic[];
}

export async function planImport(
  files: readonly ImportFile[],
  existing: ExistingConfig,
  environment: HostEnvironment,
): Promise<ImportPlan> {
  // Many apps read the workspace's common file, as Plexus does: it is reported once.
  const isRepeated = ({ place }: ImportFile, at: number) =>
    existing.files.includes(place.file) && files.findIndex((other) => other.place.file === place.file) !== at;
  const distinct = files.filter((file, at) => !isRepeated(file, at));
  const read = await Promise.all(distinct.map((file) => readFile(file, environment)));
  const known = new Map(existing.definitions.map((each) => [each.name, [each.provenance]]));
  const sameLaunches = new Map(
    existing.definitions.map((each) => [comparableLaunch(each.launch), `"${each.name}", which is there already`]),
  );
  const inputs = createInputIds(existing.inputs);
  const found: ImportCandidate[] = [];
  const taken: ImportedServer[] = [];
  const skipped: SkippedServer[] = [];
  const foreign: Diagnostic[] = [];
  const claims = read.flatMap((each) => each.claims).sort((a, b) => rankOf(a) - rankOf(b));
  for (const claim of claims) {
    const { name, app, file } = claim;
    const definition = 'definition' in claim ? claim.definition : undefined;
    const candidate: ImportCandidate = { name, app, file, transport: definition?.launch.kind ?? 'unknown' };
    found.push(candidate);
    const because = reasonAgainst(claim, existing, known, sameLaunches);
    if (because !== undefined || definition === undefined) {
      skipped.push({ ...candidate, because: because ?? 'it is not valid' });
      continue;
    }
    const scope = scopeOf(claim);
    known.set(name, [...(known.get(name) ?? []), { ...definition.provenance, scope }]);
    sameLaunches.set(comparableLaunch(definition.launch), `"${name}" of ${app}`);
    const entry = entryOf(definition, claim, inputs);
    taken.push({ ...candidate, scope, ...entry });
    foreign.push(...foreignPlaceholders(claim, entry.entry));
  }
  return { found, taken, skipped, diagnostics: [...read.flatMap(({ diagnostics }) => diagnostics), ...foreign] };
}

const scopeOf = ({ provenance, isForThisFolder }: ImportClaim): TargetScope =>
  provenance.inWorkspace ? 'project' : isForThisFolder ? 'local' : 'user';

/** Of two equal servers, the one that is for all folders and needs no approval is imported. */
const rankOf = (claim: ImportClaim) => (['user', 'local', 'project'] as const).indexOf(scopeOf(claim));

function reasonAgainst(
  claim: ImportClaim,
  { files, port }: ExistingConfig,
  known: ReadonlyMap<ServerName, readonly Pick<Provenance, 'scope' | 'file'>[]>,
  sameLaunches: ReadonlyMap<string, string>,
): string | undefined {
  if ('diagnostic' in claim) return `its entry is not valid: ${claim.diagnostic.message}`;
  if (claim.forFolder !== undefined) return `it is for the folder ${claim.forFolder}; import it there`;
  if (isOwnEntry(claim.definition.launch, port)) return 'it is Plexus itself';
  if (files.includes(claim.file)) return 'Plexus reads this file anyway';
  const same = sameLaunches.get(comparableLaunch(claim.definition.launch));
  if (same !== undefined) return `it is the same as ${same}`;
  // A server for one folder beats one for all folders, in Plexus as in the app.
  const isBeaten = ({ scope }: Pick<Provenance, 'scope'>) => scopeOf(claim) === 'local' && scope === 'user';
  const other = known.get(claim.name)?.find((each) => !isBeaten(each));
  return other && `another server of that name comes from ${other.file ?? other.scope}`;
}

/** Without this warning the server would get such a placeholder as text, and the user would not know why it fails. */
function foreignPlaceholders({ name, title, file }: ImportClaim, entry: ConfigMap): readonly Diagnostic[] {
  const placeholders = new Set(textsIn(entry).flatMap(foreignPlaceholdersIn));
  return [...placeholders].map((placeholder) => ({
    severity: 'warning',
    code: 'CONFIG_INVALID',
    message: `server "${name}" uses ${placeholder}, which is filled in by ${title} only and stays as it is written`,
    remedy: 'Write the value in its place, or a variable of yours.',
    file,
    server: name,
  }));
}

async function readFile({ importer, place, read }: ImportFile, environment: HostEnvironment): Promise<ReadImport> {
  if (read.kind !== 'document') return { claims: [], diagnostics: [read.diagnostic] };
  const content = isMap(read.document.value) ? read.document.value : {};
  const fileProblems: FileProblem[] = [];
  const report: ReportProblem = (...found) => fileProblems.push(...found);
  const origin = { ...place, defaults: {}, mayLoosen: !place.inWorkspace, translate: importer.translate };
  const groups = importer.find(content, environment).map((group) => ({
    drafts: readServers([group], origin, report),
    ...(group.forFolder !== undefined && { forFolder: group.forFolder }),
    ...(group.isForThisFolder && { isForThisFolder: true as const }),
  }));
  const diagnostics = await diagnose(fileProblems, read.document, place.file);
  const { entries } = findInputs(content);
  const common = {
    app: importer.app,
    title: importer.title,
    file: place.file,
    declared: Array.isArray(entries) ? entries.filter(isMap) : [],
  };
  const claims = groups.flatMap(({ drafts, ...more }) =>
    claimsOf(drafts, diagnostics).map((claim) => ({ ...claim, ...more, ...common })),
  );
  return { claims, diagnostics: shorten([...diagnostics.values()]) };
}

/** Only keys that were written, in canonical spelling; defaults stay defaults. */
function entryOf({ name, launch, settings }: ServerDefinition, claim: ImportClaim, ids: InputIds) {
  if (launch.kind === 'in-process') return { entry: {}, secrets: [], inputs: [] };
  const { written } = claim;
  const { kind, ...launchSettings } = launch;
  const isImplied = kind === 'stdio' || kind === 'auto' || (kind === 'ws' && !written.has('transport'));
  const inputs = new Map<string, AskedInput>();
  const ownEntry = mapTexts(
    {
      ...(!isImplied && { transport: kind }),
      // Not limited to written keys: a command that is written as a list also sets the arguments.
      ...Object.fromEntries(Object.entries(launchSettings).filter(([key, value]) => !isDefault(key, value))),
      ...Object.fromEntries(Object.entries(settings).filter(([key]) => written.has(key))),
      ...(written.has('reconnect') && { reconnect: asEntry(settings.reconnect) }),
    },
    (text) => withIds(text, claim, ids, (asked) => inputs.set(asked.id, asked)),
  );
  const { entry, secrets } = replaceSecrets(name, ownEntry, ids.isTaken);
  for (const { id } of secrets) ids.take(id);
  return { entry: { ...ownEntry, ...entry }, secrets, inputs: [...inputs.values()] };
}

interface InputIds {
  readonly isTaken: (id: string) => boolean;
  readonly take: (id: string) => void;
  /** The new id of a file's input: the same for all entries of that file, and never that of another file's input. */
  readonly of: (file: string, id: string, server: ServerName) => string;
}

function createInputIds(used: readonly string[]): InputIds {
  const taken = new Set(used);
  const assigned = new Map<string, string>();
  const isTaken = (id: string) => taken.has(id);
  const take = (id: string) => void taken.add(id);
  return {
    isTaken,
    take,
    of: (file, id, server) => {
      const key = `${file}\0${id}`;
      const free = assigned.get(key) ?? (isTaken(id) ? freeId(`${server}-${id}`, isTaken) : id);
      assigned.set(key, free);
      take(free);
      return free;
    },
  };
}

/** Keeps a declared default inside the placeholder too; the declaration itself is passed to `onAsked`. */
function withIds(
  text: string,
  { name, file, declared }: ImportClaim,
  ids: InputIds,
  onAsked: (asked: AskedInput) => void,
): string {
  return text.replace(/\$\{input:([\w.][\w.-]*)(\}|:-)/g, (_, id: string, end: string) => {
    const { type, description, options, password, default: preset } = declared.find((each) => each['id'] === id) ?? {};
    const free = ids.of(file, id, name);
    onAsked({
      id: free,
      ...(typeof type === 'string' && { type }),
      ...(typeof description === 'string' && { description }),
      ...(Array.isArray(options) && { options: options.filter((each) => typeof each === 'string') }),
      ...(typeof password === 'boolean' && { password }),
      ...(typeof preset === 'string' && { default: preset }),
    });
    const isKept = end === '}' && typeof preset === 'string' && preset !== '' && !/[{}]/.test(preset);
    return `\${input:${free}${isKept ? `:-${preset}}` : end}`;
  });
}

const isDefault = (key: string, value: unknown) =>
  key === 'inheritEnv' ? value === 'safe' : typeof value === 'object' && Object.keys(Object(value)).length === 0;

/** Equal for launches that differ only in how their secrets are written: one of them was imported before. */
function comparableLaunch(launch: Launch): string {
  if (launch.kind === 'in-process') return '';
  return canonicalJson({ ...launch, ...replaceSecrets('', launch).entry }).replace(/\$\{input:[^}]*\}/g, '(secret)');
}
