// Owns ending a gateway that runs in another process: it finishes its calls, within its drain, and is awaited.

import type { Clock } from '../kernel/clock.ts';
import { isSystemError } from '../kernel/replace-file.ts';
import { RuntimeError } from '../model/errors.ts';
import { findGateway, type GatewayInstance, gatewayFiles, readIfThere } from './instance.ts';

export interface StopOptions {
  readonly stateFolder: string;
  readonly platform: NodeJS.Platform;
  readonly clock: Clock;
}

/** The way to ask a gateway to end: Windows has no SIGTERM, so there it is a request with the admin token. */
export type StopWay =
  | { readonly kind: 'signal'; readonly pid: number }
  | { readonly kind: 'request'; readonly url: string };

export const stopWayFor = ({ pid, host, port }: GatewayInstance, platform: NodeJS.Platform): StopWay =>
  platform === 'win32'
    ? { kind: 'request', url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/stop` }
    : { kind: 'signal', pid };

/** Longer than a gateway's drain. */
const END_MS = 20_000;
const LOOK_MS = 25;

/** Resolves when the gateway is gone. */
export async function stopGateway(
  instance: GatewayInstance,
  { stateFolder, platform, clock }: StopOptions,
): Promise<void> {
  const way = stopWayFor(instance, platform);
  try {
    if (way.kind === 'signal') process.kill(way.pid, 'SIGTERM');
    else {
      const token = readIfThere(gatewayFiles(stateFolder).adminToken)?.trim() ?? '';
      await fetch(way.url, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
    }
  } catch (error) {
    // Gone already.
    if (!isSystemError(error) && way.kind === 'signal') throw error;
  }
  const until = clock.now() + END_MS;
  for (;;) {
    const found = findGateway(stateFolder);
    if (found.kind === 'none' || found.instance.pid !== instance.pid) return;
    if (clock.now() > until)
      throw new RuntimeError('GATEWAY_UNREACHABLE', { reason: `the old one, process ${instance.pid}, does not end` });
    await clock.sleep(LOOK_MS);
  }
}
