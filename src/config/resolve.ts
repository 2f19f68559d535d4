// Owns filling in the placeholders of a definition when its server is opened: from the entry's own variables, from the host's
// where the scope may read them, and from files, commands and the user's answers where the entry is the user's own. Stores
// nothing.

import { parseEnv } from 'node:util';
import { isObject, parseJson } from '../kernel/json.ts';
import { shellWord } from '../kernel/shell-word.ts';
import type { EnvironmentVariables } from '../model/environment-variables.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { isSecretVariable } from '../model/secret-shapes.ts';
import type { Launch, RemoteLaunch, ServerDefinition, StdioLaunch } from '../model/server.ts';
import { expand, isCommand, type Lookup } from './expand.ts';
import { addressProblem, kindFor, proxyProblem } from './launch.ts';
import { loginTexts } from './login-settings.ts';
import { readText } from './read-text.ts';
import { foreignPlaceholdersOf, textsOf, variablesRead } from './referenced-variables.ts';
import type { CommandOutput } from './run-command.ts';
import type { Settings } from './schema.ts';
import { type HostEnvironment, isOwnScope, pathsOf } from './scopes.ts';

export interface Resolving {
  readonly environment: HostEnvironment;
  /** The host's variables that the user gave to an entry of a workspace, plugin or import; `undefined`: the entry is not approved. */
  readonly grants: readonly string[] | undefined;
  readonly unresolvedEnv: Settings['unresolvedEnv'];
  /** Runs a command, or returns its cached output. */
  readonly run: (command: string) => Promise<CommandOutput>;
  /** Runs a command whose output must be fresh each time. */
  readonly runAnew: (command: string) => Promise<CommandOutput>;
  /** The user's answer, stored or asked for; `undefined` when there is none, or the entry may not ask. */
  readonly input: (id: string) => Promise<string | undefined>;
}

export interface Resolved {
  readonly launch: Launch;
  /** Values that the server has to do without, in messages for the user. */
  readonly warnings: readonly string[];
}

/** The result holds secrets: it belongs inside an open transport and nowhere else. */
export async function resolveLaunch(definition: ServerDefinition, resolving: Resolving): Promise<Resolved> {
  const { launch } = definition;
  if (launch.kind === 'in-process') return { launch, warnings: [] };
  const filling = await beginFilling({ ...definition, launch }, resolving);
  const resolved =
    launch.kind === 'stdio'
      ? fillStdio(launch, filling, resolving.environment)
      : await fillRemote(definition, launch, filling, resolving);
  const warnings = checkMissing(definition, filling, resolving);
  if (resolved.kind !== 'stdio') requireAddresses(definition, resolved);
  return { launch: resolved, warnings };
}

/** The parts of a launch that decide which program runs, filled in without the user's answers. */
export function programOf(
  definition: ServerDefinition,
  environment: HostEnvironment,
): Pick<StdioLaunch, 'command' | 'args' | 'cwd' | 'env'> {
  const launch = filledLaunch(definition, { environment, unresolvedEnv: 'empty' });
  return launch.kind === 'stdio' ? launch : { command: '', args: [], env: {} };
}

export interface FillOptions extends Pick<Resolving, 'environment' | 'unresolvedEnv'> {
  readonly answers?: ReadonlyMap<string, string>;
}

/** The launch as if the entry were given every variable it reads. Runs no command and reads no file. */
export function filledLaunch(
  definition: ServerDefinition,
  { answers = new Map(), ...visibility }: FillOptions,
): Launch {
  const { launch } = definition;
  if (launch.kind === 'in-process') return launch;
  const own = new Map(Object.entries(launch.env ?? {}).map(([name, text]) => [name, { text, isLiteral: false }]));
  const grants = variablesRead(definition).all;
  const filling = createFilling({ ...definition, launch }, { own, answers }, { ...visibility, grants });
  if (launch.kind === 'stdio') return fillStdio(launch, filling, visibility.environment);
  return { ...launch, url: filling.fill(launch.url) };
}

