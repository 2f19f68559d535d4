// Owns giving a command servers whose resources or prompts it asks for: up, since nothing of that is remembered.

import type { Runtime } from '../api.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { ServerName } from '../model/names.ts';
import type { Context } from './command.ts';
import { absentFrom, complainOf, complainOfAbsent, requireServer, waitForAll, withRuntime } from './with-runtime.ts';

export function withOffers<Value>(
  context: Context,
  server: ServerName | undefined,
  use: (runtime: Runtime, diagnostics: readonly Diagnostic[]) => Promise<Value>,
): Promise<Value> {
  const only = server === undefined ? {} : { only: [server] };
  return withRuntime(context, only, async (runtime, diagnostics) => {
    complainOf(diagnostics, context);
    if (server === undefined) await settle(runtime, context);
    else await start(runtime, context, server);
    return use(runtime, diagnostics);
  });
}

/** Who has not settled by then is named; the others are the answer. */
async function settle(runtime: Runtime, context: Context): Promise<void> {
  const { signal } = context;
  await context.waitFor('waiting for the servers', runtime.ready({ signal }));
  signal.throwIfAborted();
  complainOfAbsent(absentFrom(runtime), context);
}

/** A server that waits for its first call is named here by a person: that is reason enough. */
async function start(runtime: Runtime, context: Context, server: ServerName): Promise<void> {
  const isIdle = runtime.status().some(({ name, state }) => name === server && state === 'idle');
  if (isIdle) {
    runtime.reconnect(server);
    await waitForAll(runtime, context, [server]);
  }
  // Who is up may have this to offer, whatever became of its tools.
  if (!runtime.status().some(({ name, status }) => name === server && status === 'connected'))
    requireServer(runtime, server);
}
