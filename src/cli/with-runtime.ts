// Owns the runtime of a command: creates it, waits for the servers that the command needs, and closes it whatever happens.

import type { Runtime, RuntimeOptions } from '../api.ts';
import type { AskInput } from '../config/inputs.ts';
import type { ElicitRequest } from '../connection/elicitation/request.ts';
import type { ServerStatus } from '../connection/status.ts';
import type { RuntimeEvent } from '../events.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { asRuntimeError, RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { Context } from './command.ts';
import type { answerOnTerminal } from './elicitation.ts';
import type { GatewayUse } from './gateway-use.ts';
import { diagnosticsText } from './render/diagnostics.ts';
import { printable, shellWord } from './render/text.ts';
import { serverUnknown } from './unknown-name.ts';

type ElicitationSettled = Extract<RuntimeEvent, { type: 'elicitation.settled' }>;

const LONGEST_WAIT_MS = 2_147_483_647;

/** What commands listen to. */
const HEARD: NonNullable<RuntimeOptions['eventTypes']> = [
  'connection.changed',
  'connection.listed',
  'elicitation.settled',
];

/** `gateway`: servers that the running gateway has are used there. */
export interface CommandRuntimeOptions extends RuntimeOptions {
  readonly gateway?: GatewayUse | undefined;
}

/**
 * An error beside the answer, such as a cache that cannot be written, is printed once, and not at all where it ends the command.
 * `before`: the messages of those that the command met before it needed a runtime.
 */
export async function withRuntime<Value>(
  context: Context,
  options: CommandRuntimeOptions,
  use: UseRuntime<Value>,
  before: readonly string[] = [],
): Promise<Value> {
  const beside = new Set(before);
  const onError = (error: unknown) => void beside.add(asRuntimeError(error).message);
  try {
    return await useRuntime(context, { onError, ...options }, use);
  } catch (error) {
    beside.delete(asRuntimeError(error).message);
    throw error;
  } finally {
    warnOfErrors(beside, context);
  }
}

export function warnOfErrors(messages: ReadonlySet<string>, context: Context): void {
  for (const message of messages) context.warn((paint) => paint.yellow(printable(message)));
}

export type UseRuntime<Value> = (runtime: Runtime, diagnostics: readonly Diagnostic[]) => Promise<Value>;

async function useRuntime<Value>(
  context: Context,
  { gateway, ...options }: CommandRuntimeOptions,
  use: UseRuntime<Value>,
): Promise<Value> {
  const { createRuntimeOf } = await import('../runtime.ts');
  const questions = new Set<Promise<unknown>>();
  const [started, failed] = [new Set<ServerName>(), new Set<ServerName>()];
  const connecting = `connecting to ${wordsFor(options.only)}`;
  const runtime = await context.waitFor(
    connecting,
    createRuntimeOf(gateway ?? {}, {
      ...context.runtimeOptions,
      // Wait for the servers within the startup limit, also in a terminal: a command needs their answer.
      interactive: false,
      watch: false,
      signal: context.signal,
      ...(context.askText && {
        askInput: askInputOn(context.askText, questions),
      }),
      ...handlersOf(context),
      ...options,
      eventTypes: HEARD,
      onEvent: (event) => {
        options.onEvent?.(event);
        if (event.type === 'elicitation.settled') warnOfUnasked(event, context);
        if (event.type === 'connection.changed' && event.to === 'connecting') started.add(event.server);
        if (event.type === 'connection.changed' && event.cause) failed.add(event.server);
      },
    }),
  );
  try {
    context.signal.throwIfAborted();
    // The time a person takes to answer does not count: start waiting after the last answer.
    if (questions.size > 0) {
      await Promise.allSettled(questions);
      await context.waitFor(connecting, runtime.ready({ signal: context.signal }));
    }
    // Startup does not wait for servers whose tools are cached; `--live` does.
    if (context.values['live'] === true) await context.waitFor(connecting, runtime.ready({ signal: context.signal }));
    // Servers that the command names are waited for as long as their own startup timeouts allow.
    const { only: servers } = options;
    const configured = servers?.filter((name) => runtime.status().some((each) => each.name === name));
    if (configured) await waitForAll(runtime, context, configured);
    return await use(runtime, runtime.diagnostics());
  } finally {
    await context.waitFor('closing the servers', runtime.close());
    for (const server of gateway?.servers ?? []) started.delete(server);
    if (started.size > 0) {
      const { warnOfWithheldVariables } = await import('./withheld-variables.ts');
      await warnOfWithheldVariables(context, started, failed);
    }
  }
}

