// Owns `gateway.json`: which gateway runs on a state folder, and whether it still does. Reading is synchronous and loads nothing:
// it is on the way of every `plexus connect`.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type HostEnvironment, userFolder } from '../config/scopes.ts';
import { isObject, parseJson } from '../kernel/json.ts';
import { isOver } from '../kernel/process-mark.ts';
import { isSystemError } from '../kernel/system-error.ts';

/** The language between `plexus connect` and the gateway. A change that an older one would not understand raises it. */
export const GATEWAY_PROTOCOL = 1;

export interface GatewayInstance {
  readonly protocol: number;
  readonly pid: number;
  /** Identifies the process together with its start time, where the system tells it; otherwise empty. */
  readonly process: string;
  /** When the gateway began, for people. */
  readonly startedAt: string;
  readonly host: string;
  readonly port: number;
  /** The configuration that it serves, as `configurationOf` names it: a command of another one is not its business. */
  readonly configuration: string;
}

/** A state folder, as it tells of its gateway. `older` and `newer` run too, and speak another protocol. */
export type FoundGateway =
  | { readonly kind: 'none' }
  | { readonly kind: 'running' | 'older' | 'newer'; readonly instance: GatewayInstance };

/** The files of the gateway, in Plexus's state folder. */
export const gatewayFiles = (stateFolder: string) => {
  const folder = join(stateFolder, 'gateway');
  return {
    folder,
    instance: join(folder, 'gateway.json'),
    /** Held while a gateway takes the folder over. */
    claim: join(folder, 'claim.lock'),
    /** Held by the `plexus connect` that starts a gateway. */
    start: join(folder, 'start.lock'),
    log: join(folder, 'gateway.log'),
    token: join(stateFolder, 'gateway.token'),
    connectToken: join(folder, 'connect-token'),
    adminToken: join(folder, 'admin-token'),
    ledger: join(folder, 'processes'),
  };
};

/** Names the configuration of a gateway or a command: the one file that it was given, or the folder of the user's own. */
export const configurationOf = (
  environment: Pick<HostEnvironment, 'home' | 'env' | 'platform'>,
  file: string | undefined,
): string => file ?? userFolder(environment);

export function findGateway(stateFolder: string): FoundGateway {
  const text = readIfThere(gatewayFiles(stateFolder).instance);
  return text === undefined ? { kind: 'none' } : judge(text, isRunning);
}

/** A gateway runs that is joined, or whose newer version is left alone: none is started. */
export const isSettled = ({ kind }: FoundGateway): boolean => kind === 'running' || kind === 'newer';

/** A file that cannot be read as ours counts as none, unless it names a running process: then a newer Plexus wrote it. */
export function judge(text: string, isAlive: (instance: GatewayInstance) => boolean): FoundGateway {
  const parsed = parseJson(text);
  const instance = parsed.ok ? instanceOf(parsed.value) : undefined;
  if (instance === undefined || !isAlive(instance)) return { kind: 'none' };
  if (instance.protocol === GATEWAY_PROTOCOL) return { kind: 'running', instance };
  return { kind: instance.protocol > GATEWAY_PROTOCOL ? 'newer' : 'older', instance };
}

/** Every version keeps `protocol`, `pid` and `process`; a newer one may have changed the rest. */
function instanceOf(value: unknown): GatewayInstance | undefined {
  if (!isObject(value)) return undefined;
  const { protocol, pid, process: mark = '', startedAt = '', host = '127.0.0.1', port = 0, configuration = '' } = value;
  if (!isWhole(protocol) || !isWhole(pid) || pid < 1 || typeof mark !== 'string') return undefined;
  const known = { protocol, pid, process: mark };
  const areTexts = [startedAt, host, configuration].every((text) => typeof text === 'string');
  if (areTexts && isWhole(port)) return { ...known, startedAt, host, port, configuration } as GatewayInstance;
  const unknown = { startedAt: '', host: '', port: 0, configuration: '' };
  return protocol > GATEWAY_PROTOCOL ? { ...known, ...unknown } : undefined;
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value);

/** A process of another user is not the gateway: its pid was given out again. */
function isRunning({ pid, process: mark }: GatewayInstance): boolean {
  if (isOver(mark)) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}

export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
