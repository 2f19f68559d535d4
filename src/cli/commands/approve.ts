// Owns `plexus approve` and `plexus revoke` for servers that a workspace file defines, and for the file's own rules and settings.
// `entry-approval.ts` owns the approval of one server, `tool-approval.ts` that of single tools.

import type { LoadedConfig } from '../../config/load.ts';
import { inputsRead } from '../../config/referenced-variables.ts';
import type { ServerName } from '../../model/names.ts';
import type { ServerDefinition } from '../../model/server.ts';
import type { Gate } from '../../trust/gate.ts';
import { type Command, type CommandResult, type Context, UsageError } from '../command.ts';
import { type ApprovalExtra, approveOne, previewIn, type ServerApproval } from '../entry-approval.ts';
import { loadConfigFor, openTrust } from '../load-config.ts';
import { serverNameIn } from '../positionals.ts';
import { approvalText } from '../render/approval.ts';
import { indent, printable } from '../render/text.ts';
import { approveTool, listApprovals, revokeTool } from '../tool-approval.ts';
import { unknownServer } from '../unknown-server.ts';

export const approve: Command = {
  usage:
    'approve (NAME [--allow-env VARIABLE]… [--pin-files] | NAME TOOL | --all [--pin-files] | --policy | --list [NAME])',
  options: {
    'allow-env': { type: 'string', multiple: true },
    'pin-files': { type: 'boolean' },
    all: { type: 'boolean' },
    policy: { type: 'boolean' },
    list: { type: 'boolean' },
  },
  help: {
    'allow-env VARIABLE':
      'let a remote server receive this variable of yours, although it looks like a credential; may be repeated',
    'pin-files': 'cover the contents of the workspace files that the entry names too: once one changes, it asks again',
    all: 'approve every server of this folder that needs it, as it is now',
    policy: 'let the files of this folder, as they are now, loosen rules and settings too',
    list: 'show the approved servers and tools; each stays approved until it changes',
  },
  examples: ['approve files', 'approve files write_file', 'approve --all --pin-files', 'approve --list'],
  async run(context) {
    const [server, tool] = context.positionals;
    requireOneThing(context);
    // With --list nothing is approved, whatever else is on the command line.
    if (context.values['list']) return listApprovals(context, server === undefined ? server : serverNameIn(context));
    if (context.values['policy']) return approvePolicy(context);
    const { gate } = await openTrust(context);
    const config = await loadConfigFor(context);
    const pinsFiles = context.values['pin-files'] === true || config.settings.trust.pinFiles;
    const extra = { preview: previewIn(context), pinsFiles };
    if (context.values['all']) return approveAll(gate, config, extra);
    if (tool !== undefined) return approveTool(context, requireDefinition(serverIn(context), config, context), tool);
    const name = serverNameIn(context);
    const definition = pendingDefinition(name, config) ?? requireDefinition(name, config, context);
    const allowed = [context.values['allow-env'] ?? []].flat().map(String);
    const done = { ...(await approveOne(gate, definition, allowed, extra)), ...displacedBy(definition, config) };
    return { data: done, text: () => printable(approvalText(done)) };
  },
};

export const revoke: Command = {
  usage: 'revoke (NAME [TOOL] | --policy)',
  options: { policy: { type: 'boolean' } },
  help: { policy: 'withdraw it from the files of this folder: they no longer loosen anything' },
  examples: ['revoke files', 'revoke files write_file', 'revoke --policy'],
  async run(context) {
    if (context.values['policy']) return revokePolicy(context);
    const [, tool] = context.positionals;
    const name = tool === undefined ? serverNameIn(context) : serverIn(context);
    const { gate, grants } = await openTrust(context);
    const config = await loadConfigFor(context);
    if (tool !== undefined) return revokeTool(context, config, { server: name, tool });
    const definition = pendingDefinition(name, config) ?? config.definitions.find((each) => each.name === name);
    const file = definition?.provenance.file;
    const had = await gate.revoke(name, definition);
    const forgotten = definition ? await forgetAnswers(context, definition) : [];
    const tools = await grants.revoke(name, definition && { definition });
    if (!had && definition === undefined && tools === 0) throw unknownServer(name, config, context);
    const text = [
      ...(had
        ? [`The approval of "${name}" is withdrawn${file ? ` for ${file}` : ''}. It no longer starts there.`]
        : []),
      ...(had || tools > 0 ? [] : [`"${name}" was not approved; nothing was changed.`]),
      ...(forgotten.length > 0
        ? [`Your answers for ${forgotten.join(', ')} are deleted; you will be asked again.`]
        : []),
      ...(tools > 0 ? [`The approvals of its tools are withdrawn (${tools}).`] : []),
    ];
    const isNothing = !had && tools === 0 && forgotten.length === 0;
    return {
      data: { name, approved: false, had, forgotten, tools },
      text: () => printable(text.join('\n')),
      // As for a tool: a typing error must not look like a success.
      exitCode: isNothing ? 2 : 0,
    };
  },
};

