// Owns finding the entry to edit for a server's name: the effective one, or the one of `--scope`, in a file that Plexus may write.

import type { LoadedConfig } from '../config/load.ts';
import type { Claim } from '../config/merge.ts';
import type { ServerName } from '../model/names.ts';
import type { Provenance, Scope } from '../model/server.ts';
import { type Context, UsageError } from './command.ts';
import { editedScopes, fileOfScope, scopeIn } from './file-of-scope.ts';
import { loadConfigFor } from './load-config.ts';
import { serverUnknown } from './unknown-name.ts';
import { warnOfDiagnostics } from './with-runtime.ts';

export interface EditableEntry {
  readonly scope: Scope;
  readonly file: string;
}

export async function findEditableEntry(context: Context, name: ServerName): Promise<EditableEntry> {
  const scope = scopeIn(context);
  const config = await loadConfigFor(context);
  const inScope = claimsIn(config).filter(({ provenance }) => scope === undefined || provenance.scope === scope);
  const found = inScope.find((each) => each.name === name)?.provenance;
  if (found === undefined) {
    warnOfDiagnostics(config.diagnostics, context);
    const elsewhere = claimsIn(config).find((each) => each.name === name);
    if (elsewhere && scope !== undefined) throw otherScope(name, scope, elsewhere.provenance);
    throw serverUnknown(name, new Set(inScope.map((each) => each.name)), context);
  }
  if (found.file !== undefined && isEditable(found)) return { scope: found.scope, file: found.file };
  const own = claimsIn(config).find(
    ({ name: other, provenance }) => other === name && provenance.file !== undefined && isEditable(provenance),
  )?.provenance;
  const hint = own ? ` To edit the one in ${describePlace(own)}, add --scope ${own.scope}.` : '';
  const instead = await otherWay(context, found);
  throw new UsageError(`"${name}" comes from ${describePlace(found)}, which Plexus does not edit. ${instead}${hint}`);
}

/** The server is configured, so it is not unknown: only the scope is another one. */
function otherScope(name: ServerName, scope: Scope, found: Provenance): UsageError {
  const where = `"${name}" is not defined in scope ${scope}, but in ${describePlace(found)}`;
  const instead = isEditable(found)
    ? `write --scope ${found.scope}, or leave --scope out`
    : 'leave --scope out to see how it can be changed';
  return new UsageError(`${where}; ${instead}`);
}

/** The file that `--config` names (scope `host`) may be edited too. */
const isEditable = ({ scope }: Provenance) => scope === 'host' || editedScopes.some((each) => each === scope);

/** Effective entries first, then broken, shadowed and suppressed ones. */
const claimsIn = ({ definitions, invalid, shadowed, suppressed }: LoadedConfig): readonly Claim[] => [
  ...definitions,
  ...invalid,
  ...shadowed,
  ...suppressed,
];

/** Where an entry is defined, for people: the file, and its scope or the app that owns it. */
export function describePlace({ scope, file, provider }: Pick<Provenance, 'scope' | 'file' | 'provider'>): string {
  const what = provider ?? (scope === 'host' ? '--config' : scope);
  return file === undefined ? what : `${file} (${what})`;
}

async function otherWay(context: Context, { scope }: Provenance): Promise<string> {
  if (scope === 'enterprise') return 'Only the administrator of this machine can change it.';
  const own = await fileOfScope(context, 'user');
  const takeOver = scope === 'imported' ? ' import it first with: plexus import,' : '';
  return `Change it there,${takeOver} or disable it with disabled_servers under [plexus] in ${own}.`;
}
