// Owns `plexus approve` and `plexus revoke`: a person's word on what a file in the workspace defines, or on the file itself.

import { variablesRead } from '../../config/resolve.ts';
import { nearest } from '../../kernel/nearest.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { ServerName } from '../../model/names.ts';
import { commandLine, type ServerDefinition } from '../../model/server.ts';
import type { Gate } from '../../trust/gate.ts';
import { type Command, type Context, type Found, UsageError } from '../command.ts';
import { loadConfigFor, openTrust } from '../load-config.ts';
import { indent, printable } from '../render/text.ts';

export const approve: Command = {
  usage: 'approve (NAME [--allow-env VARIABLE]… | --all | --policy)',
  options: {
    'allow-env': { type: 'string', multiple: true },
    all: { type: 'boolean' },
    policy: { type: 'boolean' },
  },
  help: {
    'allow-env': 'let it send this variable of yours to its server; named for each that looks like a credential',
    all: 'approve every server of this folder that asks, as it is now',
    policy: 'let the files of this folder, as they are now, also loosen rules and settings',
  },
  async run(context) {
    if (context.values['policy']) return approvePolicy(context);
    const { gate } = await openTrust(context);
    const { definitions } = await loadConfigFor(context);
    if (context.values['all']) return approveAll(context, gate, definitions);
    const definition = requireServer(nameIn(context), definitions);
    const allowed = [context.values['allow-env'] ?? []].flat().map(String);
    const done = await approveOne(gate, definition, allowed);
    return { data: done, text: () => printable(wordsFor(done)) };
  },
};

export const revoke: Command = {
  usage: 'revoke (NAME | --policy)',
  options: { policy: { type: 'boolean' } },
  help: { policy: 'the files of this folder no longer loosen anything' },
  async run(context) {
    if (context.values['policy']) return revokePolicy(context);
    const name = nameIn(context);
    const { gate } = await openTrust(context);
    const { definitions } = await loadConfigFor(context);
    const had = (await gate.approvals(name)).length > 0;
    if (!had) requireServer(name, definitions);
    await gate.revoke(name);
    const text = had
      ? `The approval of "${name}" is taken back. What a file in a workspace defines under this name does not start any more.`
      : `There was no approval of "${name}" to take back.`;
    return { data: { name, approved: false, had }, text: () => printable(text) };
  },
};

function nameIn({ positionals: [name, extra] }: Context): ServerName {
  if (name === undefined || extra !== undefined) throw new UsageError('name one server');
  return name;
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
  readonly changes: readonly string[];
}

const looksLikeCredential = (name: string) => /TOKEN|SECRET|PASSWORD|KEY|AUTH/i.test(name);

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
  const isWithheld = (each: string) => sent.includes(each) && looksLikeCredential(each) && !allowed.includes(each);
  const grants = all.filter((each) => !isWithheld(each));
  const judgement = await gate.judge(definition);
  const isOwn = judgement.kind === 'own';
  const already = isOwn || (judgement.kind === 'approved' && grants.every((each) => judgement.grants.includes(each)));
  if (!already) await gate.approve(definition, grants);
  return {
    ...{
      name,
      command: commandLine(launch),
      approved: true,
      already,
      isOwn,
      isRemote: launch.kind !== 'stdio',
      grants: isOwn ? [] : grants,
    },
    withheld: isOwn ? [] : all.filter(isWithheld),
    changes: judgement.kind === 'asks' ? judgement.changes : [],
  };
}

function wordsFor({ name, command, already, isOwn, isRemote, grants, withheld, changes }: Approved): string {
  if (isOwn) return `"${name}" is in a file of your own and needs no approval.`;
  const lines = [
    already
      ? `"${name}" is trusted already.`
      : `"${name}" ${isRemote ? 'is trusted from now on. It is at' : 'may start from now on. It runs'}: ${command}`,
    ...(changes.length > 0 ? [`Changed since it was last approved: ${changes.join('; ')}.`] : []),
    ...(grants.length > 0 ? [`It may read your variables ${grants.join(', ')}.`] : []),
    ...withheld.map(
      (variable) =>
        `It asks for ${variable} and does not get it, because it would be sent to its server. To give it: plexus approve ${quoted(name)} --allow-env ${variable}`,
    ),
  ];
  return lines.join('\n');
}

const quoted = (word: string) => (/^[\w./@:-]+$/.test(word) ? word : JSON.stringify(word));

async function approveAll(context: Context, gate: Gate, definitions: readonly ServerDefinition[]): Promise<Found> {
  if (context.positionals.length > 0) throw new UsageError('name one server, or --all without a name');
  const judged = await Promise.all(definitions.map(async (each) => ({ each, ...(await gate.judge(each)) })));
  const servers: Approved[] = [];
  for (const { each, kind } of judged) if (kind === 'asks') servers.push(await approveOne(gate, each, []));
  return {
    data: { servers },
    text: () => (servers.length === 0 ? 'No server of this folder asks.' : printable(servers.map(wordsFor).join('\n'))),
  };
}

/** What a person agrees to is shown with it: every line that counts from now on. */
async function approvePolicy(context: Context): Promise<Found> {
  const { policy } = await openTrust(context);
  const { diagnostics } = await loadConfigFor(context);
  const loosening = diagnostics.filter(({ loosens }) => loosens);
  const files = filesOf(loosening);
  for (const file of files) await policy.approve(file, await textOf(file));
  const counts = loosening.map(({ file, line, server, loosens }) => ({ file, line, server, loosens }));
  const lines = counts.map(
    ({ file, line, server, loosens }) => `${loosens}${server ? ` of server "${server}"` : ''}  (${file}:${line})`,
  );
  return {
    data: { files, counts },
    text: () =>
      files.length === 0
        ? 'No file of this folder asks for more than it may have, or what asks is approved already.'
        : printable(`Until the file changes, this counts from now on:\n${indent(lines.join('\n'))}`),
  };
}

async function revokePolicy(context: Context): Promise<Found> {
  const { policy } = await openTrust(context);
  const { files } = await loadConfigFor(context);
  for (const file of files) await policy.revoke(file);
  return {
    data: { files },
    text: () => 'The files of this folder define servers and tighten rules, and loosen nothing.',
  };
}

const filesOf = (diagnostics: readonly Diagnostic[]) => [...new Set(diagnostics.flatMap(({ file }) => file ?? []))];

async function textOf(file: string): Promise<string> {
  const { readText } = await import('../../config/read-text.ts');
  const read = await readText(file);
  if (read.kind === 'text') return read.text;
  throw new RuntimeError('CONFIG_UNREADABLE', { file, problem: read.problem });
}

export function requireServer(server: ServerName, definitions: readonly ServerDefinition[]): ServerDefinition {
  const found = definitions.find((each) => each.name === server);
  if (found) return found;
  const names = definitions.map(({ name }) => name);
  throw new RuntimeError('SERVER_UNKNOWN', { server, nearest: nearest(server, names, limits.suggestions) });
}
