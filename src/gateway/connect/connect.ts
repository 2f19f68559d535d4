// Owns the program behind `plexus connect`: its surroundings in, its exit code out. It is built into a file of its own, which is all
// that it loads as long as a gateway runs.

import { stateFolder as stateFolderOf } from '../../config/scopes.ts';
import type { EnvironmentVariables } from '../../model/environment-variables.ts';
import { GATEWAY_VARIABLE } from '../link-words.ts';
import { joinGateway } from './join.ts';
import { Shim, type ShimOptions } from './shim.ts';
import type { GatewayProgram } from './start.ts';

export interface ConnectOptions extends Pick<ShimOptions, 'input' | 'output'> {
  readonly env: EnvironmentVariables;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** The folder that the client works in. */
  readonly cwd: string;
  readonly profile?: string | undefined;
  /** How the gateway is started. */
  readonly program: Pick<GatewayProgram, 'command' | 'args'>;
  readonly warn: (sentence: string) => void;
}

/** Resolves with the exit code, when the client has ended. */
export async function connect(options: ConnectOptions): Promise<number> {
  const { env, home, platform, cwd, profile, program, warn } = options;
  const stateFolder = stateFolderOf({ env, home, platform });
  const behind = env[GATEWAY_VARIABLE] ?? '';
  const path = profile === undefined ? '/mcp' : `/mcp/p/${encodeURIComponent(profile)}`;
  const client = `${process.pid}-${Date.now().toString(36)}`;
  const shim = new Shim({
    ...options,
    join: () =>
      joinGateway({
        ...{ stateFolder, path, behind, client, platform, workspace: cwd },
        program: { ...program, home, env },
      }),
  });
  try {
    await shim.run();
    return 0;
  } catch (error) {
    const sentence = error instanceof Error ? error.message : String(error);
    shim.giveUp(sentence);
    warn(`plexus: ${sentence}`);
    return 4;
  }
}
