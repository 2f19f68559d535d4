// Owns `plexus reconnect`: connects to one server afresh and shows how it went. Its error, if it fails, is the command's own.

import type { Runtime } from '../../api.ts';
import type { ServerStatus } from '../../connection/status.ts';
import { type Command, type Paint, UsageError } from '../command.ts';
import { createConnectTimes } from '../connect-times.ts';
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
        return {
          data: { ...status, ...times.dataOf(name) },
          text: (paint) =>
            `${connectedText(status, times.tookMs(name), paint)}\nSee its tools with: ${proposedCommand(['tools', shellWord(name)], context)}`,
        };
      },
    );
  },
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
