// Owns finding the entry that a person means by a name: the one that counts, or the one of a scope, in a file that is ours to write.

import type { LoadedConfig } from '../config/load.ts';
import type { Claim } from '../config/merge.ts';
import { nearest } from '../kernel/nearest.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { Provenance, Scope } from '../model/server.ts';
import { type Context, UsageError } from './command.ts';
import { editedScopes, fileOfScope, scopeIn } from './file-of-scope.ts';
import { loadConfigFor } from './load-config.ts';
import { printable } from './render/text.ts';
import { complainOf } from './with-runtime.ts';

export interface Claimed {
  readonly scope: Scope;
  readonly file: string;
}

/** All that the verbs about one server take. */
export function nameIn({ positionals: [name, extra] }: Context): ServerName {
  if (name === undefined || extra !== undefined) throw new UsageError('name one server');
  return name;
}

export async function findClaim(context: Context, name: ServerName): Promise<Claimed> {
  const scope = scopeIn(context);
  const config = await loadConfigFor(context);
  const inScope = claimsOf(config).filter(({ provenance }) => scope === undefined || provenance.scope === scope);
  const found = inScope.find((each) => each.name === name)?.provenance;
  if (found === undefined) {
    complainOf(config.diagnostics, context);
    const elsewhere = claimsOf(config).find((each) => each.name === name);
    if (elsewhere)
      context.complain(() => printable(`"${name}" is in ${placeOf(elsewhere.provenance)}, and not of scope ${scope}.`));
    const names = [...new Set(inScope.map((each) => each.name))];
    throw new RuntimeError('SERVER_UNKNOWN', { server: name, nearest: nearest(name, names, limits.suggestions) });
  }
  if (found.file !== undefined && isOurs(found)) return { scope: found.scope, file: found.file };
  const own = claimsOf(config).find(
    ({ name: other, provenance }) => other === name && provenance.file !== undefined && isOurs(provenance),
  )?.provenance;
  const hint = own ? ` The one in ${placeOf(own)} is meant with --scope ${own.scope}.` : '';
  const instead = await wayOut(context, found);
  throw new UsageError(`"${name}" comes from ${placeOf(found)}, which is not edited from here. ${instead}${hint}`);
}

/** The file that --config names is one's own as well. */
const isOurs = ({ scope }: Provenance) => scope === 'host' || editedScopes.some((each) => each === scope);

/** The one that counts first. */
const claimsOf = ({ definitions, invalid, shadowed, suppressed }: LoadedConfig): readonly Claim[] => [
  ...definitions,
  ...invalid,
  ...shadowed,
  ...suppressed,
];

/** Where an entry is, for people: the file, and what the file is to them. */
export function placeOf({ scope, file, provider }: Pick<Provenance, 'scope' | 'file' | 'provider'>): string {
  const what = provider ?? (scope === 'host' ? '--config' : scope);
  return file === undefined ? what : `${file} (${what})`;
}

async function wayOut(context: Context, { scope }: Provenance): Promise<string> {
  if (scope === 'enterprise') return 'Only whoever runs this machine changes it.';
  const own = await fileOfScope(context, 'user');
  const takeOver = scope === 'imported' ? ' take it over first with plexus import,' : '';
  return `Change it there,${takeOver} or switch it off with disabled_servers under [plexus] in ${own}.`;
}
