// Owns `plexus config check`: the problems of the configuration, or of one file, with an exit code for CI. Starts no server.

import { resolve } from 'node:path';
import type { CommandResult, Context } from './command.ts';
import { loadConfigFor } from './load-config.ts';
import { rejectExtra } from './positionals.ts';
import { diagnosticsText } from './render/diagnostics.ts';
import { printable } from './render/text.ts';

/** Exits with 1 if there is an error. Warnings are shown and pass. */
export async function checkConfig(context: Context): Promise<CommandResult> {
  const [, file, extra] = context.positionals;
  rejectExtra(extra, 'name one file');
  const { files, definitions, diagnostics } = await loadConfigFor(
    file === undefined ? context : checking(context, file),
  );
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const warnings = diagnostics.length - errors;
  const counts = { servers: definitions.length, errors, warnings };
  return {
    data: { ok: errors === 0, files, ...counts, diagnostics },
    text: (paint) =>
      [diagnosticsText(diagnostics, paint), printable(summaryOf(files, counts))]
        .filter((part) => part !== '')
        .join('\n\n'),
    exitCode: errors > 0 ? 1 : 0,
  };
}

/** As if `--config` named the file: no other file is read. */
function checking(context: Context, file: string): Context {
  return { ...context, runtimeOptions: { ...context.runtimeOptions, config: resolve(context.cwd, file) } };
}

interface ProblemCounts {
  readonly servers: number;
  readonly errors: number;
  readonly warnings: number;
}

function summaryOf(files: readonly string[], { servers, errors, warnings }: ProblemCounts): string {
  if (files.length === 0 && errors === 0)
    return 'There is no configuration file here. See where Plexus looks with: plexus config path';
  const found = [counted(errors, 'error'), counted(warnings, 'warning')].join(', ');
  const where = files.length === 1 ? files[0] : counted(files.length, 'file');
  return errors > 0
    ? `${found} in ${where}.`
    : `No errors in ${where}: ${counted(servers, 'server')}${warnings > 0 ? `, ${counted(warnings, 'warning')}` : ''}.`;
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
