// Owns finding the gateway of a state folder for `plexus connect`: joins the one that runs, replaces one that speaks an older
// protocol, and otherwise starts one. Exactly one, however many look at once: `start.ts` is loaded only by those that start.

import type { Socket } from 'node:net';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import { isSystemError } from '../../kernel/system-error.ts';
import { findGateway, type GatewayInstance, gatewayFiles, isSettled, readIfThere } from '../instance.ts';
import { LinkRefused, type LinkTarget, openLink } from './link.ts';
import type { GatewayProgram } from './start.ts';

export interface JoinOptions extends Omit<LinkTarget, 'host' | 'port' | 'token'> {
  readonly stateFolder: string;
  /** Starts a gateway in its own process. */
  readonly program: GatewayProgram;
  readonly platform: NodeJS.Platform;
  readonly clock?: Clock;
}

/** How long a client waits for a gateway: one that stops finishes its calls first. */
const PATIENCE_MS = 30_000;
/** How soon `plexus connect` looks again for a gateway that is starting or ending. */
const LOOK_MS = 25;
/** The gateway knows the request, and its answer will not change. */
const FINAL: readonly number[] = [400, 401, 403, 404, 508];

/** Resolves with an open link. Rejects with a `RuntimeError` when there is no gateway to be had. */
export async function joinGateway(options: JoinOptions): Promise<Socket> {
  const { clock = systemClock, stateFolder } = options;
  const until = clock.now() + PATIENCE_MS;
  let reason = 'it did not answer in time';
  do {
    let found = findGateway(stateFolder);
    if (!isSettled(found)) {
      await (await import('./start.ts')).startGateway({ ...options, clock });
      found = findGateway(stateFolder);
    }
    if (found.kind === 'newer') throw await failure('GATEWAY_NEWER', { pid: found.instance.pid });
    if (found.kind === 'running') {
      const link = await tryLink(found.instance, options);
      if (!(link instanceof Error)) return link;
      reason = link.message;
    }
    await clock.sleep(LOOK_MS);
  } while (clock.now() < until);
  throw await failure('GATEWAY_UNREACHABLE', { reason });
}

/** The error, where another attempt may succeed: the gateway ends, or has just begun. */
async function tryLink({ host, port }: GatewayInstance, options: JoinOptions): Promise<Socket | Error> {
  const token = readIfThere(gatewayFiles(options.stateFolder).connectToken)?.trim() ?? '';
  try {
    return await openLink({ ...options, host, port, token });
  } catch (error) {
    if (error instanceof LinkRefused && FINAL.includes(error.status))
      throw await failure('GATEWAY_UNREACHABLE', { reason: error.message, isRefusal: true });
    if (error instanceof LinkRefused || isSystemError(error)) return error;
    throw error;
  }
}

/** Loaded when it is needed: the failure table is larger than all of `plexus connect`. */
async function failure(...row: Parameters<typeof import('./start.ts').failureOf>): Promise<Error> {
  return (await import('./start.ts')).failureOf(...row);
}
