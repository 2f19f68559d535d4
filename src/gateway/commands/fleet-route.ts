// Owns the gateway's address for commands of the person on this machine: `plexus list`, `reload` and `reconnect` ask it how the servers of
// their folder are, and to connect them. It has the token of `plexus connect`, since it names a folder.

import type { Runtime } from '../../api.ts';
import { asRuntimeError } from '../../model/errors.ts';
import type { ServerName } from '../../model/names.ts';
import { type Authenticate, faultOfNames } from '../../serving/access.ts';
import type { HttpHandler, RequestHead } from '../../serving/http-exchange.ts';
import { ProtocolError } from '../../serving/protocol.ts';
import { identify, originOf } from '../access.ts';
import type { Gateway, Refusal } from '../gateway.ts';
import { type FleetReport, writeReport } from './fleet-report.ts';

export interface FleetRouteOptions {
  /** Knows the token of `plexus connect`, and no other. */
  readonly authenticate: Authenticate;
  readonly refuses: (request: RequestHead) => Refusal | undefined;
  /** Names by which the gateway is reached. */
  readonly hosts: readonly string[];
  readonly withRuntime: Gateway['withRuntime'];
}

export function fleetRoute({ authenticate, refuses, hosts, withRuntime }: FleetRouteOptions): HttpHandler {
  return async (request, response) => {
    const send = (status: number, text: string) =>
      void response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(text);
    const fault = faultOfNames(request, { hosts, origins: [] });
    if (fault !== undefined) return send(403, fault);
    const principal = authenticate(request);
    if (principal === undefined) return send(401, 'The request needs the token of plexus connect.');
    const refusal = refuses(request);
    if (refusal !== undefined) return send(refusal.status, refusal.sentence);
    const identified = identify(principal, request);
    if (typeof identified === 'string') return send(403, identified);
    const asked = new URL(request.url ?? '', 'http://localhost').searchParams;
    try {
      send(200, await withRuntime(originOf(identified).workspace, (runtime) => answer(runtime, asked)));
    } catch (error) {
      if (error instanceof ProtocolError) send(error.status ?? 500, error.message);
      else send(500, asRuntimeError(error).message);
    }
  };
}

async function answer(runtime: Runtime, asked: URLSearchParams): Promise<string> {
  // A person who has just edited a file or approved a server means what it says now.
  await runtime.reload({ replaceAll: asked.has('afresh') });
  if (asked.has('live')) await connectAll(runtime);
  else if (asked.has('settled') || asked.has('afresh')) await runtime.ready();
  const failure = asked.has('reconnect') ? await failureOf(runtime, asked.get('reconnect') ?? '') : undefined;
  return writeReport({ ...reportOf(runtime), failure });
}

function reportOf(runtime: Runtime): FleetReport {
  const reduced = new Map<ServerName, number>();
  for (const { id, reduced: isReduced } of runtime.getTools())
    if (isReduced) reduced.set(id.server, (reduced.get(id.server) ?? 0) + 1);
  return { servers: runtime.status(), reduced, diagnostics: runtime.diagnostics() };
}

/** As `--live` without a gateway: lazy and manual servers stay as they are. */
async function connectAll(runtime: Runtime): Promise<void> {
  const idle = runtime.status().filter(({ state, lifecycle }) => lifecycle === undefined && RESTED.includes(state));
  await Promise.allSettled(idle.map(({ name }) => runtime.reconnect(name)));
  await runtime.ready({ timeoutMs: LONGEST_WAIT_MS });
}

const RESTED: readonly string[] = ['idle', 'stopped', 'failed', 'reconnecting'];
const LONGEST_WAIT_MS = 2_147_483_647;

const failureOf = (runtime: Runtime, server: ServerName) =>
  runtime.reconnect(server).then(() => undefined, asRuntimeError);
