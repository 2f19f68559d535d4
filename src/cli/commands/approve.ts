// Owns `plexus approve` and `plexus revoke`: a person's word on what a file in the workspace defines, or on the file itself.
// Single tools are `tool-approval.ts`'s.

import { withoutSecrets } from '../../config/literal-secrets.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { inputsRead, variablesRead } from '../../config/referenced-variables.ts';
import type { ServerName } from '../../model/names.ts';
import { isSecretVariable } from '../../model/secret-shapes.ts';
import { commandLine, type ServerDefinition } from '../../model/server.ts';
import type { Gate } from '../../trust/gate.ts';
import { nameIn } from '../claim.ts';
import { type Command, type CommandResult, type Context, UsageError } from '../command.ts';
import { loadConfigFor, openTrust } from '../load-config.ts';
import { indent, printable, shellWord } from '../render/text.ts';
import { approveTool, listGrants, revokeTool } from '../tool-approval.ts';
import { unknownServer } from '../unknown-server.ts';

export const approve: Command = {
  usage: 'approve (NAME [--allow-env VARIABLE]… | NAME TOOL | --all | --policy | --list [NAME])',
  options: {
    'allow-env': { type: 'string', multiple: true },
    all: { type: 'boolean' },
    policy: { type: 'boolean' },
    list: { type: 'boolean' },
  },
  help: {
    'allow-env': 'let it send this variable of yours to its server; named for each that looks like a credential',
    all: 'approve every server of this folder that asks, as it is now',
    policy: 'let the files of this folder, as they are now, also loosen rules and settings',
    list: 'show which tools are called without asking until they change',
  },
  async run(context) {
    const [name, tool] = context.positionals;
    requireOneThing(context);
    // Whoever asks for a list is given one, and nothing else happens.
    if (context.values['list']) return listGrants(context, name === undefined ? name : nameIn(context));
    if (context.values['policy']) return approvePolicy(context);
    const { gate } = await openTrust(context);
    const config = await loadConfigFor(context);
    if (context.values['all']) return approveAll(gate, config.definitions);
    if (tool !== undefined) return approveTool(context, requireDefinition(serverIn(context), config, context), tool);
    const definition = requireDefinition(nameIn(context), config, context);
    const allowed = [context.values['allow-env'] ?? []].flat().map(String);
    const done = await approveOne(gate, definition, allowed);
    return { data: done, text: () => printable(wordsFor(done)) };
  },
};

export const revoke: Command = {
  usage: 'revoke (NAME [TOOL] | --policy)',
  options: { policy: { type: 'boolean' } },
  help: { policy: 'the files of this folder no longer loosen anything' },
  async run(context) {
    if (context.values['policy']) return revokePolicy(context);
    const [, tool] = context.positionals;
    const name = tool === undefined ? nameIn(context) : serverIn(context);
    const { gate, grants } = await openTrust(context);
    const config = await loadConfigFor(context);
    const definition = config.definitions.find((each) => each.name === name);
    if (tool !== undefined) return revokeTool(context, config, { server: name, tool });
    const file = definition?.provenance.file;
    const had = await gate.revoke(name, definition);
    const forgotten = definition ? await forgetAnswers(context, definition) : [];
    const tools = await grants.revoke(name, definition && { definition });
    if (!had && definition === undefined && tools === 0) throw unknownServer(name, config, context);
    const text = [
      ...(had
        ? [`The approval of "${name}" is taken back${file ? ` for ${file}` : ''}. It does not start there any more.`]
        : []),
      ...(had || tools > 0 ? [] : [`There was no approval of "${name}" to take back.`]),
      ...(forgotten.length > 0
        ? [`Your answers for ${forgotten.join(', ')} are forgotten; you will be asked again.`]
        : []),
      ...(tools > 0 ? [`What you allowed of its tools for good is forgotten (${tools}).`] : []),
    ];
    return { data: { name, approved: false, had, forgotten, tools }, text: () => printable(text.join('\n')) };
  },
};

/** Words that contradict each other are not weighed: what is given here lasts. */
function requireOneThing({ positionals, values }: Context): void {
  if (values['policy'] && (positionals.length > 0 || values['all'] || values['list']))
    throw new UsageError('--policy is about the files of this folder, and stands alone');
  if (values['all'] && positionals.length > 0) throw new UsageError('name one server, or --all without a name');
  const isForOne = !values['policy'] && !values['all'] && !values['list'];
  if (values['allow-env'] !== undefined && !isForOne)
    throw new UsageError('--allow-env is about one server that is approved by its name');
}

/** With a tool after it, and nothing else that speaks of the whole server. */
function serverIn({ positionals: [name, , extra], values }: Context): ServerName {
  if (name === undefined || extra !== undefined || values['allow-env'] !== undefined)
    throw new UsageError('name one server and one tool, and nothing else');
  return name;
}

