// Owns that a state folder has one gateway: a gateway claims the folder before it listens, writes `gateway.json` when it can be
// reached, and takes it away when it has ended.

import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { acquire } from '../kernel/file-lock.ts';
import { makeFolder } from '../kernel/make-folder.ts';
import { markOfThisProcess } from '../kernel/process-mark.ts';
import { replaceFile } from '../kernel/replace-file.ts';
import { isSystemError } from '../kernel/system-error.ts';
import type { EnvironmentVariables } from '../model/environment-variables.ts';
import { RuntimeError } from '../model/errors.ts';
import { readOrCreateToken } from '../serving/access.ts';
import { unwritable } from '../store/disk.ts';
import { findGateway, GATEWAY_PROTOCOL, type GatewayInstance, gatewayFiles } from './instance.ts';
import { GATEWAY_VARIABLE, isBehind, marksBehind } from './link-words.ts';

export interface ClaimOptions {
  readonly stateFolder: string;
  readonly clock?: Clock;
}

export interface GatewayClaim {
  /** Known to the children and requests of this gateway, so that it is never put behind itself. The same over restarts. */
  readonly mark: string;
  /** The token of `plexus connect`. */
  readonly connectToken: string;
  /** Of people and scripts that look at the gateway itself. */
  readonly adminToken: string;
  /** From now on clients find the gateway. */
  announce(where: Pick<GatewayInstance, 'host' | 'port' | 'configuration'>): Promise<void>;
  /** The folder is free again. */
  release(): Promise<void>;
}

/** How long a gateway may take from its claim until it listens. */
const CLAIM_MS = 60_000;

/** Rejects with `GATEWAY_RUNNING` if the folder has a gateway, and with `GATEWAY_NEWER` if that is of a newer version. */
export async function claimGateway(options: ClaimOptions): Promise<GatewayClaim> {
  try {
    return await claimFolder(options);
  } catch (error) {
    throw unwritable(error, options.stateFolder);
  }
}

async function claimFolder({ stateFolder, clock = systemClock }: ClaimOptions): Promise<GatewayClaim> {
  const files = gatewayFiles(stateFolder);
  await makeFolder(files.folder, { mode: 0o700 });
  const unlock = await acquire({ lock: files.claim, ttlMs: CLAIM_MS, clock });
  try {
    const found = findGateway(stateFolder);
    if (found.kind !== 'none') {
      const { pid, port } = found.instance;
      // A newer one may write its port in another way.
      if (found.kind === 'newer') throw new RuntimeError('GATEWAY_NEWER', { pid });
      throw new RuntimeError('GATEWAY_RUNNING', { pid, port, folder: stateFolder });
    }
    const [connectToken, adminToken] = await Promise.all([
      readOrCreateToken(files.connectToken),
      readOrCreateToken(files.adminToken),
    ]);
    return {
      ...{ mark: markOf(connectToken), connectToken, adminToken },
      async announce({ host, port, configuration }) {
        const instance: GatewayInstance = {
          ...{ protocol: GATEWAY_PROTOCOL, pid: process.pid, process: markOfThisProcess() ?? '' },
          ...{ startedAt: new Date(clock.now()).toISOString(), host, port, configuration },
        };
        try {
          await replaceFile(files.instance, `${JSON.stringify(instance, null, 2)}\n`);
        } catch (error) {
          throw unwritable(error, stateFolder);
        }
        await unlock();
      },
      async release() {
        const now = findGateway(stateFolder);
        // After this process was taken for dead, another gateway may have the folder.
        if (now.kind !== 'none' && now.instance.pid === process.pid) await rm(files.instance, { force: true });
        await unlock();
      },
    };
  } catch (error) {
    await unlock();
    throw error;
  }
}

/**
 * The environment for the servers of a gateway that has no folder of its own, since it serves one program over pipes. Rejects where one
 * of its own servers has started it: each would start the next one.
 */
export async function markedEnvironment(stateFolder: string, env: EnvironmentVariables): Promise<EnvironmentVariables> {
  const mark = markOf(await readOrCreateToken(gatewayFiles(stateFolder).connectToken).catch(otherwise(stateFolder)));
  const marks = env[GATEWAY_VARIABLE];
  if (isBehind(mark, marks))
    throw new RuntimeError('GATEWAY_UNREACHABLE', {
      reason: 'it would be behind itself: one of its own servers starts it',
    });
  return { ...env, [GATEWAY_VARIABLE]: marksBehind(mark, marks) };
}

/** The folder tells gateways apart as well, on a disk that keeps no token: a mark is no secret, and never leaves this machine. */
const otherwise = (stateFolder: string) => (error: unknown) => {
  if (isSystemError(error)) return stateFolder;
  throw error;
};

/** Says nothing of the token that it comes from. */
export const markOf = (connectToken: string) =>
  createHash('sha256').update(`gateway mark ${connectToken}`).digest('hex').slice(0, 16);