/** The host of a remote entry as it is reached without an approval: filled in from the entry alone. `undefined`: it has none. */
export function unapprovedHostOf(definition: ServerDefinition, environment: HostEnvironment): string | undefined {
  const { launch } = definition;
  if (launch.kind === 'stdio' || launch.kind === 'in-process') return undefined;
  const own = new Map(Object.entries(launch.env ?? {}).map(([name, text]) => [name, { text, isLiteral: false }]));
  const visibility = { environment, grants: undefined, unresolvedEnv: 'empty' } as const;
  const url = createFilling({ ...definition, launch }, { own, answers: new Map() }, visibility).fill(launch.url);
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

interface Filling {
  readonly fill: (text: string) => string;
  readonly env: Readonly<Record<string, string>>;
  /** The inputs that were looked up. */
  readonly inputs: ReadonlySet<string>;
  readonly missing: ReadonlySet<string>;
  readonly missingInputs: ReadonlySet<string>;
  readonly circular: ReadonlySet<string>;
}

type Openable = ServerDefinition & { readonly launch: StdioLaunch | RemoteLaunch };

/** A value of the entry. The output of a command, or a line of a file, is literal: text in it that looks like a placeholder stays. */
interface WrittenValue {
  readonly text: string;
  readonly isLiteral: boolean;
}

/** The user is asked only for inputs that are needed: a trial run without any answer shows which. */
async function beginFilling(definition: Openable, resolving: Resolving): Promise<Filling> {
  const own = await ownVariables(definition, resolving);
  const answers = new Map<string, string>();
  const trial = createFilling(definition, { own, answers }, resolving);
  // Of these texts only a header can be a command, and the shell expands its variables itself.
  const isRun = definition.launch.kind === 'stdio' ? () => false : isCommand;
  for (const text of textsOf(definition.launch)) if (!isRun(text)) trial.fill(text);
  for (const id of trial.inputs) {
    const answer = await resolving.input(id);
    if (answer !== undefined) answers.set(id, answer);
  }
  return createFilling(definition, { own, answers }, resolving);
}

interface EntryValues {
  readonly own: ReadonlyMap<string, WrittenValue>;
  readonly answers: ReadonlyMap<string, string>;
}

/** How many variables may refer to each other in a row: more than any real entry has, and few enough for the stack. */
const LONGEST_CHAIN = 20;

type VisibilityOptions = Pick<Resolving, 'environment' | 'grants' | 'unresolvedEnv'>;

function createFilling(definition: Openable, { own, answers }: EntryValues, resolving: VisibilityOptions): Filling {
  const inputs = new Set<string>();
  const missing = new Set<string>();
  const missingInputs = new Set<string>();
  const circular = new Set<string>();
  const values = new Map<string, string>();
  const path: string[] = [];
  const outside = outsideLookup(definition, resolving);
  let spent = 0;

  /** Counts the length over the whole entry, before any text is built: a few lines of a file could stand for gigabytes. */
  const spend = (value: string | undefined) => {
    spent += value?.length ?? 0;
    if (spent <= limits.expandedChars) return value;
    throw invalid(definition, `what its placeholders stand for is longer than ${limits.expandedChars} characters`);
  };
  const fill = (text: string): string => {
    const expanded = expand(text, {
      variable: (name) => spend(lookUp(name)),
      input: (id) => {
        inputs.add(id);
        return spend(answers.get(id));
      },
      keepMissing: resolving.unresolvedEnv === 'literal',
    });
    for (const name of expanded.missing) missing.add(name);
    for (const id of expanded.missingInputs) missingInputs.add(id);
    return expanded.value;
  };
  /** The entry's own variables come first; inside its own value, a variable refers to the host's variable of that name. */
  const lookUp: Lookup = (name) => {
    const written = own.get(name);
    if (written === undefined || path.at(-1) === name) return outside(name);
    const before = values.get(name);
    if (before !== undefined) return before;
    if (path.includes(name)) {
      circular.add([...path.slice(path.indexOf(name)), name].join(' → '));
      return '';
    }
    if (path.length === LONGEST_CHAIN)
      throw invalid(definition, `its variables lead from one to the next more than ${LONGEST_CHAIN} times`);
    path.push(name);
    const value = written.isLiteral ? written.text : fill(written.text);
    path.pop();
    values.set(name, value);
    return value;
  };
  const env = Object.fromEntries([...own.keys()].map((name) => [name, lookUp(name) ?? '']));
  return { fill, env, inputs, missing, missingInputs, circular };
}

/** The entry's own variables: first those of its `envFile`, so that its `env` wins over them. Commands run in parallel. */
async function ownVariables(definition: Openable, resolving: Resolving): Promise<ReadonlyMap<string, WrittenValue>> {
  const { launch } = definition;
  const envFile = launch.kind === 'stdio' && isOwn(definition) ? launch.envFile : undefined;
  const file = envFile === undefined ? [] : await readEnvFile(definition, envFile, resolving);
  const entries = await writtenForEach(definition, launch.env ?? {}, 'env', resolving);
  return new Map([...file, ...entries]);
}

function writtenForEach(
  definition: Openable,
  values: Readonly<Record<string, string>>,
  key: string,
  resolving: Resolving,
): Promise<(readonly [string, WrittenValue])[]> {
  return Promise.all(
    Object.entries(values).map(
      async ([name, value]) => [name, await writtenFor(definition, value, `"${key}.${name}"`, resolving)] as const,
    ),
  );
}

async function writtenFor(definition: Openable, text: string, what: string, { run }: Resolving): Promise<WrittenValue> {
  if (!isCommand(text) || !isOwn(definition))
    return { text: text.startsWith('!!') ? text.slice(1) : text, isLiteral: false };
  const result = await run(text.slice(1));
  if (result.ok) return { text: result.output, isLiteral: true };
  throw invalid(definition, `the command of ${what} of server "${definition.name}" failed: ${result.problem}`);
}

async function readEnvFile(
  definition: Openable,
  written: string,
  resolving: Resolving,
): Promise<(readonly [string, WrittenValue])[]> {
  const { value, missing } = expand(written, { variable: outsideLookup(definition, resolving) });
  const [variable] = missing;
  if (variable !== undefined) throw new RuntimeError('ENV_MISSING', { server: definition.name, variable });
  const file = fileBeside(definition, value, resolving.environment);
  const read = await readText(file);
  if (read.kind !== 'text') throw invalid(definition, `its envFile ${file} cannot be read: ${read.problem}`);
  return Object.entries(parseEnv(read.text)).map(([name, text = '']) => [name, { text, isLiteral: true }]);
}

/** A relative path in an entry counts from the folder of its file. */
function fileBeside({ provenance }: ServerDefinition, path: string, { cwd, home, platform }: HostEnvironment): string {
  const { resolve, dirname } = pathsOf(platform);
  return resolve(provenance.file === undefined ? cwd : dirname(provenance.file), fromHome(path, home));
}

function builtinLookup({ cwd, home, platform }: HostEnvironment): Lookup {
  const { basename, sep } = pathsOf(platform);
  const values = new Map([
    ['workspaceFolder', cwd],
    ['workspaceFolderBasename', basename(cwd)],
    ['userHome', home],
    ['pathSeparator', sep],
    ['/', sep],
  ]);
  return (name) => values.get(name);
}

/** Entries that are not the user's own see only the host variables that the user gave them. */
function outsideLookup(definition: Openable, { environment, grants }: VisibilityOptions): Lookup {
  const { launch } = definition;
  const isRemote = launch.kind !== 'stdio';
  const isApproved = isOwn(definition) || grants !== undefined;
  // Names of folders reveal who the user is, so they do not leave the machine without approval either.
  const builtin: Lookup = isRemote && !isApproved ? () => undefined : builtinLookup(environment);
  const allowed = isApproved ? (launch.envAllow ?? []).filter((name) => !isRemote || !isSecretVariable(name)) : [];
  const granted = new Set([...(grants ?? []), ...allowed]);
  const mayRead = isOwn(definition) ? () => true : (name: string) => granted.has(name);
  const host = environmentLookup(environment.env, environment.platform);
  return (name) => builtin(name) ?? (mayRead(name) ? host(name) : undefined);
}

/** Names come from files: `${constructor}` must not find a member that every object inherits. On Windows case does not count. */
function environmentLookup(env: EnvironmentVariables, platform: NodeJS.Platform): Lookup {
  if (platform !== 'win32') return (name) => (Object.hasOwn(env, name) ? env[name] : undefined);
  const folded = new Map(Object.entries(env).map(([name, value]) => [name.toUpperCase(), value]));
  return (name) => folded.get(name.toUpperCase());
}

function fillStdio(
  launch: StdioLaunch,
  { fill, env }: Pick<Filling, 'fill' | 'env'>,
  { home }: HostEnvironment,
): StdioLaunch {
  return {
    ...launch,
    command: fromHome(fill(launch.command), home),
    args: launch.args.map(fill),
    env,
    ...(launch.cwd !== undefined && { cwd: fromHome(fill(launch.cwd), home) }),
  };
}

/** Replaces `~` as a shell does, which is what people expect. */
const fromHome = (path: string, home: string) => path.replace(/^~(?=[\\/]|$)/, () => home);

async function fillRemote(
  definition: ServerDefinition,
  { bearerTokenEnvVar, headersHelper, proxy, caFile, certFile, keyFile, env: _, ...launch }: RemoteLaunch,
  { fill }: Filling,
  resolving: Resolving,
): Promise<RemoteLaunch> {
  const openable = { ...definition, launch };
  const bearer = bearerTokenEnvVar === undefined ? {} : { Authorization: `Bearer \${${bearerTokenEnvVar}}` };
  const [values, loginValues, helped] = await Promise.all([
    writtenForEach(openable, joined(launch.headers, bearer), 'headers', resolving),
    writtenForEach(openable, Object.fromEntries(loginTexts(launch.oauth)), 'oauth', resolving),
    headersHelper === undefined || !isOwn(definition) ? {} : runHelper(openable, headersHelper, resolving),
  ]);
  const headers = values.map(filledValue(fill)).filter(([, value]) => !isEmptyHeader(value));
  const url = fill(launch.url);
  const filled = {
    ...launch,
    kind: kindFor(launch.kind, url),
    url,
    headers: joined(Object.fromEntries(headers), helped),
    ...(launch.oauth && { oauth: { ...launch.oauth, ...Object.fromEntries(loginValues.map(filledValue(fill))) } }),
  };
  if (!isOwn(definition)) return filled;
  const files = Object.entries({ caFile, certFile, keyFile }).flatMap(([key, path]) =>
    path === undefined ? [] : [[key, fileBeside(definition, fill(path), resolving.environment)] as const],
  );
  return { ...filled, ...(proxy !== undefined && { proxy: fill(proxy) }), ...Object.fromEntries(files) };
}

const filledValue =
  (fill: Filling['fill']) =>
  ([name, { text, isLiteral }]: readonly [string, WrittenValue]) =>
    [name, isLiteral ? text : fill(text)] as const;

/** Addresses with placeholders can be checked only now that they are filled in. */
function requireAddresses(definition: ServerDefinition, { kind, url, proxy }: RemoteLaunch): void {
  const fault = addressProblem(kind, url) ?? (proxy === undefined ? undefined : proxyProblem(proxy));
  if (fault) throw invalid(definition, fault.message);
}

type Headers = Readonly<Record<string, string>>;

/** Names of headers ignore case; where both maps have a header, the second counts. */
function joined(first: Headers, second: Headers): Headers {
  const replaced = new Set(Object.keys(second).map((name) => name.toLowerCase()));
  const kept = Object.entries(first).filter(([name]) => !replaced.has(name.toLowerCase()));
  return { ...Object.fromEntries(kept), ...second };
}

async function runHelper(
  definition: Openable,
  command: string,
  { runAnew }: Resolving,
): Promise<Record<string, string>> {
  const result = await runAnew(command);
  const helper = `the headersHelper of server "${definition.name}"`;
  if (!result.ok) throw invalid(definition, `${helper} failed: ${result.problem}`);
  const parsed = parseJson(result.output);
  if (parsed.ok && isTextMap(parsed.value)) return parsed.value;
  throw invalid(definition, `${helper} did not print a JSON map of strings`);
}

const isTextMap = (value: unknown): value is Record<string, string> =>
  isObject(value) && Object.values(value).every((each) => typeof each === 'string');

/** A header whose secret is missing is left out: servers answer an empty one with misleading errors. */
const isEmptyHeader = (header: string) => /^\s*(bearer|basic|token)?\s*$/i.test(header);

/** Throws when a value is missing that the server must not start without; otherwise returns a warning for each missing value. */
function checkMissing(
  definition: ServerDefinition,
  filling: Filling,
  { unresolvedEnv, environment }: Resolving,
): string[] {
  const { name: server } = definition;
  const isFatal = unresolvedEnv === 'error' || (unresolvedEnv === 'scoped' && isOwn(definition));
  const [variable] = filling.missing;
  const [input] = filling.missingInputs;
  const [circle] = filling.circular;
  if (isFatal && circle !== undefined)
    throw invalid(definition, `the variables of server "${server}" lead back to themselves: ${circle}`);
  if (isFatal && variable !== undefined)
    throw new RuntimeError('ENV_MISSING', { server, variable, ...settingOf(definition, variable) });
  if (isFatal && input !== undefined) throw new RuntimeError('INPUT_MISSING', { server, input });
  const host = environmentLookup(environment.env, environment.platform);
  const effect = unresolvedEnv === 'literal' ? 'so its placeholder stays as it is written' : 'so it is empty';
  return [
    ...[...filling.circular].map((each) => `its variables lead back to themselves, so they are empty: ${each}`),
    ...[...filling.missing].map((name) =>
      !isOwn(definition) && host(name) !== undefined
        ? `it asks for your variable ${name} and does not get it; give it with: plexus approve ${shellWord(server)}${definition.launch.kind === 'stdio' ? '' : ` --allow-env ${name}`}`
        : `the variable ${name} is not set, ${effect}`,
    ),
    ...[...filling.missingInputs].map((id) => `the input "${id}" was not given, ${effect}`),
    ...foreignPlaceholdersOf(definition).map(
      (each) => `it holds ${each}, which is no placeholder here and stays as it is written`,
    ),
  ];
}

/** A variable that no placeholder names has no default that could be written into one. */
function settingOf({ launch }: ServerDefinition, variable: string): { setting?: 'bearer_token_env_var' } {
  const isToken = 'bearerTokenEnvVar' in launch && launch.bearerTokenEnvVar === variable;
  return isToken ? { setting: 'bearer_token_env_var' } : {};
}

const isOwn = ({ provenance }: Pick<ServerDefinition, 'provenance'>) => isOwnScope(provenance.scope);

function invalid({ provenance }: Pick<ServerDefinition, 'provenance'>, problem: string): RuntimeError {
  return new RuntimeError('CONFIG_INVALID', {
    problem,
    ...(provenance.file !== undefined && { file: provenance.file }),
  });
}
