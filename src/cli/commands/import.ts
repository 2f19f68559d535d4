// Owns `plexus import`: servers of other agents' files, taken over into one's own.

import type { Taken, Takeover } from '../../config/takeover.ts';
import { nearest } from '../../kernel/nearest.ts';
import { type Command, type Context, type Found, type Paint, UsageError } from '../command.ts';
import { edit } from '../edit.ts';
import { fileOfScope } from '../file-of-scope.ts';
import { loadConfigFor, openSecrets, surroundingsOf } from '../load-config.ts';
import { diagnosticsText } from '../render/diagnostics.ts';
import { indent, printable, table } from '../render/text.ts';

export const importCommand: Command = {
  usage: 'import [--from APP] [--dry-run] [--yes]',
  options: { from: { type: 'string' }, 'dry-run': { type: 'boolean' }, yes: { type: 'boolean' } },
  help: {
    from: 'only from this app, such as cursor or claude-code',
    'dry-run': 'show what would be taken over, and change nothing',
    yes: 'do not ask before writing',
  },
  async run(context) {
    const [extra] = context.positionals;
    if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many; name an app with --from`);
    const plan = await planFor(context);
    const isDry = Boolean(context.values['dry-run']) || !(await isWanted(context, plan));
    const written = isDry ? [] : await takeOver(context, plan.taken);
    return report(plan, isDry, written);
  },
};

async function planFor(context: Context): Promise<Takeover> {
  const [{ readImports }, { importers }, { planTakeover }, existing] = await Promise.all([
    import('../../config/imports.ts'),
    import('../../config/importers/importers.ts'),
    import('../../config/takeover.ts'),
    loadConfigFor(context),
  ]);
  const { from } = context.values;
  const apps = importers.map(({ app }) => app);
  if (typeof from === 'string' && !apps.includes(from)) {
    const [meant] = nearest(from, apps, 1);
    throw new UsageError(
      `"${from}" is no app that can be imported from${meant ? `; did you mean "${meant}"?` : ''}; known are ${apps.join(', ')}`,
    );
  }
  const around = surroundingsOf(context);
  const files = await readImports(
    importers.filter(({ app }) => from === undefined || app === from),
    around,
  );
  // What is read live today is taken over as well: that is how a person turns the one into the other.
  const definitions = existing.definitions.filter(({ provenance }) => provenance.scope !== 'imported');
  return planTakeover(files, { definitions, files: ownFiles(existing) }, around);
}

/** Files that are read under a scope of their own, and not because of `import = "auto"`. */
function ownFiles({
  files,
  definitions,
  invalid,
  losers,
}: Awaited<ReturnType<typeof loadConfigFor>>): readonly string[] {
  const imported = [...definitions, ...invalid, ...losers]
    .filter(({ provenance }) => provenance.scope === 'imported')
    .flatMap(({ provenance }) => provenance.file ?? []);
  return files.filter((file) => !imported.includes(file));
}

/** The plan is shown before anything is written; where nobody can be asked, the command itself is the answer. */
async function isWanted({ ask, values, complain }: Context, plan: Takeover): Promise<boolean> {
  if (plan.taken.length === 0) return false;
  if (values['yes'] || values['json'] || ask === undefined) return true;
  complain((paint) => planText(plan, paint));
  return ask(`Take over ${plan.taken.length} servers?`);
}

interface Written {
  readonly name: string;
  readonly file: string;
}

async function takeOver(context: Context, taken: readonly Taken[]): Promise<readonly Written[]> {
  const [{ inputName }, secrets] = await Promise.all([import('../../config/inputs.ts'), openSecrets(context)]);
  const written: Written[] = [];
  for (const { name, scope, entry, secrets: found } of taken) {
    const file = await fileOfScope(context, scope);
    const isOwn = scope === 'user';
    // The secret first: an entry whose placeholder stands for nothing would be a loss.
    for (const { id, value } of found) await secrets.set(inputName(file, id), value);
    const options = { closeToOthers: isOwn, isPrivateFolder: isOwn };
    await edit(context, file, { kind: 'put', name, entry, whenPresent: 'refuse' }, options);
    written.push({ name, file });
  }
  return written;
}

function report(plan: Takeover, isDry: boolean, written: readonly Written[]): Found {
  const { found, taken, skipped, diagnostics } = plan;
  const fileOf = (name: string) => written.find((each) => each.name === name)?.file;
  return {
    data: {
      dryRun: isDry,
      found,
      // Never the values themselves: where they stood, and what stands there now.
      taken: taken.map(({ secrets, ...each }) => ({
        ...each,
        ...(fileOf(each.name) !== undefined && { writtenTo: fileOf(each.name) }),
        secrets: secrets.map(({ id, at }) => ({ at, placeholder: `\${input:${id}}` })),
      })),
      skipped,
      diagnostics,
    },
    text: (paint) => (isDry ? planText(plan, paint) : doneText(plan, written, paint)),
  };
}

function planText(plan: Takeover, paint: Paint): string {
  const { found, taken, skipped, diagnostics } = plan;
  if (found.length === 0) return 'No other agent has a server configured here.';
  const rows = [
    ...taken.map(({ name, app, file, scope }) => ({
      name,
      app,
      file,
      what: `taken into your ${scope === 'user' ? 'own' : "workspace's"} file`,
    })),
    ...skipped.map(({ name, app, file, because }) => ({ name, app, file, what: `skipped: ${because}` })),
  ];
  const cells = rows.map(({ name, app, file, what }) => [
    { text: name, paint: paint.bold },
    { text: app },
    { text: file },
    { text: what },
  ]);
  return [table(['NAME', 'APP', 'FILE', ''], cells, paint), secretsText(taken), diagnosticsText(diagnostics, paint)]
    .filter(Boolean)
    .join('\n\n');
}

function doneText(plan: Takeover, written: readonly Written[], paint: Paint): string {
  const files = [...new Set(written.map(({ file }) => file))];
  const lines = files.map(
    (file) =>
      `${file}\n${indent(
        written
          .filter((each) => each.file === file)
          .map(({ name }) => name)
          .join('\n'),
      )}`,
  );
  const waiting = plan.taken.filter(({ scope }) => scope === 'project').map(({ name }) => name);
  return [
    printable(`Taken over into ${lines.join('\n')}`),
    ...plan.skipped.map(({ name, app, because }) => printable(`${name} of ${app} was skipped: ${because}.`)),
    secretsText(plan.taken),
    waiting.length > 0
      ? printable(
          `In the workspace's file, so they still ask: ${waiting.join(', ')}. Approve with: plexus approve NAME`,
        )
      : '',
    diagnosticsText(plan.diagnostics, paint),
    'See them with: plexus list',
  ]
    .filter(Boolean)
    .join('\n');
}

function secretsText(taken: readonly Taken[]): string {
  const lines = taken.flatMap(({ name, secrets }) =>
    secrets.map(({ at, id }) => `${name}: ${at} is \${input:${id}} in the file, its value goes into the secret store`),
  );
  return printable(lines.join('\n'));
}
