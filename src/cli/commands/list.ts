// Owns `plexus list`: every server with its state, tools and problems.

import type { ServerStatus } from '../../connection/status.ts';
import { asRuntimeError, RuntimeError } from '../../model/errors.ts';
import type { Tool } from '../../model/tool.ts';
import { type KnownServers, type ReadServers, readKnownServers } from '../../servers/known-servers.ts';
import type { Command, CommandResult, Context, Paint } from '../command.ts';
import { type ConnectTimes, createConnectTimes } from '../connect-times.ts';
import { askGateway, sayUsed, type UsedGateway } from '../gateway-use.ts';
import { environmentOf } from '../load-config.ts';
import { rejectExtra } from '../positionals.ts';
import { ageText } from '../render/age.ts';
import { diagnosticsText } from '../render/diagnostics.ts';
import { remarksOn } from '../render/server-remarks.ts';
import { type Cell, indent, printable, prose, shellWord, table } from '../render/text.ts';
import { serverUnknown } from '../unknown-name.ts';
import { asLive, handlersOf, startupFor, type UseRuntime, warnOfErrors, withRuntime } from '../with-runtime.ts';

export const list: Command = {
  usage: 'list [NAME …] [--live | --check]',
  options: { live: { type: 'boolean' }, check: { type: 'boolean' } },
  help: {
    live: 'connect to every server, instead of showing cached tools, and show how long each took',
    check: 'the same, and exit with 4 unless every server that is not disabled is connected',
  },
  examples: ['list', 'list files --live', 'list --check'],
  async run(original) {
    const { positionals: names } = original;
    const [address] = names.filter((name) => /^\w+:\/\//.test(name));
    rejectExtra(address, `for a server that is not configured: plexus tools --url ${shellWord(address ?? '')}`);
    const checks = original.values['check'] === true;
    const context = checks ? asLive(original) : original;
    const isLive = context.values['live'] === true;
    const inGateway = await listInGateway(context, isLive);
    if (inGateway !== undefined) return resultOf({ ...inGateway, names, context, checks });
    const { known, errors }: ReadServers = isLive ? { errors: [] } : await readKnown(context);
    const beside = errors.map((error) => asRuntimeError(error).message);
    if (known) {
      warnOfErrors(new Set(beside), context);
      return resultOf({ ...known, names, context });
    }
    const times = isLive ? createConnectTimes() : undefined;
    const options = { ...optionsFor(context), ...(times && { onEvent: times.onEvent }) };
    const use: UseRuntime<CommandResult> = async (runtime, diagnostics) => {
      const found = { servers: runtime.status(), reduced: reducedIn(runtime.getTools()), diagnostics };
      return resultOf({ ...found, names, context, checks, times });
    };
    return withRuntime(context, options, use, beside);
  },
};

/** How the servers are in the gateway that runs; `undefined` without one. */
async function listInGateway(
  context: Context,
  isLive: boolean,
): Promise<(KnownServers & Pick<Found, 'gateway'>) | undefined> {
  const asked = await askGateway(context);
  if (asked === undefined) return undefined;
  const { gateway, report: first } = asked;
  const isSettled = first.servers.every(({ state }) => state !== 'connecting');
  const report =
    isSettled && !isLive
      ? first
      : await context.waitFor('connecting to the servers', asked.ask(isLive ? { live: true } : { settled: true }));
  context.signal.throwIfAborted();
  if (report === undefined)
    throw new RuntimeError('GATEWAY_UNREACHABLE', { reason: 'it ended while it connected to the servers' });
  sayUsed(context, gateway);
  return { ...report, gateway };
}

function optionsFor(context: Context) {
  const { positionals: names } = context;
  const only = names.length > 0 && { only: names };
  return { required: 'report', interactive: false, startup: startupFor(context), ...only } as const;
}

/** Without `--live` no server is started whose tools are known: then the command needs no runtime. */
async function readKnown(context: Context): Promise<ReadServers> {
  const { runtimeOptions, signal } = context;
  const reading = readKnownServers({
    environment: environmentOf(context),
    options: { ...runtimeOptions, ...optionsFor(context) },
    handlers: handlersOf(context),
    signal,
  });
  const known = await context.waitFor('reading the configuration', reading);
  signal.throwIfAborted();
  return known;
}

interface Found extends KnownServers {
  /** The servers that the person named. */
  readonly names: readonly string[];
  readonly context: Context;
  /** Every server has to be connected. */
  readonly checks?: boolean;
  readonly times?: ConnectTimes | undefined;
  /** The gateway that the servers run in. */
  readonly gateway?: UsedGateway;
}

function resultOf(found: Found): CommandResult {
  const { reduced, diagnostics, checks = false, times, gateway } = found;
  const servers = statusesOf(found);
  // A diagnostic tells how many servers are over the cap: hundreds of rows would hide the others.
  const shown = servers.filter(({ unapproved }) => unapproved !== 'over-cap');
  const isBroken = diagnostics.some(({ severity }) => severity === 'error');
  // An invalid entry stands among the servers with its error, so it is not told a second time.
  const told = new Set(servers.flatMap(({ name, state }) => (state === 'invalid' ? [name] : [])));
  const untold = diagnostics.filter(
    ({ severity, server }) => severity !== 'error' || server === undefined || !told.has(server),
  );
  const view = { servers: shown, reduced, isBroken, tookMs: times?.tookMs };
  return {
    data: {
      servers: servers.map((each) => ({ ...each, ...countIn(reduced, each), ...times?.dataOf(each.name) })),
      diagnostics,
      ...(gateway && { gateway }),
    },
    text: (paint) => [serversText(view, paint), diagnosticsText(untold, paint)].filter(Boolean).join('\n\n'),
    exitCode: checks && !servers.every(isHealthy) ? 4 : 0,
  };
}

/** The servers with these names, or all without one. */
function statusesOf({ names, servers: all, context }: Found): readonly ServerStatus[] {
  const unknown = names.find((name) => all.every((each) => each.name !== name));
  if (unknown !== undefined)
    throw serverUnknown(
      unknown,
      all.map(({ name }) => name),
      context,
    );
  return names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
}

const isHealthy = ({ status, state }: ServerStatus) => status === 'connected' || state === 'disabled';

interface ListView {
  readonly servers: readonly ServerStatus[];
  readonly reduced: Counts;
  readonly isBroken: boolean;
  /** With `--live`: how long a server took until it was ready or had failed. */
  readonly tookMs: ConnectTimes['tookMs'] | undefined;
}

export function serversText({ servers, reduced, isBroken, tookMs }: ListView, paint: Paint): string {
  if (servers.length === 0)
    return isBroken
      ? 'No server could be read; see the errors below.'
      : 'No servers are configured here. Add one with: plexus add NAME -- COMMAND, or copy those of other agents: plexus import';
  const rows = servers.map((server): Cell[] => [
    { text: server.name, paint: paint.bold },
    { text: server.state, paint: colorOf(server, paint) },
    { text: server.transport },
    { text: server.scope },
    { text: countOf(server) },
    { text: listedText(server) },
    ...(tookMs ? [{ text: timeText(tookMs(server.name)) }] : []),
  ]);
  const head = ['NAME', 'STATE', 'TRANSPORT', 'SCOPE', 'TOOLS', 'LISTED', ...(tookMs ? ['TIME'] : [])];
  return [
    table(head, rows, paint),
    ...servers.flatMap((each) => remarks(each, reduced.get(each.name) ?? 0, paint)),
    ...(tookMs ? ['', summaryText(servers)] : []),
  ].join('\n');
}

const timeText = (ms: number | undefined) => (ms === undefined ? '' : `${(ms / 1_000).toFixed(1)} s`);

/** How many servers are in each state, connected ones first. */
function summaryText(servers: readonly ServerStatus[]): string {
  const counts = new Map<string, number>([['connected', 0]]);
  for (const { state } of servers) counts.set(state, (counts.get(state) ?? 0) + 1);
  const parts = [...counts].filter(([, count]) => count > 0).map(([state, count]) => `${count} ${state}`);
  return `${servers.length} ${servers.length === 1 ? 'server' : 'servers'}: ${parts.join(', ')}.`;
}

/** `3 of 8` if tool filters hide some of the server's tools. */
function countOf({ status, toolCount, toolsOffered }: ServerStatus): string {
  if (status !== 'connected' && toolCount === 0) return '–';
  return toolsOffered === undefined ? String(toolCount) : `${toolCount} of ${toolsOffered}`;
}

function listedText({ freshness, listedAt }: ServerStatus): string {
  // `listedAt` is 0 for a connected server whose tools were never listed.
  return freshness === undefined || !listedAt ? '' : freshness === 'live' ? 'now' : ageText(listedAt);
}

type Counts = ReadonlyMap<string, number>;

/** By server: how many tools a model sees in a reduced form. */
function reducedIn(tools: readonly Tool[]): Counts {
  const counts = new Map<string, number>();
  for (const { id, reduced } of tools) if (reduced) counts.set(id.server, (counts.get(id.server) ?? 0) + 1);
  return counts;
}

function countIn(reduced: Counts, { name }: ServerStatus) {
  const reducedTools = reduced.get(name);
  return reducedTools === undefined ? {} : { reducedTools };
}

function remarks(server: ServerStatus, reduced: number, paint: Paint): string[] {
  const lines = remarksOn(server, reduced);
  if (lines.length === 0) return [];
  return ['', paint.bold(printable(server.name)), ...lines.map((line) => prose(indent(printable(line)), paint))];
}

function colorOf({ status }: ServerStatus, paint: Paint) {
  if (status === 'connected') return paint.green;
  return status === 'failed' ? paint.red : paint.yellow;
}
