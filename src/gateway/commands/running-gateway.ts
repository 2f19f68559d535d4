// Owns how a command finds the gateway that serves its configuration, asks it about the servers of its folder, and reaches them
// there. A gateway that does not answer is none: the command goes on without it, and says so.

import type { Socket } from 'node:net';
import { type HostEnvironment, stateFolder } from '../../config/scopes.ts';
import { limits } from '../../model/limits.ts';
import type { ServerName } from '../../model/names.ts';
import { WORKSPACE_HEADER } from '../access.ts';
import { openLink } from '../connect/link.ts';
import { type GatewayInstance, gatewayFiles, readIfThere } from '../instance.ts';
import { COMMAND_PATH, FLEET_PATH, GATEWAY_HEADER, GATEWAY_VARIABLE } from '../link-words.ts';
import { type FleetReport, readReport } from './fleet-report.ts';

export interface RunningGateway {
  readonly pid: number;
  readonly port: number;
  /** `undefined`: it did not answer as a gateway does. */
  fleet(asked?: FleetQuestion): Promise<FleetReport | undefined>;
  link(server: ServerName): Promise<Socket>;
}

export interface FleetQuestion {
  /** Connect every server first, however long it takes. */
  readonly live?: true;
  /** Wait for servers that are starting, as a start does. */
  readonly settled?: true;
  /** End every server and start it anew first. */
  readonly afresh?: true;
  /** Connect this one afresh first. */
  readonly reconnect?: ServerName;
  readonly signal?: AbortSignal;
}

/** The folder of the environment is the workspace of the command. */
export function openRunningGateway(instance: GatewayInstance, environment: HostEnvironment): RunningGateway {
  const token = readIfThere(gatewayFiles(stateFolder(environment)).connectToken)?.trim() ?? '';
  const behind = environment.env[GATEWAY_VARIABLE] ?? '';
  const target = { ...instance, token, behind, workspace: environment.cwd };
  return {
    pid: instance.pid,
    port: instance.port,
    fleet: (asked = {}) => ask(target, asked),
    link: (server) =>
      openLink({
        ...{ ...target, path: `${COMMAND_PATH}${encodeURIComponent(server)}` },
        client: `command-${process.pid}-${Date.now().toString(36)}`,
      }),
  };
}

interface Target extends GatewayInstance {
  readonly token: string;
  readonly behind: string;
  readonly workspace: string;
}

function ask(
  { host, port, token, behind, workspace }: Target,
  { live, settled, afresh, reconnect, signal }: FleetQuestion,
): Promise<FleetReport | undefined> {
  const { request } = process.getBuiltinModule('node:http');
  const words = new URLSearchParams({
    ...(live && { live: '' }),
    ...(settled && { settled: '' }),
    ...(afresh && { afresh: '' }),
    ...(reconnect !== undefined && { reconnect }),
  });
  const headers = {
    authorization: `Bearer ${token}`,
    [WORKSPACE_HEADER]: encodeURIComponent(workspace),
    ...(behind !== '' && { [GATEWAY_HEADER]: behind }),
  };
  // Connecting takes as long as servers take; a gateway that hangs does not get that far.
  const timeout = words.size > 0 ? undefined : limits.fleetAnswerMs;
  const options = {
    ...{ host, port, path: `${FLEET_PATH}?${words}`, headers, agent: false },
    ...(timeout !== undefined && { timeout }),
    ...(signal && { signal }),
  };
  return new Promise((resolve) => {
    const asking = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', () => resolve(undefined));
      response.on('end', () =>
        resolve(response.statusCode === 200 ? readReport(Buffer.concat(chunks).toString('utf8')) : undefined),
      );
    });
    asking.on('timeout', () => asking.destroy());
    asking.on('error', () => resolve(undefined)).end();
  });
}
