// Owns giving a command a runtime for as long as it runs, and taking it away whatever happens.

import type { Runtime, RuntimeOptions } from '../api.ts';
import type { AskInput } from '../config/inputs.ts';
import type { ServerStatus } from '../connection/status.ts';
import type { RuntimeEvent } from '../events.ts';
import { nearest } from '../kernel/nearest.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { asRuntimeError, RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { Context } from './command.ts';
import { answerOn } from './eliciting.ts';
import { diagnosticsText } from './render/diagnostics.ts';
import { printable, shellWord } from './render/text.ts';

type Settled = Extract<RuntimeEvent, { type: 'elicitation.settled' }>;

const LONGEST_WAIT_MS = 2_147_483_647;

export async function withRuntime<Value>(
  context: Context,
  options: RuntimeOptions,
  use: (runtime: Runtime, diagnostics: readonly Diagnostic[]) => Promise<Value>,
): Promise<Value> {
  const { createRuntime } = await import('../runtime.ts');
  let diagnostics: readonly Diagnostic[] = [];
  const questions = new Set<Promise<unknown>>();
  const runtime = await context.waitFor(
    'connecting to the servers',
    createRuntime({
      ...context.runtimeOptions,
      // A command has come for an answer: it waits for the servers, bounded, however it was started.
      interactive: false,
      watch: false,
      signal: context.signal,
      onError: tellOnce(context),
      ...(context.askText && { askInput: askOn(context.askText, questions), elicit: answerOn(context.askText) }),
      ...options,
      onEvent: (event) => {
        if (event.type === 'config.loaded') diagnostics = event.diagnostics;
        if (event.type === 'elicitation.settled') complainOfUnasked(event, context);
      },
    }),
  );
  try {
    context.signal.throwIfAborted();
    // Nobody is hurried: the time of the start begins when the last question was answered.
    if (questions.size > 0) {
      await Promise.allSettled(questions);
      await context.waitFor('connecting to the servers', runtime.ready({ signal: context.signal }));
    }
    // Whose tools are known was not waited for.
    if (context.values['live'] === true)
      await context.waitFor('connecting to the servers', runtime.ready({ signal: context.signal }));
    // Who asks for one server waits for it as long as its own limit says.
    const { only: servers } = options;
    const known = servers?.filter((name) => runtime.status().some((each) => each.name === name));
    if (known) await waitForAll(runtime, context, known);
    return await use(runtime, diagnostics);
  } finally {
    await context.waitFor('closing the servers', runtime.close());
  }
}

/** What is known of a server is the answer, unless it is to be asked anew. */
export function startupFor({ values }: Context): NonNullable<RuntimeOptions['startup']> {
  return values['live'] === true ? {} : { whenCached: 'leave' };
}

/** For what is compared with a lock: what counts is what servers say now. */
export const asLive = (context: Context): Context => ({ ...context, values: { ...context.values, live: true } });

/** The server was told no in the person's place: they should know, and how to be asked. */
function complainOfUnasked({ server, because }: Settled, context: Context): void {
  if (because !== 'nobody') return;
  const what = `Server "${server}" had a question, and nobody could be asked here. Do it in a terminal to answer.`;
  context.complain((paint) => paint.yellow(printable(what)));
}

/** What goes wrong beside the answer, such as a cache that cannot be written, is worth one line however often it happens. */
function tellOnce({ complain }: Context): (error: unknown) => void {
  const told = new Set<string>();
  return (error) => {
    const { message } = asRuntimeError(error);
    if (told.has(message)) return;
    told.add(message);
    complain((paint) => paint.yellow(printable(message)));
  };
}

function askOn(askText: NonNullable<Context['askText']>, questions: Set<Promise<unknown>>): AskInput {
  return ({ server, id, description = id, options = [], default: preset, password }) => {
    const choices = options.length > 0 ? ` (${options.join(', ')})` : '';
    const otherwise = preset === undefined ? '' : ` [${preset}]`;
    const question = { question: `${server} asks: ${description}${choices}${otherwise}:`, isHidden: password };
    const isFit = (answer: string | undefined) =>
      answer === undefined || options.length === 0 || options.includes(answer);
    const answer = (async () => {
      for (;;) {
        const given = await askText(question);
        if (isFit(given)) return given;
      }
    })();
    questions.add(answer);
    return answer;
  };
}

/** As long as their own limits say; Ctrl-C ends it. */
export async function waitForAll(
  runtime: Runtime,
  { waitFor, signal }: Context,
  servers?: readonly ServerName[],
): Promise<void> {
  const ready = runtime.ready({ timeoutMs: LONGEST_WAIT_MS, ...(servers && { servers }), signal });
  await waitFor('waiting for the servers', ready);
  signal.throwIfAborted();
}

/** What is wrong with the configuration may be why the answer is not the expected one. */
export function complainOf(diagnostics: readonly Diagnostic[], context: Context): void {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) context.complain((paint) => diagnosticsText(errors, paint));
}

export interface Absent extends Pick<ServerStatus, 'state' | 'error'> {
  readonly server: ServerName;
}

/** Who should be there and is not, for programs. */
export function absentFrom(runtime: Runtime): readonly Absent[] {
  return runtime
    .status()
    .filter(({ status, state }) => status !== 'connected' && isExpected(state))
    .map(asAbsent);
}

/** Those, and who is there without a list of its tools. */
export function toollessFrom(runtime: Runtime): readonly Absent[] {
  return runtime
    .status()
    .filter(({ status, state, error, freshness }) =>
      status === 'connected' ? error !== undefined || freshness === undefined : isExpected(state),
    )
    .map(asAbsent);
}

const asAbsent = ({ name, state, error }: ServerStatus): Absent => ({ server: name, state, ...(error && { error }) });

/** The same for a person, in one line, with where to read more: what is missing is missed. */
export function complainOfAbsent(absent: readonly Absent[], context: Context): void {
  if (absent.length === 0) return;
  const names = absent.map(({ server, state }) =>
    printable(`${server} (${state === 'connected' ? 'no list of its tools' : state})`),
  );
  context.complain((paint) => paint.yellow(`Not ready: ${names.join(', ')}. See why with: plexus list --live`));
}

export interface Problem {
  readonly server: ServerName;
  readonly problem: string;
}

/** What was left out or cut off of what servers offer, for programs. */
export function problemsOf(runtime: Runtime): readonly Problem[] {
  return runtime.status().flatMap(({ name, warnings = [] }) => warnings.map((problem) => ({ server: name, problem })));
}

const SHOWN_PROBLEMS = 5;

/** The same for a person: a few of them, so that the answer is not lost among them. */
export function complainOfProblems(problems: readonly Problem[], context: Context): void {
  if (problems.length === 0) return;
  const shown = problems.slice(0, SHOWN_PROBLEMS).map(({ server, problem }) => printable(`${server}: ${problem}`));
  const more = problems.length - shown.length;
  if (more > 0) shown.push(`${more} more like these; --json tells all of them.`);
  context.complain((paint) => paint.yellow(shown.join('\n')));
}

const isExpected = (state: ServerStatus['state']) => state !== 'disabled' && state !== 'idle' && state !== 'stopped';

/** The server must be there and up; otherwise its own failure is the command's. */
export function requireServer(runtime: Runtime, server: ServerName): void {
  const statuses = runtime.status();
  const status = statuses.find((each) => each.name === server);
  if (status === undefined) {
    const names = statuses.map((each) => each.name);
    throw new RuntimeError('SERVER_UNKNOWN', { server, nearest: nearest(server, names, limits.suggestions) });
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