/** What was typed wrong can be typed again. */
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

export interface Approved {
  readonly name: ServerName;
  readonly command: string;
  readonly approved: true;
  /** It needed no approval, or had this one. */
  readonly already: boolean;
  readonly isOwn: boolean;
  readonly isRemote: boolean;
  /** The person's variables it may read from now on. */
  readonly grants: readonly string[];
  /** Those it reads and does not get. */
  readonly withheld: readonly string[];
  /** What it may ask for, or was answered before. */
  readonly inputs: readonly string[];
  /** Its entry wants all of the person's variables, and a person agreed to that file. */
  readonly seesEverything: boolean;
  readonly changes: readonly string[];
}

/** A yes gives exactly what the entry reads now; what would leave the machine and looks like a credential is named by hand. */
export async function approveOne(
  gate: Gate,
  definition: ServerDefinition,
  allowed: readonly string[],
): Promise<Approved> {
  const { name, launch } = definition;
  const { all, sent } = variablesRead(definition);
  const strange = allowed.find((variable) => !all.includes(variable));
  if (strange !== undefined)
    throw new UsageError(`"${name}" does not read ${strange}${all.length > 0 ? `; it reads ${all.join(', ')}` : ''}`);
  const isWithheld = (each: string) => sent.includes(each) && isSecretVariable(each) && !allowed.includes(each);
  const fresh = all.filter((each) => !isWithheld(each));
  const judgement = await gate.judge(definition);
  const isOwn = judgement.kind === 'own';
  const before = judgement.kind === 'approved' ? judgement.grants : [];
  const already = isOwn || (judgement.kind === 'approved' && fresh.every((each) => before.includes(each)));
  const grants = all.filter((each) => fresh.includes(each) || before.includes(each));
  if (!already) await gate.approve(definition, grants, judgement.kind === 'asks' ? judgement.identity : undefined);
  return {
    ...{
      name,
      command: commandLine(withoutSecrets(launch)),
      approved: true,
      already,
      isOwn,
      isRemote: launch.kind !== 'stdio',
      grants: isOwn ? [] : grants,
    },
    withheld: isOwn ? [] : all.filter((each) => !grants.includes(each)),
    inputs: isOwn ? [] : inputsRead(definition),
    seesEverything: !isOwn && launch.kind === 'stdio' && launch.inheritEnv === 'all',
    changes: judgement.kind === 'asks' ? judgement.changes : [],
  };
}

function wordsFor(approved: Approved): string {
  const { name, command, already, isOwn, isRemote, grants, withheld, inputs, seesEverything, changes } = approved;
  if (isOwn) return `"${name}" is in a file of your own and needs no approval.`;
  const lines = [
    already
      ? `"${name}" is trusted already.`
      : `"${name}" ${isRemote ? 'is trusted from now on. It is at' : 'may start from now on. It runs'}: ${command}`,
    ...(changes.length > 0 ? [`Changed since it was last approved: ${changes.join('; ')}.`] : []),
    ...(grants.length > 0 ? [`It may read your variables ${grants.join(', ')}.`] : []),
    ...(seesEverything ? ['It sees ALL of your environment variables, as its file asks.'] : []),
    ...(inputs.length > 0 ? [`It uses your answers for ${inputs.join(', ')}.`] : []),
    ...withheld.map(
      (variable) =>
        `It asks for ${variable} and does not get it, because it would be sent to its server. To give it: plexus approve ${shellWord(name)} --allow-env ${variable}`,
    ),
  ];
  return lines.join('\n');
}

async function approveAll(gate: Gate, definitions: readonly ServerDefinition[]): Promise<CommandResult> {
  const judged = await Promise.all(definitions.map(async (each) => ({ each, ...(await gate.judge(each)) })));
  const servers: Approved[] = [];
  for (const { each, kind } of judged) if (kind === 'asks') servers.push(await approveOne(gate, each, []));
  return {
    data: { servers },
    text: () => (servers.length === 0 ? 'No server of this folder asks.' : printable(servers.map(wordsFor).join('\n'))),
  };
}

/** What a person agrees to is shown with it: every line that counts from now on, and the text that was read is what is approved. */
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
        ? 'No file of this folder asks for more than it may have, or what asks is approved already.'
        : printable(`Until the file changes, this counts from now on:\n${indent(lines.join('\n'))}`),
  };
}

async function revokePolicy(context: Context): Promise<CommandResult> {
  const { policy } = await openTrust(context);
  const { files } = await loadConfigFor(context);
  for (const file of files) await policy.revoke(file);
  return {
    data: { files },
    text: () => 'The files of this folder define servers and tighten rules, and loosen nothing.',
  };
}

function requireDefinition(server: ServerName, config: LoadedConfig, context: Context): ServerDefinition {
  const found = config.definitions.find((each) => each.name === server);
  if (found) return found;
  throw unknownServer(server, config, context);
}