/** A person at a terminal answers what servers ask. What draws the questions is loaded with the first one. */
export function handlersOf({ askText }: Context): Pick<RuntimeOptions, 'elicit'> {
  if (askText === undefined) return {};
  let answering: Promise<ReturnType<typeof answerOnTerminal>> | undefined;
  const elicit = async (request: ElicitRequest) => {
    answering ??= import('./elicitation.ts').then((loaded) => loaded.answerOnTerminal(askText));
    return (await answering)(request);
  };
  return { elicit };
}

/** Without `--live`, servers whose tools are cached are not connected. */
export function startupFor({ values }: Context): NonNullable<RuntimeOptions['startup']> {
  return values['live'] === true ? {} : { whenCached: 'leave' };
}

/** The same for a command that shows tools: lazy servers that never listed theirs are started. */
export const startupForTools = (context: Context): NonNullable<RuntimeOptions['startup']> => ({
  ...startupFor(context),
  lazyList: 'at-start',
});

/** As if `--live` were given: a comparison with plexus.lock needs the current definitions. */
export const asLive = (context: Context): Context => ({ ...context, values: { ...context.values, live: true } });

/** Tells the person that a server's question was declined because there is no terminal. */
function warnOfUnasked({ server, because }: ElicitationSettled, context: Context): void {
  if (because !== 'nobody') return;
  const what = `Server "${server}" asked a question, which was declined because there is no terminal. Run the command in a terminal to answer.`;
  context.warn((paint) => paint.yellow(printable(what)));
}

function askInputOn(askText: NonNullable<Context['askText']>, questions: Set<Promise<unknown>>): AskInput {
  return ({ server, id, description = id, options = [], default: preset, password }, { signal }) => {
    const choices = options.length > 0 ? ` (${options.join(', ')})` : '';
    const otherwise = preset === undefined ? '' : ` [${preset}]`;
    const question = {
      question: `Server "${server}" needs an answer: ${description}${choices}${otherwise}${password ? ' (hidden while you type)' : ''}:`,
      isHidden: password,
      signal,
      ...(preset !== undefined && { preset }),
    };
    const isFit = (answer: string | undefined) =>
      answer === undefined || options.length === 0 || options.includes(answer);
    const answer = (async () => {
      for (;;) {
        const typed = await askText(question);
        if (isFit(typed)) return typed;
      }
    })();
    questions.add(answer);
    return answer;
  };
}

/** A person who named one server reads its name while waiting. */
const wordsFor = (servers: readonly ServerName[] | undefined): string =>
  servers?.length === 1 ? String(servers[0]) : 'the servers';

/** Waits as long as the servers' own startup timeouts allow; Ctrl-C ends it. */
export async function waitForAll(
  runtime: Runtime,
  { waitFor, signal }: Context,
  servers?: readonly ServerName[],
): Promise<void> {
  const ready = runtime.ready({ timeoutMs: LONGEST_WAIT_MS, ...(servers && { servers }), signal });
  await waitFor(`waiting for ${wordsFor(servers)}`, ready);
  signal.throwIfAborted();
}

/**
 * For a command about one server: errors of others are not its business, and its own becomes the command's. If it is unknown, any
 * error may be why.
 */
export function warnOfDiagnosticsFor(
  server: ServerName | undefined,
  runtime: Runtime,
  diagnostics: readonly Diagnostic[],
  context: Context,
): void {
  if (server === undefined || !runtime.status().some(({ name }) => name === server))
    warnOfDiagnostics(diagnostics, context);
}

