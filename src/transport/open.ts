// Owns the choice of a channel for a launch: one exhaustive switch. Channels of remote servers are loaded when one is opened.

import { resolve } from 'node:path';
import { unreachable } from '../kernel/unreachable.ts';
import type { EnvironmentVariables } from '../model/environment-variables.ts';
import type { Channel, Launch, RemoteLaunch } from '../model/server.ts';
import type { Network } from './dial.ts';
import { childEnvironment } from './environment.ts';
import { openInProcess } from './in-process.ts';
import type { RequestLogin } from './signed-client.ts';
import { openStdio, type StdioOptions } from './stdio.ts';

type ForEveryChannel = 'server' | 'maxMessageBytes' | 'clock' | 'onNoise';
/** Used for stdio servers only. */
type ForProcesses = 'onStart' | 'onStderr' | 'redact' | 'installer';

export interface OpenContext extends Pick<StdioOptions, ForEveryChannel | ForProcesses> {
  /** The entry's variables, resolved. */
  readonly env: Readonly<Record<string, string>>;
  readonly hostEnv: EnvironmentVariables;
  /** The base of an entry's relative `cwd`, and the folder of a server whose entry names none. */
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  /** A remote server is not reached on this machine or in the network around it. */
  readonly isPublicOnly?: boolean | undefined;
  /** For an entry that names no transport: the one negotiated last time, and the callback for the one negotiated now. */
  readonly negotiatedTransport?: 'http' | 'sse' | undefined;
  readonly onNegotiated: (negotiatedTransport: 'http' | 'sse') => void;
  /** Authenticates the requests to a remote server. */
  readonly login?: RequestLogin | undefined;
}

/** Opens nothing yet: the channel's `start()` does. */
export async function openChannel(launch: Launch, context: OpenContext): Promise<Channel> {
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
        onStart: context.onStart,
        onStderr: context.onStderr,
        redact: context.redact,
        installer: context.installer,
      });
    case 'in-process':
      return launch.open?.() ?? openInProcess(launch.serve, context.server);
    case 'http':
      return (await import('./http.ts')).openHttp(remoteOptions(launch, context));
    case 'sse':
      return (await import('./sse.ts')).openSse(remoteOptions(launch, context));
    case 'ws':
      return (await import('./websocket.ts')).openWebSocket(remoteOptions(launch, context));
    case 'auto':
      return (await import('./auto.ts')).openAuto({
        ...remoteOptions(launch, context),
        lastNegotiated: context.negotiatedTransport,
        onNegotiated: context.onNegotiated,
      });
    default:
      return unreachable(launch);
  }
}

/** How the addresses of an entry are reached. */
export function networkOf(
  { proxy, caFile, certFile, keyFile }: RemoteLaunch,
  { hostEnv, cwd, isPublicOnly }: Pick<OpenContext, 'hostEnv' | 'cwd' | 'isPublicOnly'>,
): Network {
  return { env: hostEnv, proxy, caFile, certFile, keyFile, cwd, isPublicOnly };
}

function remoteOptions(launch: RemoteLaunch, context: OpenContext) {
  const { url } = launch;
  const headers = withGateways(launch, context.hostEnv);
  const { server, maxMessageBytes, clock, onNoise, login } = context;
  const network = networkOf(launch, context);
  return { server, url, headers, network, login, maxMessageBytes, clock, onNoise };
}

/** The name of the header by which a gateway knows a request of its own. */
const GATEWAY_HEADER = 'plexus-gateway';

/** Tells a server on this machine which gateways it is behind: it may be one of them. Other machines learn nothing of it. */
function withGateways({ url, headers }: RemoteLaunch, { PLEXUS_GATEWAY: marks }: EnvironmentVariables) {
  if (!marks || !URL.canParse(url) || !isThisMachine(new URL(url).hostname)) return headers;
  return { ...headers, [GATEWAY_HEADER]: marks };
}

const LOOPBACK = /^(?:(?:.*\.)?localhost|127(?:\.\d+){3}|0\.0\.0\.0|::1?)$/;

/** As the host of a URL: loopback, the name of this machine, or an address of one of its network cards. */
function isThisMachine(written: string): boolean {
  const host = written.replace(/^\[|\]$|\.$/g, '');
  const { hostname, networkInterfaces } = process.getBuiltinModule('node:os');
  if (LOOPBACK.test(host) || host === hostname().toLowerCase()) return true;
  return Object.values(networkInterfaces()).some((cards) => cards?.some(({ address }) => address === host));
}
