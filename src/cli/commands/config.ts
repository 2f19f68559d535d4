// Owns `plexus config`: the effective configuration, a check of it, the files it may come from, and the JSON Schema for editors.

import type { ExplainedSetting } from '../../config/explain.ts';
import { withoutSecrets } from '../../config/literal-secrets.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { asEntry } from '../../config/reconnect.ts';
import { placeOf } from '../../model/diagnostic.ts';
import { commandLine } from '../../model/server.ts';
import { type Command, type CommandResult, type Context, type Paint, UsageError } from '../command.ts';
import { settingsTable } from '../explanation.ts';
import { environmentOf, loadConfigFor } from '../load-config.ts';
import { locateRules } from '../locate-rules.ts';
import { rejectExtra } from '../positionals.ts';
import { diagnosticsText } from '../render/diagnostics.ts';
import { documentText } from '../render/json.ts';
import { indent, printable } from '../render/text.ts';

export const config: Command = {
  usage: ['[--all]', 'check [FILE]', 'why NAME', 'path', 'schema']
    .map((words) => `config ${words}`)
    .join('\n  plexus '),
  options: { all: { type: 'boolean' } },
  help: { all: 'also show the settings that have their default' },
  examples: [
    'config                        # what differs from the defaults, and every server',
    'config check .mcp.json        # the mistakes in a file; exits with 1 if there are any',
    'config why files              # each setting of a server, and where it comes from',
    'config path                   # every file that is looked for',
    'config schema > schema.json   # completion for an editor',
  ],
  async run(context) {
    const [what, name, extra] = context.positionals;
    if (context.values['all'] && what !== undefined) throw new UsageError('--all is for: plexus config');
    if (what === 'why') return why(context);
    if (what === 'check') return (await import('../config-check.ts')).checkConfig(context);
    rejectExtra(extra ?? name);
    if (what === undefined) return effective(context);
    if (what === 'path') return places(context);
    if (what === 'schema') return schema();
    throw new UsageError(`"${what}" is not known; use "check", "why", "path", "schema" or nothing`);
  },
};

async function why(context: Context): Promise<CommandResult> {
  const [, name, extra] = context.positionals;
  if (name === undefined || extra !== undefined) throw new UsageError('name one server: plexus config why NAME');
  return (await import('./get.ts')).explain(context, name);
}

async function effective(context: Context): Promise<CommandResult> {
  const config = await loadConfigFor(context);
  const { settings, diagnostics, files } = config;
  const showsAll = context.values['all'] === true;
  const definitions = await Promise.all(
    config.definitions.map(async (each) => ({
      ...each,
      launch: withoutSecrets(each.launch),
      provenance: (await config.explain.server(each.name))?.provenance ?? each.provenance,
    })),
  );
  const rules = await locateRules(config.rules);
  const own = await config.explain.settings();
  const written = await Promise.all(
    definitions.map(async ({ name }) => [name, await writtenKeys(config, name)] as const),
  );
  const changed = new Map(written);
  const shadowed = [...config.shadowed, ...config.suppressed].map(({ name, provenance, lostTo, because }) => ({
    name,
    provenance,
    lostTo,
    because,
  }));
  return {
    data: {
      files,
      servers: definitions,
      shadowed,
      rules,
      settings,
      origins: own,
      diagnostics,
      invalid: config.invalid.map(({ name, provenance, diagnostic }) => ({ name, provenance, diagnostic })),
      refused: Object.fromEntries(config.refused),
    },
    text: (paint) => {
      const servers = definitions.map(({ name, launch, settings: effective, provenance }) => {
        const where = [provenance.scope, placeOf(provenance)].filter(Boolean).join(' ');
        const all = Object.entries({ ...effective, reconnect: asEntry(effective.reconnect) });
        const values = all
          .filter(([key]) => showsAll || changed.get(name)?.has(key))
          .map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
        return `${paint.bold(printable(name))}  ${paint.dim(printable(where))}\n${indent(printable([commandLine(launch), ...values].join('\n')))}`;
      });
      const overridden = shadowed.map(({ name, provenance, because }) =>
        paint.dim(printable(`${name} in ${provenance.file ?? provenance.scope} is not used, because ${because}`)),
      );
      const parts = [
        files.length === 0
          ? 'No configuration file was found. See where Plexus looks with: plexus config path'
          : undefined,
        ...servers,
        ...overridden,
        rules.length > 0
          ? rules
              .map(
                ({ tool, action, provenance }) =>
                  `${printable(`rule  ${tool} = ${action}`)}  ${paint.dim(printable(placeOf(provenance)))}`,
              )
              .join('\n')
          : undefined,
        settingsText(own, showsAll, paint),
        diagnosticsText(diagnostics, paint) || undefined,
      ];
      return parts.filter((part) => part !== undefined).join('\n\n');
    },
    exitCode: diagnostics.some(({ severity }) => severity === 'error') ? 1 : 0,
  };
}

/** The settings of a server that a file, a variable or a host set; the others have their defaults. */
async function writtenKeys({ explain }: LoadedConfig, name: string): Promise<ReadonlySet<string>> {
  const { settings = [] } = (await explain.server(name)) ?? {};
  return new Set(settings.filter(({ from }) => from !== 'default').map(({ key }) => key));
}

function settingsText(own: readonly ExplainedSetting[], showsAll: boolean, paint: Paint): string {
  const shown = showsAll ? own : own.filter(({ from }) => from !== 'default');
  const hint = showsAll ? [] : ['All other settings have their defaults. See them with: plexus config --all'];
  return [...(shown.length > 0 ? [settingsTable(shown, paint)] : []), ...hint].join('\n\n');
}

async function places(context: Context): Promise<CommandResult> {
  const [{ placesOf }, { files }] = await Promise.all([import('../../config/scopes.ts'), loadConfigFor(context)]);
  const known = placesOf(environmentOf(context)).map(({ scope, file }) => ({
    scope,
    file,
    present: files.includes(file),
  }));
  return {
    data: { places: known },
    text: (paint) =>
      known
        .map(({ scope, file, present }) => `${present ? paint.green('✓') : ' '} ${scope.padEnd(10)} ${printable(file)}`)
        .join('\n'),
  };
}

async function schema(): Promise<CommandResult> {
  const { publishedSchema: data } = await import('../../config/published-schema.ts');
  return { data, text: () => documentText(data).trimEnd() };
}
