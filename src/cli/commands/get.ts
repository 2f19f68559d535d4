// Owns `plexus get`: one server, with its effective settings, where each comes from, what it overrides, and the end of its log.

import { withoutSecrets } from '../../config/literal-secrets.ts';
import { systemClock } from '../../kernel/clock.ts';
import { limits } from '../../model/limits.ts';
import { commandLine, labelOf, type ServerDefinition } from '../../model/server.ts';
import type { Command, CommandResult, Context, Paint } from '../command.ts';
import { explanationText, withSecretsHidden } from '../explanation.ts';
import { environmentOf, loadConfigFor, openTrust } from '../load-config.ts';
import { serverNameIn } from '../positionals.ts';
import { indent, printable, shellWord } from '../render/text.ts';
import { unknownServer } from '../unknown-server.ts';
import { linesText, openLog } from './logs.ts';

export const get: Command = {
  usage: 'get NAME',
  options: {},
  async run(context) {
    const name = serverNameIn(context);
    const { data, text } = await explain(context, name);
    const reader = openLog(context, name);
    const lines = await reader.last(limits.logView.briefLines);
    if (lines === undefined) return { data, text };
    const log = { file: reader.file, lines };
    return { data: { ...data, log }, text: (paint) => `${text(paint)}\n${logText(log, paint)}` };
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
  const runs = definition && (await startedAs(definition, context));
  const { cwd: workspace } = environmentOf(context);
  return {
    data: { ...explained, label: labelOf(explained), workspace, ...(trust && { trust }), ...(runs && { runs }) },
    text: (paint) =>
      [
        explanationText(explained, paint),
        runs && printable(`It is started as: ${runs}`),
        trustText(name, trust),
        workspaceText(context, workspace),
      ]
        .filter(Boolean)
        .join('\n'),
  };
}

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

function trustText(name: string, trust: string | undefined): string | undefined {
  if (trust === 'asks') return printable(`It does not start until you approve it: plexus approve ${shellWord(name)}`);
  return trust === 'restricted' ? 'It gets none of your environment variables and stored credentials.' : undefined;
}

function logText({ file, lines }: { file: string; lines: readonly string[] }, paint: Paint): string {
  return [`The end of its log, ${printable(file)}:`, indent(linesText(lines, paint))].join('\n');
}