/** Errors of the configuration may explain an unexpected answer. */
export function warnOfDiagnostics(diagnostics: readonly Diagnostic[], context: Context): void {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) context.warn((paint) => diagnosticsText(errors, paint));
}

export interface NotReadyServer extends Pick<ServerStatus, 'state' | 'reason' | 'error'> {
  readonly server: ServerName;
}

/** Servers that should be connected and are not, for `--json`. */
export function notReadyServers(runtime: Runtime): readonly NotReadyServer[] {
  return runtime
    .status()
    .filter(({ status, state }) => status !== 'connected' && isExpected(state))
    .map(asNotReady);
}

/** These, and connected servers whose tools could not be listed. */
export function serversWithoutTools(runtime: Runtime): readonly NotReadyServer[] {
  return runtime
    .status()
    .filter(({ status, state, error, freshness }) =>
      status === 'connected' ? error !== undefined || freshness === undefined : isExpected(state),
    )
    .map(asNotReady);
}

const asNotReady = ({ name, state, reason, error }: ServerStatus): NotReadyServer => ({
  server: name,
  state,
  ...(reason !== undefined && { reason }),
  ...(error && { error }),
});

/** The same for a person, in one line, because the answer lacks what these servers offer. */
export function warnOfNotReady(absent: readonly NotReadyServer[], context: Context): void {
  if (absent.length === 0) return;
  const names = absent.map(({ server, state }) =>
    printable(`${server} (${state === 'connected' ? 'its tools could not be listed' : state})`),
  );
  context.warn((paint) => paint.yellow(`Not ready: ${names.join(', ')}. Find out why with: plexus list --live`));
}

export interface ServerProblem {
  readonly server: ServerName;
  readonly problem: string;
}

/** Warnings about what was left out or cut off of the servers' listings, for `--json`. */
export function problemsOf(runtime: Runtime): readonly ServerProblem[] {
  return runtime.status().flatMap(({ name, warnings = [] }) => warnings.map((problem) => ({ server: name, problem })));
}

/** In place of "has none": of a list that failed it is not known. `undefined`: none failed. */
export function unlistedText(what: string, problems: readonly ServerProblem[]): string | undefined {
  const servers = [...new Set(problems.map(({ server }) => `"${server}"`))];
  if (servers.length === 0) return undefined;
  return printable(`The ${what} of ${servers.join(', ')} are not known, because they could not be listed.`);
}

const SHOWN_PROBLEMS = 5;

/** The same for a person: only a few, so that the answer stays visible. */
export function warnOfProblems(problems: readonly ServerProblem[], context: Context): void {
  if (problems.length === 0) return;
  const shown = problems.slice(0, SHOWN_PROBLEMS).map(({ server, problem }) => printable(`${server}: ${problem}`));
  const more = problems.length - shown.length;
  if (more > 0) shown.push(`${more} more like these. See all of them with --json.`);
  context.warn((paint) => paint.yellow(shown.join('\n')));
}

const isExpected = (state: ServerStatus['state']) => state !== 'disabled' && state !== 'idle' && state !== 'stopped';

/** Throws unless the server is connected or its tools are cached. The server's own error becomes the command's. */
export function requireServer(runtime: Runtime, server: ServerName, context: Context): void {
  const statuses = runtime.status();
  const status = statuses.find((each) => each.name === server);
  if (status === undefined) {
    const names = statuses.map((each) => each.name);
    throw serverUnknown(server, names, context);
  }
  if (status.error) throw status.error;
  if (status.status === 'connected' || status.freshness === 'cached') return;
  throw status.state === 'disabled'
    ? new RuntimeError('SERVER_DENIED', {
        server,
        because: `it is disabled; enable it with: plexus enable ${shellWord(server)}`,
      })
    : new RuntimeError('CONNECTION_LOST', { server, reason: `it is still ${status.state}` });
}