/** Rejects options that contradict each other: an approval lasts, so its meaning must be clear. */
function requireOneThing({ positionals, values }: Context): void {
  if (values['policy'] && (positionals.length > 0 || values['all'] || values['list']))
    throw new UsageError('--policy takes no server and no other option');
  if (values['all'] && positionals.length > 0) throw new UsageError('give one server, or --all without a name');
  const isForOne = !values['policy'] && !values['all'] && !values['list'];
  if (values['pin-files'] && (values['policy'] || values['list'] || positionals.length > 1))
    throw new UsageError('--pin-files needs the name of one server, or --all');
  if (values['allow-env'] !== undefined && !isForOne) throw new UsageError('--allow-env needs the name of one server');
}

/** The server of `NAME TOOL`. */
function serverIn({ positionals: [name, , extra], values }: Context): ServerName {
  if (name === undefined || extra !== undefined || values['allow-env'] !== undefined)
    throw new UsageError('give one server and one tool, and nothing else');
  return name;
}

/** Deletes the stored answers to the server's inputs, so that a wrong one can be given again. */
async function forgetAnswers(context: Context, definition: ServerDefinition): Promise<readonly string[]> {
  const ids = inputsRead(definition);
  if (ids.length === 0) return [];
  const [{ inputName }, { secrets }] = await Promise.all([import('../../config/inputs.ts'), openTrust(context)]);
  const names = ids.map((id) => ({ id, name: inputName(definition.provenance, id) }));
  const kept = await Promise.all(names.map(async (each) => ({ ...each, answer: await secrets.get(each.name) })));
  const known = kept.filter(({ answer }) => answer !== undefined);
  for (const { name } of known) await secrets.delete(name);
  return known.map(({ id }) => id);
}

/** Also the entries whose names are taken: for them nothing but this approval counts. */
async function approveAll(gate: Gate, config: LoadedConfig, extra: ApprovalExtra): Promise<CommandResult> {
  const judged = await Promise.all(config.definitions.map(async (each) => ({ each, ...(await gate.judge(each)) })));
  const asking = judged.flatMap(({ each, kind }) => (kind === 'asks' ? [each] : []));
  const pending = config.pending.flatMap((each) => ('definition' in each ? [each.definition] : []));
  const servers: ServerApproval[] = [];
  for (const each of [...asking, ...pending])
    servers.push({ ...(await approveOne(gate, each, [], extra)), ...displacedBy(each, config) });
  return {
    data: { servers },
    text: () =>
      servers.length === 0
        ? 'No server of this folder needs approval.'
        : printable(servers.map(approvalText).join('\n')),
  };
}

/** Approves exactly the text that was read, and shows every line that takes effect. */
async function approvePolicy(context: Context): Promise<CommandResult> {
  const { policy } = await openTrust(context);
  const { loosening } = await loadConfigFor(context);
  for (const { file, text } of loosening) await policy.approve(file, text);
  const counts = loosening
    .flatMap(({ lines }) => lines)
    .map(({ file, line, server, loosens }) => ({ file, line, server, loosens }));
  const lines = counts.map(
    ({ file, line, server, loosens }) => `${loosens}${server ? ` of server "${server}"` : ''}  (${file}:${line})`,
  );
  return {
    data: { files: loosening.map(({ file }) => file), counts },
    text: () =>
      loosening.length === 0
        ? 'Nothing to approve: no file of this folder loosens anything, or the files that do are already approved.'
        : printable(`Approved. Until the file changes, this takes effect:\n${indent(lines.join('\n'))}`),
  };
}

async function revokePolicy(context: Context): Promise<CommandResult> {
  const { policy } = await openTrust(context);
  const { files } = await loadConfigFor(context);
  for (const file of files) await policy.revoke(file);
  return {
    data: { files },
    text: () => 'Withdrawn: the files of this folder can define servers and tighten rules, but loosen nothing.',
  };
}

/** Of two servers of one name the workspace's is meant: the other one needs no approval. */
function pendingDefinition(server: ServerName, { pending }: LoadedConfig): ServerDefinition | undefined {
  return pending.flatMap((each) => (each.name === server && 'definition' in each ? [each.definition] : []))[0];
}

function displacedBy({ name, provenance }: ServerDefinition, { pending }: LoadedConfig): { displaces?: string } {
  const file = pending.find((each) => each.name === name && each.provenance === provenance)?.lostTo.file;
  return file === undefined ? {} : { displaces: file };
}

function requireDefinition(server: ServerName, config: LoadedConfig, context: Context): ServerDefinition {
  const found = config.definitions.find((each) => each.name === server);
  if (found) return found;
  throw unknownServer(server, config, context);
}
