// Owns giving a command a runtime for as long as it runs, and taking it away whatever happens.

import type { Runtime, RuntimeOptions } from '../api.ts';
import type { AskInput } from '../config/inputs.ts';
import type { ServerStatus } from '../connection/status.ts';
import { nearest } from '../kernel/nearest.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { Context } from './command.ts';
import { diagnosticsText } from './render/diagnostics.ts';
import { printable, shellWord } from './render/text.ts';

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
      ...(context.askText && { askInput: askOn(context.askText, questions) }),
      ...options,
      onEvent: (event) => {
        if (event.type === 'config.loaded') diagnostics = event.diagnostics;
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

/** Tools that are missing are missed: one line says whose, and where to read more. */
export function complainOfAbsent(runtime: Runtime, context: Context): void {
  const absent = runtime.status().filter(({ status, state }) => status !== 'connected' && isExpected(state));
  if (absent.length === 0) return;
  const names = absent.map(({ name, state }) => `${printable(name)} (${state})`).join(', ');
  context.complain((paint) => paint.yellow(`Not ready: ${names}. See why with: plexus list`));
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
