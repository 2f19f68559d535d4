// Owns `plexus reconnect`: connects to one server afresh and shows how it went. Its error, if it fails, is the command's own.

import type { Runtime } from '../../api.ts';
import type { ServerStatus } from '../../connection/status.ts';
import { RuntimeError } from '../../model/errors.ts';
import { type Command, type CommandResult, type Context, type Paint, UsageError } from '../command.ts';
import { createConnectTimes } from '../connect-times.ts';
import { askGateway, sayUsed } from '../gateway-use.ts';
import { serverNameIn } from '../positionals.ts';
import { proposedCommand } from '../proposed-command.ts';
import { remarksOn } from '../render/server-remarks.ts';
import { indent, printable, prose, shellWord } from '../render/text.ts';
import { connectServer } from '../with-connected-servers.ts';
import { requireServer, warnOfDiagnosticsFor, withRuntime } from '../with-runtime.ts';

export const reconnect: Command = {
  usage: 'reconnect NAME',
  options: {},
  examples: ['reconnect files', 'reconnect files --json'],
  async run(context) {
    const name = serverNameIn(context);
    const inGateway = await reconnectInGateway(context, name);
    if (inGateway !== undefined) return inGateway;
    const times = createConnectTimes();
    return withRuntime(
      context,
      { only: [name], required: 'report', onEvent: times.onEvent },
      async (runtime, diagnostics) => {
        warnOfDiagnosticsFor(name, runtime, diagnostics, context);
        await connectServer(runtime, context, name);
        // A server that is up and cannot list its tools is no success either.
        requireServer(runtime, name, context);
        const status = statusOf(runtime, name);
        const tookMs = times.tookMs(name);
        return { data: { ...status, ...times.dataOf(name) }, text: textOf(status, tookMs, context) };
      },
    );
  },
};

/** `undefined` where no gateway has the server, or a person has to approve it first. */
async function reconnectInGateway(context: Context, name: string): Promise<CommandResult | undefined> {
  const asked = await askGateway(context);
  const known = asked?.report.servers.find((each) => each.name === name);
  if (asked === undefined || known === undefined || NOT_THERE.includes(known.state)) return undefined;
  sayUsed(context, asked.gateway);
  const report = await context.waitFor(`connecting to ${name}`, asked.ask({ reconnect: name }));
  context.signal.throwIfAborted();
  if (report?.failure) throw report.failure;
  const status = report?.servers.find((each) => each.name === name);
  if (status === undefined)
    throw new RuntimeError('GATEWAY_UNREACHABLE', { reason: 'it ended while it reconnected the server' });
  if (status.error) throw status.error;
  return { data: { ...status, gateway: asked.gateway }, text: textOf(status, undefined, context) };
}

const NOT_THERE: readonly ServerStatus['state'][] = ['invalid', 'disabled', 'blocked', 'needs-approval'];

const textOf = (status: ServerStatus, tookMs: number | undefined, context: Context) => (paint: Paint) => {
  const next = proposedCommand(['tools', shellWord(status.name)], context);
  return `${connectedText(status, tookMs, paint)}\nSee its tools with: ${next}`;
};

function statusOf(runtime: Runtime, name: string): ServerStatus {
  const found = runtime.status().find((each) => each.name === name);
  if (found === undefined) throw new UsageError(`"${name}" was removed meanwhile`);
  return found;
}

function connectedText(status: ServerStatus, tookMs: number | undefined, paint: Paint): string {
  const { name, toolCount, protocol, transport, serverInfo } = status;
  const time = tookMs === undefined ? '' : ` in ${(tookMs / 1_000).toFixed(1)} s`;
  const version = protocol === undefined ? '' : `, MCP ${protocol}`;
  const own = serverInfo && `It calls itself ${[serverInfo.name, serverInfo.version].filter(Boolean).join(' ')}.`;
  return [
    `${paint.bold(printable(name))} is ${paint.green('connected')}${time}: ${toolCount} ${toolCount === 1 ? 'tool' : 'tools'}, ${transport}${version}.`,
    ...[...(own ? [own] : []), ...remarksOn(status)].map((line) => prose(indent(printable(line)), paint)),
  ].join('\n');
}
