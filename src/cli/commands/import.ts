// Owns `plexus import`: copies servers from other agents' files into Plexus's own.

import type { ImportedServer, ImportPlan } from '../../config/import-plan.ts';
import { nearest } from '../../kernel/nearest.ts';
import { type Command, type CommandResult, type Context, type Paint, UsageError } from '../command.ts';
import { edit } from '../edit.ts';
import { editedScopes, fileOfScope } from '../file-of-scope.ts';
import { environmentOf, loadConfigFor, openTrust } from '../load-config.ts';
import { rejectExtra } from '../positionals.ts';
import { diagnosticsText } from '../render/diagnostics.ts';
import { indent, printable, table } from '../render/text.ts';

export const importCommand: Command = {
  usage: 'import [--from APP] [--dry-run] [--yes]',
  options: { from: { type: 'string' }, 'dry-run': { type: 'boolean' }, yes: { type: 'boolean' } },
  help: {
    'from APP': 'import from this app only, such as cursor or claude-code',
    'dry-run': 'show what would be imported, and change nothing',
    yes: 'import without asking; required without a terminal',
  },
  examples: ['import --dry-run', 'import', 'import --from cursor --yes'],
  takesNoConfig: true,
  async run(context) {
    const [extra] = context.positionals;
    rejectExtra(extra, 'name an app with --from');
    if (context.runtimeOptions.config !== undefined)
      throw new UsageError('import writes your own file and those of the workspace; it takes no --config');
    const plan = await planFor(context);
    const answer = await answerFor(context, plan);
    return report(plan, answer, answer === 'yes' ? await takeOver(context, plan.taken) : new Map());
  },
};

async function planFor(context: Context): Promise<ImportPlan> {
  const [{ readImports }, { importers }, { planImport }, existing] = await Promise.all([
    import('../../config/imports.ts'),
    import('../../config/importers/importers.ts'),
    import('../../config/import-plan.ts'),
    loadConfigFor(context),
  ]);
  const { from } = context.values;
  const apps = importers.map(({ app }) => app);
  if (typeof from === 'string' && !apps.includes(from)) {
    const [suggestion] = nearest(from, apps, 1);
    throw new UsageError(
      `Plexus cannot import from "${from}"${suggestion ? `; did you mean "${suggestion}"?` : ''}; known apps are ${apps.join(', ')}`,
    );
  }
  const environment = environmentOf(context);
  // Read all apps, the named one first: a workspace file may be a link to the person's own file of another app.
  const wanted = importers.filter(({ app }) => from === undefined || app === from);
  const read = await readImports([...new Set([...wanted, ...importers])], environment);
  const files = read.filter(({ importer }) => wanted.includes(importer));
  // Servers that `import = "auto"` reads live are imported too: this is how a person makes them permanent.
  const definitions = existing.definitions.filter(({ provenance }) => provenance.scope !== 'imported');
  const inputs = await usedInputs(context, existing);
  const { port } = existing.settings.serving;
  return planImport(files, { definitions, files: ownFiles(existing), inputs, port }, environment);
}

/** Searched in the files' text, so that ids of broken, overridden or disabled entries are not reused and keep their answers. */
async function usedInputs(
  context: Context,
  { promptInputs: inputs }: Awaited<ReturnType<typeof loadConfigFor>>,
): Promise<readonly string[]> {
  const { readText } = await import('../../config/read-text.ts');
  const used = editedScopes.map(async (scope) => {
    const file = await fileOfScope(context, scope);
    const read = await readText(file);
    const written = read.kind === 'text' ? read.text.matchAll(/\$\{input:([\w.-]+?)(?=\}|:-)/g) : [];
    return [...[...written].map(([, id = '']) => id), ...(inputs.get(file) ?? []).map(({ id }) => id)];
  });
  return (await Promise.all(used)).flat();
}

/** Files that are loaded under a scope of their own, not because of `import = "auto"`. */
function ownFiles({
  files,
  definitions,
  invalid,
  shadowed,
}: Awaited<ReturnType<typeof loadConfigFor>>): readonly string[] {
  const imported = [...definitions, ...invalid, ...shadowed]
    .filter(({ provenance }) => provenance.scope === 'imported')
    .flatMap(({ provenance }) => provenance.file ?? []);
  return files.filter((file) => !imported.includes(file));
}

/** `unasked`: there is no terminal, or only the plan was wanted. */
type ImportAnswer = 'yes' | 'no' | 'unasked';

/** Shows the plan before asking. Nothing is written without a yes. */
async function answerFor({ ask, values, warn }: Context, plan: ImportPlan): Promise<ImportAnswer> {
  if (values['dry-run'] || plan.taken.length === 0) return 'unasked';
  if (values['yes']) return 'yes';
  if (values['json'] || ask === undefined) return 'unasked';
  warn((paint) => planText(plan, paint));
  return (await ask(`Import ${plan.taken.length} servers?`)) ? 'yes' : 'no';
}

/** The file each server was written to; `undefined` if that file already has an entry of its name. */
type WrittenFiles = ReadonlyMap<ImportedServer, string | undefined>;

