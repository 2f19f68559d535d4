// Owns connecting servers for a command that needs their resources or prompts, which unlike tools are not cached.

import type { Runtime } from '../api.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { ServerName } from '../model/names.ts';
import type { Context } from './command.ts';
import { createGatewayUse } from './gateway-use.ts';
import {
  notReadyServers,
  requireServer,
  waitForAll,
  warnOfDiagnosticsFor,
  warnOfNotReady,
  withRuntime,
} from './with-runtime.ts';

export function withConnectedServers<Value>(
  context: Context,
  server: ServerName | undefined,
  use: (runtime: Runtime, diagnostics: readonly Diagnostic[]) => Promise<Value>,
): Promise<Value> {
  const only = server === undefined ? {} : { only: [server] };
  return withRuntime(context, { ...only, gateway: createGatewayUse(context) }, async (runtime, diagnostics) => {
    warnOfDiagnosticsFor(server, runtime, diagnostics, context);
    if (server === undefined) await waitForReady(runtime, context);
    else await connectServer(runtime, context, server);
    return use(runtime, diagnostics);
  });
}

/** Servers that are not ready in time are named on stderr; the command answers with the others. */
async function waitForReady(runtime: Runtime, context: Context): Promise<void> {
  const { signal } = context;
  await context.waitFor('waiting for the servers', runtime.ready({ signal }));
  signal.throwIfAborted();
  warnOfNotReady(notReadyServers(runtime), context);
}

/** Also starts a server that is idle until its first call, because the person named it. */
export async function connectServer(runtime: Runtime, context: Context, server: ServerName): Promise<void> {
  const isIdle = runtime.status().some(({ name, state }) => name === server && state === 'idle');
  if (isIdle) {
    void runtime.reconnect(server);
    await waitForAll(runtime, context, [server]);
  }
  // A connected server may have resources and prompts even if listing its tools failed.
  if (!runtime.status().some(({ name, status }) => name === server && status === 'connected'))
    requireServer(runtime, server, context);
}
