// Owns `plexus add` and `plexus add-json`: they validate a server's entry and write it to a configuration file.

import { realpath } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ConfigMap } from '../../config/config-map.ts';
import type { DefinedServer } from '../../config/define.ts';
import { withoutSecrets } from '../../config/literal-secrets.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { ServerName } from '../../model/names.ts';
import { commandLine, type Launch, type Scope, type ServerDefinition } from '../../model/server.ts';
import { type Command, type CommandResult, type Context, UsageError } from '../command.ts';
import { edit } from '../edit.ts';
import { describePlace } from '../editable-entry.ts';
import { approveOne, type ServerApproval } from '../entry-approval.ts';
import { fileOfScope, isOwnFile, scopeIn } from '../file-of-scope.ts';
import { environmentOf, loadConfigFor, openTrust } from '../load-config.ts';
import { rejectExtra } from '../positionals.ts';
import { proposedCommand } from '../proposed-command.ts';
import { diagnosticsText } from '../render/diagnostics.ts';
import { printable, shellWord } from '../render/text.ts';
import { absoluteCommand, entryFromJson, entryFromWords, withCommand } from '../written-entry.ts';

const options = {
  scope: { type: 'string', short: 's' },
  force: { type: 'boolean' },
} as const;

const help = {
  'scope SCOPE':
    'where to write it: user (your own file, the default), project (.mcp.json) or local; or name a file with --config',
  force: 'replace a server of the same name',
};

export const add: Command = {
  usage:
    'add NAME [options] -- COMMAND [ARGUMENT …]\n  plexus add NAME [options] --url ADDRESS [--transport http|sse|ws|auto]',
  options: {
    ...options,
    env: { type: 'string', short: 'e', multiple: true },
    url: { type: 'string' },
    transport: { type: 'string', short: 't' },
    header: { type: 'string', short: 'H', multiple: true },
  },
  help: {
    'env NAME=VALUE': 'an environment variable for the server; may be repeated',
    'url ADDRESS': 'the address of a remote server',
    'transport WORD': 'http, sse, ws or auto (the default: HTTP first, then SSE)',
    'header NAME=VALUE': 'an HTTP header for a remote server; may be repeated',
    ...help,
  },
  examples: [
    'add files -- npx -y my-file-server --root /tmp',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
    "add tracker --url https://example.com/mcp --header 'Authorization=Bearer ${TRACKER_TOKEN}'",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
    "add weather --scope project --env 'API_KEY=${WEATHER_KEY}' -- python -m weather_server",
  ],
  takesRest: true,
  async run(context) {
    const [name] = context.positionals;
    if (name === undefined) throw new UsageError('name the server and its command: plexus add NAME -- COMMAND');
    return addEntry(context, name, entryFromWords(name, context));
  },
};

export const addJson: Command = {
  usage: 'add-json NAME (JSON | @FILE | -) [options]',
  options,
  help,
  examples: [
    `add-json files '{ "command": "npx", "args": ["-y", "my-file-server", "--root", "/tmp"] }'`,
    'add-json files @server.json --scope project',
  ],
  async run(context) {
    const [name, json, extra] = context.positionals;
    if (name === undefined || json === undefined) throw new UsageError('name the server and give its settings as JSON');
    rejectExtra(extra, 'put the JSON in quotes');
    return addEntry(context, name, await entryFromJson(name, json, context));
  },
};

interface EditTarget {
  readonly scope: Scope;
  readonly file: string;
}

async function targetOf(context: Context): Promise<EditTarget> {
  const { config } = context.runtimeOptions;
  const scope = scopeIn(context) ?? 'user';
  return config === undefined ? { scope, file: await fileOfScope(context, scope) } : { scope: 'host', file: config };
}

