// Owns whether a command uses the gateway that runs: finds the one of its configuration, asks it once which servers it has, and tells
// the person. Servers that it does not have are the command's own, as they are without a gateway.

import { stateFolder } from '../config/scopes.ts';
import type { FleetReport } from '../gateway/commands/fleet-report.ts';
import type { FleetQuestion, RunningGateway } from '../gateway/commands/running-gateway.ts';
import { configurationOf, findGateway, type GatewayInstance } from '../gateway/instance.ts';
import { once } from '../kernel/once.ts';
import type { ServerName } from '../model/names.ts';
import type { ServerDefinition } from '../model/server.ts';
import type { Elsewhere } from '../servers/resolve-server.ts';
import type { Context } from './command.ts';
import { environmentOf } from './load-config.ts';

/** For `--json`: the gateway that a command used. */
export interface UsedGateway {
  readonly pid: number;
  readonly port: number;
}

export interface GatewayUse {
  /** For a runtime: which servers the gateway runs. */
  readonly elsewhere: Elsewhere;
  /** The servers that were reached in the gateway. */
  readonly servers: ReadonlySet<ServerName>;
  /** Field of the answer for `--json`; empty where the gateway was not used. */
  readonly field: () => { readonly gateway?: UsedGateway };
}

/** A gateway that has answered, with its servers for the command's folder. */
interface AskedGateway {
  readonly gateway: UsedGateway;
  readonly report: FleetReport;
  ask(question: FleetQuestion): Promise<FleetReport | undefined>;
}

/** Reads one file. The gateway counts if it is of this state folder, of this protocol, and serves the configuration of the command. */
export function runningGateway(context: Context): GatewayInstance | undefined {
  const environment = environmentOf(context);
  const found = findGateway(stateFolder(environment));
  if (found.kind !== 'running') return undefined;
  const own = configurationOf(environment, context.runtimeOptions.config);
  return found.instance.configuration === own ? found.instance : undefined;
}

/** Resolves with `undefined` where no gateway runs, and after a word to the person where it does not answer. */
export async function askGateway(context: Context): Promise<AskedGateway | undefined> {
  const opened = await open(context);
  if (opened === undefined) return undefined;
  const { gateway, report } = opened;
  const { pid, port } = gateway;
  return { gateway: { pid, port }, report, ask: (question) => gateway.fleet({ signal: context.signal, ...question }) };
}

async function open(
  context: Context,
): Promise<{ readonly gateway: RunningGateway; readonly report: FleetReport } | undefined> {
  const instance = runningGateway(context);
  if (instance === undefined) return undefined;
  const { openRunningGateway } = await import('../gateway/commands/running-gateway.ts');
  const gateway = openRunningGateway(instance, environmentOf(context));
  const report = await context.waitFor('asking the gateway', gateway.fleet({ signal: context.signal }));
  context.signal.throwIfAborted();
  if (report !== undefined) return { gateway, report };
  const what = `The gateway (process ${instance.pid}) does not answer; the command goes on without it.`;
  context.warn((paint) => paint.yellow(what));
  return undefined;
}

export const sayUsed = (context: Context, { pid }: UsedGateway): void =>
  context.warn((paint) => paint.dim(`Through the running gateway (process ${pid}).`));

/** `isUnconfigured`: the command line alone describes the server, so that no gateway has it. */
export function createGatewayUse(context: Context, { isUnconfigured = false } = {}): GatewayUse {
  const opened = once(() => open(context));
  const servers = new Set<ServerName>();
  let used: UsedGateway | undefined;
  const elsewhere: Elsewhere = async ({ name, settings }: ServerDefinition) => {
    // A server that was lost in the gateway is started here.
    if (isUnconfigured || servers.has(name)) return undefined;
    const found = await opened();
    if (found === undefined) return undefined;
    const [{ isUsable }, { LinkChannel }] = await Promise.all([
      import('../gateway/commands/fleet-report.ts'),
      import('../gateway/commands/link-channel.ts'),
    ]);
    const { gateway, report } = found;
    if (!report.servers.some((status) => status.name === name && isUsable(status))) return undefined;
    const { pid, port } = gateway;
    if (used === undefined) sayUsed(context, gateway);
    used = { pid, port };
    servers.add(name);
    const { maxMessageBytes } = settings;
    return () => new LinkChannel({ server: name, maxMessageBytes, link: () => gateway.link(name) });
  };
  return { elsewhere, servers, field: () => (used === undefined ? {} : { gateway: used }) };
}
