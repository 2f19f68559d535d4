// Owns `plexus approve` and `plexus revoke` for servers that a workspace file defines, and for the file's own rules and settings.
// `tool-approval.ts` owns approvals of single tools.

import { withoutSecrets } from '../../config/literal-secrets.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { AnsweredInput, LaunchPreview } from '../../config/preview.ts';
import { inputsRead, variablesRead } from '../../config/referenced-variables.ts';
import type { ServerName } from '../../model/names.ts';
import { isSecretVariable } from '../../model/secret-shapes.ts';
import { commandLine, type ServerDefinition } from '../../model/server.ts';
import type { Gate } from '../../trust/gate.ts';
import { type Command, type CommandResult, type Context, UsageError } from '../command.ts';
import { environmentOf, loadConfigFor, openTrust } from '../load-config.ts';
import { serverNameIn } from '../positionals.ts';
import { indent, printable, shellWord } from '../render/text.ts';
import { approveTool, listGrants, revokeTool } from '../tool-approval.ts';
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
    'allow-env':
      'let a remote server receive this variable of yours, although it looks like a credential; may be repeated',
    'pin-files': 'cover the contents of the workspace files that the entry names too: once one changes, it asks again',
    all: 'approve every server of this folder that needs it, as it is now',
    policy: 'let the files of this folder, as they are now, loosen rules and settings too',
    list: 'show the approved tools, which are called without asking until they change',
  },
  async run(context) {
    const [server, tool] = context.positionals;
    requireOneThing(context);
    // With --list nothing is approved, whatever else is on the command line.
    if (context.values['list']) return listGrants(context, server === undefined ? server : serverNameIn(context));
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
    return { data: { name, approved: false, had, forgotten, tools }, text: () => printable(text.join('\n')) };
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

export interface ServerApproval {
  readonly name: ServerName;
  readonly command: string;
  readonly approved: true;
  /** The server needed no approval, or had this one. */
  readonly already: boolean;
  readonly isOwn: boolean;
  readonly isRemote: boolean;
  /** The person's environment variables that the server may read from now on. */
  readonly grants: readonly string[];
  /** Variables that the entry reads and does not get. */
  readonly withheld: readonly string[];
  /** Ids of the inputs that the server asks the person for. */
  readonly inputs: readonly string[];
  /** The command or address with folders and answered inputs filled in. */
  readonly filled?: string;
  /** The answers that fill its inputs, and who gave them. */
  readonly answers?: readonly AnsweredInput[];
  /** The entry inherits all of the person's environment variables, and the person approved its file. */
  readonly seesEverything: boolean;
  readonly changes: readonly string[];
  /** The file of the person's own server whose name it takes. */
  readonly displaces?: string;
  /** The approval covers the contents of files. */
  readonly isPinned: boolean;
  /** Those files, as paths in the workspace, where the approval is new. */
  readonly pinned?: readonly string[];
}

/** Grants exactly the variables that the entry reads now. A credential that would leave the machine needs `--allow-env`. */
export async function approveOne(
  gate: Gate,
  definition: ServerDefinition,
  allowed: readonly string[],
  { preview, pinsFiles = false }: ApprovalExtra = {},
): Promise<ServerApproval> {
  const { name, launch } = definition;
  const { all, sent } = variablesRead(definition);
  const unread = allowed.find((variable) => !all.includes(variable));
  if (unread !== undefined)
    throw new UsageError(`"${name}" does not read ${unread}${all.length > 0 ? `; it reads ${all.join(', ')}` : ''}`);
  const isWithheld = (each: string) => sent.includes(each) && isSecretVariable(each) && !allowed.includes(each);
  const fresh = all.filter((each) => !isWithheld(each));
  const judgement = await gate.judge(definition);
  const isOwn = judgement.kind === 'own';
  const before = judgement.kind === 'approved' ? judgement.grants : [];
  const isPinned = judgement.kind === 'approved' && judgement.isPinned === true;
  const already =
    isOwn ||
    (judgement.kind === 'approved' && fresh.every((each) => before.includes(each)) && (isPinned || !pinsFiles));
  const grants = all.filter((each) => fresh.includes(each) || before.includes(each));
  const judged = judgement.kind === 'asks' ? judgement.identity : undefined;
  const pinned = already ? undefined : await gate.approve(definition, grants, judged, { pinsFiles });
  return {
    name,
    command: commandLine(withoutSecrets(launch)),
    approved: true,
    already,
    isOwn,
    isRemote: launch.kind !== 'stdio',
    grants: isOwn ? [] : grants,
    withheld: isOwn ? [] : all.filter((each) => !grants.includes(each)),
    inputs: isOwn ? [] : inputsRead(definition),
    seesEverything: !isOwn && launch.kind === 'stdio' && launch.inheritEnv === 'all',
    changes: judgement.kind === 'asks' ? judgement.changes : [],
    isPinned: isPinned || pinned !== undefined,
    ...(pinned && { pinned }),
    ...(await preview?.(definition)),
  };
}

interface ApprovalExtra {
  readonly preview?: Preview;
  readonly pinsFiles?: boolean;
}

type Preview = (
  definition: ServerDefinition,
) => Promise<Pick<LaunchPreview, 'filled'> & Pick<ServerApproval, 'answers'>>;

function previewIn(context: Context): Preview {
  return async (definition) => {
    const [{ previewLaunch }, { secrets }] = await Promise.all([import('../../config/preview.ts'), openTrust(context)]);
    const { filled, inputs: answers } = await previewLaunch(definition, environmentOf(context), secrets);
    return { filled, answers };
  };
}

function approvalText(approved: ServerApproval): string {
  const { name, command, already, isOwn, isRemote, grants, withheld, seesEverything, changes, displaces } = approved;
  if (isOwn) return [`"${name}" is in your own file and needs no approval.`, ...previewLines(approved)].join('\n');
  const lines = [
    already
      ? `"${name}" is already approved.`
      : `"${name}" ${isRemote ? 'is approved. It is at' : 'is approved and may start. It runs'}: ${command}`,
    ...previewLines(approved),
    ...(changes.length > 0 ? [`Changed since it was last approved: ${changes.join('; ')}.`] : []),
    ...(displaces === undefined ? [] : [`It replaces your own server of that name, in ${displaces}.`]),
    ...contentsLines(approved),
    ...(grants.length > 0 ? [`It may read your environment variables ${grants.join(', ')}.`] : []),
    ...(seesEverything ? ['It gets ALL of your environment variables, as its file asks.'] : []),
    ...withheld.map(
      (variable) =>
        `It does not get your ${variable}, which would be sent to its server. To allow it: plexus approve ${shellWord(name)} --allow-env ${variable}`,
    ),
  ];
  return lines.join('\n');
}

/** Says how far the approval of a local server reaches. */
function contentsLines({ name, already, isRemote, isPinned, pinned = [] }: ServerApproval): readonly string[] {
  if (already || isRemote) return [];
  if (!isPinned)
    return [
      `This approves the command, not what its files say later. To cover those of this folder: plexus approve ${shellWord(name)} --pin-files`,
    ];
  if (pinned.length === 0) return ['It names no file of this folder, so no contents are covered.'];
  return [`It asks again once one of these files changes: ${pinned.join(', ')}.`];
}

/** The filled command, where it differs from the written one, and whose answer each input has. */
function previewLines({ command, filled = command, answers = [] }: ServerApproval): readonly string[] {
  return [
    ...(filled === command ? [] : [`With everything filled in: ${filled}`]),
    ...answers.map(({ id, by, default: preset }) => {
      if (by === 'you') return `Its input "${id}": answered by you.`;
      if (by === 'default') return `Its input "${id}": the default of the file.`;
      const proposal = preset === undefined ? '' : ` The file proposes ${shellWord(preset)}, which fills nothing.`;
      return `Its input "${id}": nobody has answered it yet. You are asked when the server starts.${proposal}`;
    }),
  ];
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