async function addEntry(context: Context, name: ServerName, unchecked: ConfigMap): Promise<CommandResult> {
  const target = await targetOf(context);
  const { entry, definition, madeAbsolute } = await entryFor(context, { name, unchecked, target });
  const { findSecrets } = await import('../../config/edits/literals.ts');
  // Any value of an entry may be a secret, whatever it looks like: close the person's own file to others.
  const isOwn = await isOwnFile(context, target.file);
  const edited = await edit(
    context,
    target.file,
    { kind: 'put', name, entry, whenPresent: context.values['force'] ? 'replace' : 'refuse' },
    { closeToOthers: isOwn, isPrivateFolder: isOwn },
  );
  if (edited.kind !== 'written') throw alreadyPresent(name, target.file);
  const state = await stateOf(context, definition, target);
  const inTheClear = findSecrets(name, definition.launch);
  const data = {
    name,
    ...target,
    entry: edited.entry,
    replaced: edited.before !== undefined,
    ...(madeAbsolute !== undefined && { madeAbsolute }),
    ...state,
    inTheClear,
  };
  if (state.diagnostics.length > 0) context.warn((paint) => diagnosticsText(state.diagnostics, paint));
  return {
    data,
    text: () =>
      printable(sentences({ ...data, definition, mayOthersRead: edited.isReadableByOthers }, context).join('\n')),
  };
}

interface NewEntry {
  readonly name: ServerName;
  readonly unchecked: ConfigMap;
  readonly target: EditTarget;
}

interface CheckedEntry {
  readonly entry: ConfigMap;
  readonly definition: ServerDefinition;
  /** The relative command that was replaced by an absolute path. */
  readonly madeAbsolute?: string;
}

/** A file that is used in other folders gets an absolute command: a relative one would run another folder's program unasked. */
async function entryFor(context: Context, { name, unchecked, target }: NewEntry): Promise<CheckedEntry> {
  const { definition, written } = await defineOrRefuse(name, unchecked, target);
  const { launch } = definition;
  const { isWithin } = await import('../../config/scopes.ts');
  const environment = environmentOf(context);
  const isElsewhere =
    environment.cwd !== context.cwd ||
    (await isOwnFile(context, target.file)) ||
    !isWithin(environment.cwd, target.file, environment.platform);
  const command =
    isElsewhere && launch.kind === 'stdio' ? absoluteCommand(launch, { ...environment, cwd: context.cwd }) : undefined;
  if (command === undefined || launch.kind !== 'stdio') return { entry: unchecked, definition };
  const entry = withCommand(unchecked, written.get('command') ?? 'command', { from: launch.command, to: command });
  const pinned = await defineOrRefuse(name, entry, target);
  if (pinned.definition.launch.kind !== 'stdio' || pinned.definition.launch.command !== command)
    throw new UsageError(`"${name}" was not added. Write its command as an absolute path, such as ${command}`);
  return { entry, definition: pinned.definition, madeAbsolute: launch.command };
}

/** Validates the entry by the same rules as when it is loaded from the file. */
async function defineOrRefuse(
  name: ServerName,
  value: ConfigMap,
  { scope, file }: EditTarget,
): Promise<Required<Pick<DefinedServer, 'definition' | 'written'>>> {
  const [{ defineServer }, { isOwnScope }] = await Promise.all([
    import('../../config/define.ts'),
    import('../../config/scopes.ts'),
  ]);
  const provenance = { scope, file, key: [name] };
  const { definition, written, problems } = defineServer(
    { name, value, provenance },
    { defaults: {}, mayLoosen: isOwnScope(scope) },
  );
  if (definition) return { definition, written };
  const messages = problems
    .toSorted((a, b) => Number(a.severity === 'warning') - Number(b.severity === 'warning'))
    .map(({ message, remedy }) => `${message}. ${remedy}`);
  throw new UsageError(`"${name}" was not added: ${messages.join(' ')}`);
}

function alreadyPresent(name: ServerName, file: string): UsageError {
  return new UsageError(`${file} already has a server "${name}"; nothing was changed. Replace it with --force`);
}

