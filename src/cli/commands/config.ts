// Owns `plexus config`: the effective configuration, where it may lie, and the schema an editor can use.

import { commandLine } from '../../model/server.ts';
import { type Command, type Context, type Found, UsageError } from '../command.ts';
import { loadConfigFor, surroundingsOf } from '../load-config.ts';
import { diagnosticsText } from '../render/diagnostics.ts';
import { documentText } from '../render/json.ts';
import { indent, printable } from '../render/text.ts';

export const config: Command = {
  usage: 'config [path | schema]',
  options: {},
  async run(context) {
    const [what, extra] = context.positionals;
    if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many`);
    if (what === undefined) return effective(context);
    if (what === 'path') return places(context);
    if (what === 'schema') return schema();
    throw new UsageError(`"${what}" is not known; it is "path", "schema" or nothing`);
  },
};

async function effective(context: Context): Promise<Found> {
  const { definitions, invalid, losers, rules, settings, diagnostics, files } = await loadConfigFor(context);
  return {
    data: { files, servers: definitions, invalid, losers, rules, settings, diagnostics },
    text: (paint) => {
      const servers = definitions.map(({ name, launch, settings: effective, provenance }) => {
        const where = `${provenance.scope}${provenance.file ? ` ${provenance.file}` : ''}${provenance.line ? `:${provenance.line}` : ''}`;
        const values = Object.entries(effective).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
        return `${paint.bold(printable(name))}  ${paint.dim(printable(where))}\n${indent(printable([commandLine(launch), ...values].join('\n')))}`;
      });
      const overridden = losers.map(({ name, provenance, lostTo }) =>
        paint.dim(printable(`${name} in ${provenance.file} is overridden by ${lostTo.file ?? lostTo.scope}`)),
      );
      const parts = [
        files.length === 0
          ? 'No configuration file was found. See where they may lie with: plexus config path'
          : undefined,
        ...servers,
        ...overridden,
        rules.length > 0
          ? rules.map(({ tool, action }) => printable(`rule  ${tool} = ${action}`)).join('\n')
          : undefined,
        `settings  ${JSON.stringify(settings)}`,
        diagnosticsText(diagnostics, paint) || undefined,
      ];
      return parts.filter((part) => part !== undefined).join('\n\n');
    },
  };
}

async function places(context: Context): Promise<Found> {
  const [{ placesOf }, { files }] = await Promise.all([import('../../config/scopes.ts'), loadConfigFor(context)]);
  const known = placesOf(surroundingsOf(context)).map(({ scope, file }) => ({
    scope,
    file,
    present: files.includes(file),
  }));
  return {
    data: { places: known },
    text: (paint) =>
      known
        .map(({ scope, file, present }) => `${present ? paint.green('✓') : ' '} ${scope.padEnd(8)} ${printable(file)}`)
        .join('\n'),
  };
}

async function schema(): Promise<Found> {
  const { jsonSchema } = await import('../../config/schema.ts');
  const data = jsonSchema();
  return { data, text: () => documentText(data).trimEnd() };
}