async function takeOver(context: Context, taken: readonly ImportedServer[]): Promise<WrittenFiles> {
  const [{ inputName }, { secrets }] = await Promise.all([import('../../config/inputs.ts'), openTrust(context)]);
  const written = new Map<ImportedServer, string | undefined>();
  for (const each of taken) {
    const { name, scope, entry, inputs, secrets: found } = each;
    const file = await fileOfScope(context, scope);
    // An input that the app's file does not declare is a secret; a declaration of its bare id would show it while it is typed.
    const declared = inputs.filter((input) => Object.keys(input).length > 1);
    const isOwn = scope === 'user';
    // Store the secret before the entry: a placeholder without its value would lose the secret.
    for (const { id, value } of found) await secrets.set(inputName({ file }, id), value);
    const options = { closeToOthers: isOwn, isPrivateFolder: isOwn };
    const edited = await edit(
      context,
      file,
      { kind: 'put', name, entry, inputs: declared, whenPresent: 'refuse' },
      options,
    );
    const isWritten = edited.kind === 'written';
    if (!isWritten) for (const { id } of found) await secrets.delete(inputName({ file }, id));
    written.set(each, isWritten ? file : undefined);
  }
  return written;
}

function report(plan: ImportPlan, answer: ImportAnswer, written: WrittenFiles): CommandResult {
  const { found, taken, skipped, diagnostics } = plan;
  return {
    data: {
      dryRun: answer !== 'yes',
      found,
      // Never the secret values: only where they were, and the placeholder that replaces them.
      taken: taken.map((each) => ({
        ...each,
        ...(written.get(each) !== undefined && { writtenTo: written.get(each) }),
        secrets: each.secrets.map(({ id, at }) => ({ at, placeholder: `\${input:${id}}` })),
      })),
      skipped,
      diagnostics,
    },
    text: (paint) => {
      if (answer === 'yes') return doneText(plan, written, paint);
      // A person who said no has just seen the plan.
      if (answer === 'no') return 'Nothing was written.';
      const hint = taken.length === 0 ? [] : ['Nothing was written. Add --yes to import them.'];
      return [planText(plan, paint), ...hint].join('\n\n');
    },
  };
}

const targets = { user: 'your own file', project: "the workspace's file", local: "this folder's local file" } as const;

function planText(plan: ImportPlan, paint: Paint): string {
  const { found, taken, skipped, diagnostics } = plan;
  if (found.length === 0) return 'No other agent has a server configured here.';
  const rows = [
    ...taken.map(({ name, app, file, scope }) => ({
      name,
      app,
      file,
      what: `goes into ${targets[scope]}${scope === 'user' ? '' : ', and needs approval'}`,
    })),
    ...skipped.map(({ name, app, file, because }) => ({ name, app, file, what: `skipped: ${because}` })),
  ];
  const cells = rows.map(({ name, app, file, what }) => [
    { text: name, paint: paint.bold },
    { text: app },
    { text: file },
    { text: what },
  ]);
  return [
    table(['NAME', 'APP', 'FILE', ''], cells, paint),
    secretsText(taken),
    inputsText(taken),
    diagnosticsText(diagnostics, paint),
  ]
    .filter(Boolean)
    .join('\n\n');
}

function doneText(plan: ImportPlan, written: WrittenFiles, paint: Paint): string {
  const done = plan.taken.filter((each) => written.get(each) !== undefined);
  const refused = plan.taken.filter((each) => !done.includes(each));
  const lines = [...new Set(done.map((each) => written.get(each)))].map((file) => {
    const names = done.filter((each) => written.get(each) === file).map(({ name }) => name);
    return `Imported into ${file}\n${indent(names.join('\n'))}`;
  });
  const waiting = done.filter(({ scope }) => scope !== 'user').map(({ name }) => name);
  return [
    printable(lines.join('\n')),
    ...refused.map(({ name, scope }) =>
      printable(`${name} was not written: ${targets[scope]} already has an entry of that name, which is not in use.`),
    ),
    ...plan.skipped.map(({ name, app, because }) => printable(`${name} of ${app} was skipped: ${because}.`)),
    secretsText(done),
    inputsText(done),
    waiting.length > 0
      ? printable(`These are in the workspace and need your approval: ${waiting.join(', ')}. Run: plexus approve NAME`)
      : '',
    diagnosticsText(plan.diagnostics, paint),
    'See them with: plexus list',
  ]
    .filter(Boolean)
    .join('\n');
}

function secretsText(taken: readonly ImportedServer[]): string {
  const lines = taken.flatMap(({ name, secrets }) =>
    secrets.map(
      ({ at, id }) => `${name}: ${at} becomes \${input:${id}} in the file; its value goes into the secret store`,
    ),
  );
  return printable(lines.join('\n'));
}

function inputsText(taken: readonly ImportedServer[]): string {
  const lines = taken.flatMap(({ name, inputs }) =>
    inputs.map(({ id, description, options = [] }) => {
      const choices = options.length > 0 ? ` (${options.join(', ')})` : '';
      return `${name}: you will be asked when it starts: ${description ?? id}${choices}`;
    }),
  );
  return printable(lines.join('\n'));
}