interface EntryState {
  /** Whether the written entry is the effective one. */
  readonly inUse: boolean;
  /** Completes "It is not in use: …". */
  readonly because?: string;
  readonly approval?: ServerApproval;
  /** Errors and warnings about the written entry. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Loads the configuration again, since another file may override the entry. A workspace entry that the person wrote is approved. */
async function stateOf(context: Context, written: ServerDefinition, { file }: EditTarget): Promise<EntryState> {
  const { name, launch } = written;
  const before = await loadConfigFor(context);
  const approval = await approvePending(context, before, written, file);
  const config = approval ? await loadConfigFor(context) : before;
  const diagnostics = config.diagnostics.filter((each) => each.server === name && each.file === file);
  const found = config.definitions.find((each) => each.name === name);
  const isIt = found?.provenance.file !== undefined && (await isSameFile(found.provenance.file, file));
  if (found === undefined || !isIt) return { inUse: false, because: whyNotUsed(config, written), diagnostics };
  const refusal = config.refused.get(name) ?? (found.settings.enabled ? undefined : 'it is disabled');
  const used = { inUse: refusal === undefined, ...(refusal !== undefined && { because: refusal }), diagnostics };
  if (!found.provenance.inWorkspace || !isDeepStrictEqual(found.launch, launch)) return used;
  const { gate } = await openTrust(context);
  return { ...used, approval: approval ?? (await approveOne(gate, found, [], pinning(config))) };
}

const pinning = ({ settings }: LoadedConfig) => ({ pinsFiles: settings.trust.pinFiles });

/** A workspace entry whose name the person's own file has too is not used before this approval. */
async function approvePending(
  context: Context,
  config: LoadedConfig,
  { name, launch }: ServerDefinition,
  file: string,
): Promise<ServerApproval | undefined> {
  for (const each of config.pending) {
    const { provenance } = each;
    if (each.name !== name || !('definition' in each) || !isDeepStrictEqual(each.definition.launch, launch)) continue;
    if (provenance.file === undefined || !(await isSameFile(provenance.file, file))) continue;
    return approveOne((await openTrust(context)).gate, each.definition, [], pinning(config));
  }
  return undefined;
}

function whyNotUsed({ definitions, invalid, suppressed }: LoadedConfig, { name }: ServerDefinition): string {
  const silenced = suppressed.find((each) => each.name === name);
  if (silenced) return silenced.because;
  const winner = [...definitions, ...invalid].find((each) => each.name === name);
  return winner
    ? `${describePlace(winner.provenance)} also defines "${name}" and overrides it`
    : 'the file is not one that Plexus loads here';
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  return one === other || (await realpath(one)) === (await realpath(other));
}

interface AddedServer extends Omit<EntryState, 'diagnostics'>, EditTarget {
  readonly definition: ServerDefinition;
  readonly replaced: boolean;
  readonly madeAbsolute?: string;
  readonly inTheClear: readonly string[];
  readonly mayOthersRead: boolean;
}

function sentences(added: AddedServer, context: Context): readonly string[] {
  const { definition, scope, file, replaced, madeAbsolute, inUse, because, approval, inTheClear, mayOthersRead } =
    added;
  const { name, launch } = definition;
  const withheld = approval?.withheld ?? [];
  return [
    `${replaced ? `Replaced "${name}" in` : `Added "${name}" to`} ${describePlace({ scope, file })}.`,
    launchText(launch),
    ...(madeAbsolute === undefined
      ? []
      : [`Its command ${shellWord(madeAbsolute)} was made absolute, because this file is used in other folders too.`]),
    ...(approval ? [approvedText(approval)] : []),
    ...withheld.map(
      (variable) =>
        `It does not get your ${variable}. To allow it: plexus approve ${shellWord(name)} --allow-env ${variable}`,
    ),
    ...(inTheClear.length > 0 ? [clearText(inTheClear, file, mayOthersRead)] : []),
    inUse
      ? `See what it offers with: ${proposedCommand(['tools', shellWord(name)], context)}`
      : `It is not in use: ${because}.`,
  ];
}

/** Without environment variables, which may be secret. */
function launchText(written: Launch): string {
  const launch = withoutSecrets(written);
  return launch.kind === 'stdio'
    ? `It runs: ${commandLine({ ...launch, env: {} })}`
    : `It is at: ${commandLine(launch)}`;
}

function clearText(places: readonly string[], file: string, mayOthersRead: boolean): string {
  const [, variable = 'VARIABLE'] = /^env\.(\w+)$/.exec(places[0] ?? '') ?? [];
  const stands = `${places.join(', ')} ${places.length === 1 ? 'is' : 'are'} now stored in plain text in ${file}`;
  const others = mayOthersRead ? ', which other users can read' : '';
  return `${stands}${others}. To keep a secret out of the file, set a variable and write '\${${variable}}' instead.`;
}

function approvedText({ grants }: ServerApproval): string {
  const reads = grants.length > 0 ? `, and may read your ${grants.join(', ')}` : '';
  return `It is approved as it is now${reads}; a change asks again.`;
}
