// Owns lasting approvals of single tools, as they are defined now: granting and revoking them, and listing them beside those of servers.

import { namesOf } from '../catalog/flagged-sentences.ts';
import { signalsOf } from '../catalog/flagged-text.ts';
import type { LoadedConfig } from '../config/load.ts';
import { nearest } from '../kernel/nearest.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { ServerDefinition } from '../model/server.ts';
import type { Tool } from '../model/tool.ts';
import { describeHints } from '../trust/call-facts.ts';
import type { Approval, Gate } from '../trust/gate.ts';
import type { ToolGrants } from '../trust/tool-grants.ts';
import { pinOf } from '../trust/tool-pin.ts';
import type { CommandResult, Context, Paint } from './command.ts';
import { loadConfigFor, openTrust } from './load-config.ts';
import { indent, printable, shellWord, table } from './render/text.ts';
import { toolUnknown } from './unknown-name.ts';
import { unknownServer } from './unknown-server.ts';
import { requireServer, warnOfDiagnosticsFor, withRuntime } from './with-runtime.ts';

/** Lists the server's tools live: a cached definition may not be the one that will be called. */
export async function approveTool(
  context: Context,
  definition: ServerDefinition,
  name: string,
): Promise<CommandResult> {
  const { grants } = await openTrust(context);
  const { name: server } = definition;
  return withRuntime(context, { only: [server] }, async (runtime, diagnostics) => {
    warnOfDiagnosticsFor(server, runtime, diagnostics, context);
    requireServer(runtime, server, context);
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
      `The server says: ${describeHints(annotations) || 'nothing about what it does to your data'}.`,
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
  throw toolUnknown(name, names, { because });
}

/** Approvals of all configured servers and their tools, or of the named server even if it is no longer configured. */
export async function listApprovals(context: Context, name?: ServerName): Promise<CommandResult> {
  const { gate, grants } = await openTrust(context);
  const config = await loadConfigFor(context);
  const pending = config.pending.flatMap((each) => ('definition' in each ? [each.definition] : []));
  const definitions = [...config.definitions, ...pending];
  const configured = [...new Set(definitions.map((each) => each.name))].sort();
  const names = name === undefined ? configured : [name];
  const tools = (await Promise.all(names.map((each) => grants.list(each)))).flat();
  const servers = (await Promise.all(names.map((each) => approvalsOf(gate, each, definitions)))).flat();
  if (name !== undefined && tools.length + servers.length === 0 && !configured.includes(name))
    throw unknownServer(name, config, context);
  return { data: { servers, tools }, text: (paint) => approvalsText(servers, tools, name, paint) };
}

interface ListedApproval extends Pick<Approval, 'grants' | 'approvedAt' | 'file'> {
  readonly server: ServerName;
  /** The server's entry is still the one that was approved. */
  readonly inEffect: boolean;
}

async function approvalsOf(
  gate: Gate,
  name: ServerName,
  definitions: readonly ServerDefinition[],
): Promise<readonly ListedApproval[]> {
  const stored = await gate.approvals(name);
  const own = definitions.filter((each) => each.name === name);
  const judged = await Promise.all(own.map(async (each) => ({ each, ...(await gate.judge(each)) })));
  return stored.map(({ grants, approvedAt, file }, at) => {
    const isNewest = stored.findLastIndex((each) => each.file === file) === at;
    const isApproved = judged.some(({ each, kind }) => kind === 'approved' && each.provenance.file === file);
    return { server: name, approvedAt, grants, ...(file !== undefined && { file }), inEffect: isNewest && isApproved };
  });
}

type ListedGrant = Awaited<ReturnType<ToolGrants['list']>>[number];

function approvalsText(
  servers: readonly ListedApproval[],
  tools: readonly ListedGrant[],
  name: ServerName | undefined,
  paint: Paint,
): string {
  const [noServer, noTool] =
    name === undefined
      ? ['No server of this folder is approved.', 'No tool is approved.']
      : [`Server "${name}" is not approved.`, `No tool of server "${name}" is approved.`];
  const serverRows = servers.map(({ server, approvedAt, file = '', grants, inEffect }) => [
    { text: server, paint: paint.bold },
    { text: approvedAt },
    { text: inEffect ? 'yes' : 'no, it has changed', paint: inEffect ? paint.green : paint.yellow },
    { text: grants.length > 0 ? grants.join(', ') : '–' },
    { text: file },
  ]);
  const toolRows = tools.map(({ server, tool, grantedAt, file = '' }) => [
    { text: server },
    { text: tool, paint: paint.bold },
    { text: grantedAt },
    { text: file },
  ]);
  return [
    servers.length === 0
      ? printable(`${noServer} Servers of your own files need no approval.`)
      : table(['SERVER', 'SINCE', 'IN EFFECT', 'MAY READ YOUR', 'DEFINED IN'], serverRows, paint),
    tools.length === 0
      ? printable(`${noTool} Answer "a" when asked, or run: plexus approve SERVER TOOL`)
      : table(['SERVER', 'TOOL', 'SINCE', 'DEFINED IN'], toolRows, paint),
  ].join('\n\n');
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
