// Owns lasting approvals of single tools, as they are defined now: granting, listing and revoking them.

import { namesOf, signalsOf } from '../catalog/flagged-text.ts';
import type { LoadedConfig } from '../config/load.ts';
import { nearest } from '../kernel/nearest.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { ServerDefinition } from '../model/server.ts';
import type { Tool } from '../model/tool.ts';
import { pinOf } from '../trust/tool-pin.ts';
import { describeHints } from './call-approval.ts';
import type { CommandResult, Context } from './command.ts';
import { loadConfigFor, openTrust } from './load-config.ts';
import { indent, printable, shellWord, table } from './render/text.ts';
import { toolUnknown } from './unknown-name.ts';
import { unknownServer } from './unknown-server.ts';
import { requireServer, warnOfDiagnostics, withRuntime } from './with-runtime.ts';

/** Lists the server's tools live: a cached definition may not be the one that will be called. */
export async function approveTool(
  context: Context,
  definition: ServerDefinition,
  name: string,
): Promise<CommandResult> {
  const { grants } = await openTrust(context);
  const { name: server } = definition;
  return withRuntime(context, { only: [server] }, async (runtime, diagnostics) => {
    warnOfDiagnostics(diagnostics, context);
    requireServer(runtime, server);
    const { id, definition: tool } = findTool(runtime.getTools(), server, name);
    const before = await grants.judge(definition, tool);
    const already = before.kind === 'granted';
    if (!already) await grants.grant(definition, tool);
    const changes = before.kind === 'changed' ? before.changes : [];
    const { description = '', parameters } = pinOf(tool);
    const { annotations = {} } = tool;
    const signals = namesOf(signalsOf(tool));
    const lines = [
      description,
      ...Object.entries(parameters).flatMap(([at, line]) => (NOISE.test(`${at}: ${line}`) ? [] : [`${at}: ${line}`])),
      `it states: ${describeHints(annotations)}`,
    ];
    const end = [
      already
        ? 'It is already approved.'
        : 'Approved: until it changes, it is called without asking, unless a rule says otherwise.',
      ...(changes.length > 0 ? ['Changed since it was last approved:', ...changes.map((each) => indent(each))] : []),
      ...(signals.length > 0 ? [warningOf(signals, { server, tool: id.tool })] : []),
    ];
    return {
      data: { server, tool: id.tool, approved: true, already, changes, description, annotations, parameters, signals },
      text: () => printable([`${id.tool} of server "${server}"`, indent(lines.join('\n')), ...end].join('\n')),
    };
  });
}

/** A line that holds only the schema's draft is of no use to a person who reviews the parameters. */
const NOISE = /^\(all\): object, \$schema "[^",]*"$/;

function warningOf(signals: readonly string[], { server, tool }: Tool['id']): string {
  const what = `CAREFUL: its definition holds text that looks like instructions to a model (${signals.join(', ')}).`;
  return `${what} To withdraw the approval: plexus revoke ${shellWord(server)} ${shellWord(tool)}`;
}

function findTool(all: readonly Tool[], server: ServerName, name: string): Tool {
  const own = all.filter(({ id, freshness }) => id.server === server && freshness === 'live');
  const found = own.find((each) => each.id.tool === name || each.name === name);
  if (found) return found;
  const names = own.map(({ id }) => id.tool);
  const because = `server "${server}" does not offer it`;
  throw toolUnknown(name, names, because);
}

/** Approvals of all configured servers, or of the named server even if it is no longer configured. */
export async function listGrants(context: Context, name?: ServerName): Promise<CommandResult> {
  const { grants } = await openTrust(context);
  const config = await loadConfigFor(context);
  const configured = config.definitions.map((each) => each.name);
  const names = name === undefined ? configured : [name];
  const tools = (await Promise.all(names.map((each) => grants.list(each)))).flat();
  if (name !== undefined && tools.length === 0 && !configured.includes(name))
    throw unknownServer(name, config, context);
  const none = name === undefined ? 'No tool is' : `No tool of server "${name}" is`;
  return {
    data: { tools },
    text: (paint) =>
      tools.length === 0
        ? printable(`${none} approved. Answer "always" when asked, or run: plexus approve SERVER TOOL`)
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

/** Exits with 2 if there was nothing to revoke: a typing error must not look like a success. */
export async function revokeTool(
  context: Context,
  config: LoadedConfig,
  { server, tool }: { readonly server: ServerName; readonly tool: string },
): Promise<CommandResult> {
  const { grants } = await openTrust(context);
  const definition = config.definitions.find(({ name }) => name === server);
  const tools = await grants.revoke(server, { tool, ...(definition && { definition }) });
  const left = tools > 0 ? [] : (await grants.list(server)).map((each) => each.tool);
  if (tools === 0 && left.length === 0 && definition === undefined) throw unknownServer(server, config, context);
  const similar = nearest(tool, new Set(left), limits.suggestions).filter((each) => each !== tool);
  const text =
    tools > 0
      ? `The tool "${tool}" of server "${server}" is no longer approved.`
      : `The tool "${tool}" of server "${server}" was not approved; nothing was changed.${
          similar.length > 0 ? ` Did you mean ${similar.join(' or ')}?` : ''
        }`;
  return {
    data: { name: server, tool, approved: false, tools },
    text: () => printable(text),
    exitCode: tools > 0 ? 0 : 2,
  };
}
