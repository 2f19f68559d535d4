// Owns a person's lasting word on single tools: given as the tool is now, shown, and taken back.

import type { LoadedConfig } from '../config/load.ts';
import { nearest } from '../kernel/nearest.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { ServerDefinition } from '../model/server.ts';
import type { Tool } from '../model/tool.ts';
import { pinOf } from '../trust/tool-pin.ts';
import type { Context, Found } from './command.ts';
import { openTrust } from './load-config.ts';
import { indent, printable, table } from './render/text.ts';
import { complainOf, requireServer, withRuntime } from './with-runtime.ts';

/** Asks the server itself what the tool is: an approval of what was remembered would be one of something else. */
export async function approveTool(context: Context, definition: ServerDefinition, name: string): Promise<Found> {
  const { grants } = await openTrust(context);
  const { name: server } = definition;
  return withRuntime(context, { only: [server] }, async (runtime, diagnostics) => {
    complainOf(diagnostics, context);
    requireServer(runtime, server);
    const { id, definition: tool } = findTool(runtime.getTools(), server, name);
    const before = await grants.judge(definition, tool);
    const already = before.kind === 'granted';
    if (!already) await grants.grant(definition, tool);
    const changes = before.kind === 'changed' ? before.changes : [];
    const { description = '', parameters } = pinOf(tool);
    const lines = [
      already
        ? 'It is allowed already.'
        : 'Until it changes, it is called without asking, unless a rule says otherwise.',
      ...(changes.length > 0 ? ['Changed since it was last approved:', ...changes.map((each) => indent(each))] : []),
    ];
    return {
      data: { server, tool: id.tool, approved: true, already, changes, description, parameters },
      text: () =>
        printable(
          [
            `${id.tool} of server "${server}"`,
            indent([description, ...Object.entries(parameters).map(([at, line]) => `${at}: ${line}`)].join('\n')),
            ...lines,
          ].join('\n'),
        ),
    };
  });
}

function findTool(all: readonly Tool[], server: ServerName, name: string): Tool {
  const own = all.filter(({ id, freshness }) => id.server === server && freshness === 'live');
  const found = own.find((each) => each.id.tool === name || each.name === name);
  if (found) return found;
  const names = own.map(({ id }) => id.tool);
  const because = `server "${server}" does not offer it`;
  throw new RuntimeError('TOOL_UNKNOWN', { name, nearest: nearest(name, names, limits.suggestions), because });
}

/** Of servers that are configured: what was granted to others is in nobody's way. */
export async function listGrants(context: Context, { definitions }: LoadedConfig, name?: ServerName): Promise<Found> {
  const { grants } = await openTrust(context);
  const names = name === undefined ? definitions.map((each) => each.name) : [name];
  const tools = (await Promise.all(names.map((each) => grants.list(each)))).flat();
  return {
    data: { tools },
    text: (paint) =>
      tools.length === 0
        ? 'No tool is allowed for good. Answer "always" when asked, or run: plexus approve SERVER TOOL'
        : table(
            ['SERVER', 'TOOL', 'SINCE', 'DEFINED IN'],
            tools.map(({ server, tool, grantedAt, file = '' }) => [
              { text: server },
              { text: tool, paint: paint.bold },
              { text: grantedAt },
              { text: file },
            ]),
            paint,
          ),
  };
}

export async function revokeTool(
  context: Context,
  server: ServerName,
  { tool, file }: { readonly tool: string; readonly file: string | undefined },
): Promise<Found> {
  const { grants } = await openTrust(context);
  const tools = await grants.revoke(server, { tool, ...(file !== undefined && { file }) });
  const text =
    tools > 0
      ? `The tool "${tool}" of server "${server}" is no longer allowed for good.`
      : `The tool "${tool}" of server "${server}" was not allowed for good.`;
  return { data: { name: server, tool, approved: false, tools }, text: () => printable(text) };
}
