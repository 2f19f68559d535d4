// Owns the choice of a channel for a launch: one exhaustive switch.

import { resolve } from 'node:path';
import type { Clock } from '../kernel/clock.ts';
import { unreachable } from '../kernel/unreachable.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { Channel, Launch } from '../model/server.ts';
import { childEnvironment, type Environment } from './environment.ts';
import { openInProcess } from './in-process.ts';
import { openStdio } from './stdio.ts';

export interface OpenContext {
  readonly server: ServerName;
  /** The entry's variables, resolved. */
  readonly env: Readonly<Record<string, string>>;
  readonly hostEnv: Environment;
  /** What an entry's relative `cwd` starts from, and where a server runs whose entry names none. */
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  readonly maxMessageBytes: number;
  readonly clock: Clock;
  readonly onNoise?: ((line: string) => void) | undefined;
}

/** Opens nothing yet: the channel's `start` does. */
export function openChannel(launch: Launch, context: OpenContext): Channel {
  switch (launch.kind) {
    case 'stdio':
      return openStdio({
        server: context.server,
        command: launch.command,
        args: launch.args,
        cwd: resolve(context.cwd, launch.cwd ?? ''),
        env: childEnvironment({
          host: context.hostEnv,
          inherit: launch.inheritEnv,
          entry: context.env,
          platform: context.platform,
        }),
        maxMessageBytes: context.maxMessageBytes,
        clock: context.clock,
        onNoise: context.onNoise,
      });
    case 'in-process':
      return openInProcess(launch.serve, context.server);
    case 'http':
    case 'sse':
    case 'ws':
    case 'auto':
      throw new RuntimeError('CONFIG_INVALID', {
        problem: `server "${context.server}" is remote, and this version opens local servers only; set enabled = false to keep its entry`,
      });
    default:
      return unreachable(launch);
  }
}
