// Owns `plexus get`: one server, with its effective settings, where each comes from, what it overrides, and the end of its log.

import { withoutSecrets } from '../../config/literal-secrets.ts';
import type { LoginStatus } from '../../connection/status.ts';
import { systemClock } from '../../kernel/clock.ts';
import { limits } from '../../model/limits.ts';
import { commandLine, isRemote, labelOf, type ServerDefinition } from '../../model/server.ts';
import type { Command, CommandResult, Context, Paint } from '../command.ts';
import { explanationText, withSecretsHidden } from '../explanation.ts';
import { environmentOf, loadConfigFor, openTrust } from '../load-config.ts';
import { openLog } from '../open-log.ts';
import { serverNameIn } from '../positionals.ts';
import { diagnosticsText } from '../render/diagnostics.ts';
import { indent, printable, prose, shellWord } from '../render/text.ts';
import { unknownServer } from '../unknown-server.ts';
import { linesText } from './logs.ts';

export const get: Command = {
  usage: 'get NAME',
  options: {},
  examples: ['get files', 'get files --json'],
  async run(context) {
    const name = serverNameIn(context);
    const { data: explained, text: explanation, exitCode = 0 } = await explain(context, name);
    const known = await knownTools(context, name);
    const data = { ...explained, ...known };
    const text = (paint: Paint) => [explanation(paint), ...toolsLines(known, paint)].join('\n');
    const reader = openLog(context, name);
    const lines = await reader.last(limits.logView.briefLines);
    if (lines === undefined) return { data, text, exitCode };
    const log = { file: reader.file, lines };
    return { data: { ...data, log }, text: (paint) => `${text(paint)}\n${logText(log, paint)}`, exitCode };
  },
};

/** Also the answer of `plexus config why`. */
export async function explain(context: Context, name: string): Promise<CommandResult & { readonly data: object }> {
  const [{ gate }, config] = await Promise.all([openTrust(context), loadConfigFor(context)]);
  const found = await config.explain.server(name);
  if (found === undefined) throw unknownServer(name, config, context);
  const explained = withSecretsHidden(found);
  const definition = config.definitions.find((each) => each.name === name);
  const trust = definition ? (await gate.judge(definition)).kind : undefined;
  // Settings that the entry claims in vain stand among the others all the same.
  const diagnostics = config.diagnostics.filter(({ server }) => server === name);
  const runs = definition && (await startedAs(definition, context));
  const { cwd: workspace } = environmentOf(context);
  return {
    data: {
      ...{ ...explained, label: labelOf(explained), workspace, ...(trust && { trust }), ...(runs && { runs }) },
      ...(diagnostics.length > 0 && { diagnostics }),
    },
    text: (paint) =>
      [
        explanationText(explained, paint),
        runs && printable(`It is started as: ${runs}`),
        definition && trustText(definition, trust),
        workspaceText(context, workspace),
        diagnosticsText(diagnostics, paint),
      ]
        .filter(Boolean)
        .join('\n'),
    exitCode: explained.problem === undefined ? 0 : 1,
  };
}

interface KnownTools {
  readonly tools: number;
  readonly warnings: readonly string[];
  readonly login?: LoginStatus;
  /** Tools that a model is shown in another form, and how. */
  readonly reduced: readonly { readonly tool: string; readonly how: readonly string[] }[];
}

/** As the server last listed them: it is not started. */
async function knownTools(context: Context, name: string): Promise<KnownTools> {
  const { withRuntime } = await import('../with-runtime.ts');
  const startup = { whenCached: 'leave', whenUncached: 'leave' } as const;
  return withRuntime(context, { only: [name], startup, required: 'report' }, async (runtime) => {
    const found = runtime.getTools().filter(({ id }) => id.server === name);
    const { warnings = [], login } = runtime.status().find((each) => each.name === name) ?? {};
    const reduced = found.flatMap(({ id, reduced: how }) => (how ? [{ tool: id.tool, how }] : []));
    return { tools: found.length, warnings, reduced, ...(login && { login }) };
  });
}

function toolsLines({ tools, warnings, login, reduced }: KnownTools, paint: Paint): readonly string[] {
  const shortened = reduced.flatMap(({ tool, how }) => how.map((each) => `${tool}: ${each}`));
  return [
    ...(login?.account === undefined ? [] : [printable(`In this folder it uses the account "${login.account}".`)]),
    ...(tools > 0 ? [`It has ${tools} ${tools === 1 ? 'tool' : 'tools'}.`] : []),
    ...section('About its tools and settings:', warnings, paint),
    ...section('Shown to models shortened:', shortened, paint),
  ];
}

const section = (title: string, lines: readonly string[], paint: Paint) =>
  lines.length === 0 ? [] : [title, ...lines.map((line) => prose(indent(printable(line)), paint))];

/** The command line of a server that is kept out of the workspace, where it differs from its entry. */
async function startedAs(definition: ServerDefinition, context: Context): Promise<string | undefined> {
  if (definition.launch.kind !== 'stdio') return undefined;
  const { shieldedLaunch } = await import('../../config/neutral-folder.ts');
  const { launch } = await shieldedLaunch(definition, definition.launch, environmentOf(context), systemClock);
  return launch === definition.launch ? undefined : commandLine(withoutSecrets(launch));
}

function workspaceText({ cwd }: Context, workspace: string): string | undefined {
  if (workspace === cwd) return undefined;
  return printable(`The workspace is ${workspace}, the nearest folder above ${cwd} with a file of the project.`);
}

function trustText(definition: ServerDefinition, trust: string | undefined): string | undefined {
  const { name, provenance } = definition;
  const starts = isRemote(definition) ? 'is not connected' : 'does not start';
  if (trust === 'asks') return printable(`It ${starts} until you approve it: plexus approve ${shellWord(name)}`);
  if (trust !== 'restricted') return undefined;
  const without = 'gets none of your environment variables and stored credentials';
  if (!provenance.inWorkspace) return `It ${without}.`;
  return printable(
    `Nobody approved it, so it ${without}, and no model sees it. If you trust it, run: plexus approve ${shellWord(name)}`,
  );
}

function logText({ file, lines }: { file: string; lines: readonly string[] }, paint: Paint): string {
  return [`The end of its log, ${printable(file)}:`, indent(linesText(lines, paint))].join('\n');
}
