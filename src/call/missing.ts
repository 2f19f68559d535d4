// Owns why a name is not in the catalog, as far as somebody could help it: a filter hides it, or its server is not up.
// For the explanation only, never for routing: names are spelled again and compared.

import { type Aliases, createAliases } from '../catalog/aliases.ts';
import { canonicalName } from '../catalog/naming.ts';
import type { RuntimeError } from '../model/errors.ts';
import type { QualifiedName, ServerName } from '../model/names.ts';

export interface Suspect {
  readonly server: ServerName;
  readonly state: string;
  readonly error?: RuntimeError | undefined;
  /** The tools that its filters keep back; the same list as long as they do. */
  readonly hidden: readonly string[];
}

export function whyMissing(name: QualifiedName, suspects: readonly Suspect[]): string | undefined {
  for (const { server, state, error, hidden } of suspects) {
    if (aliasesOf(server, hidden).find(name) !== undefined) return `the tool filters of server "${server}" hide it`;
    const prefix = spelledPrefix(server);
    if (state === 'connected' || prefix === undefined || !name.startsWith(prefix)) continue;
    const hint = state === 'connecting' ? '; wait for it with ready(), then begin a new turn' : '';
    return `server "${server}" ${words.get(state) ?? `is ${state}`}${error ? ` (${error.message})` : hint}`;
  }
  return undefined;
}

/** What a person has to do something about, in their words. */
const words: ReadonlyMap<string, string> = new Map([
  ['needs-auth', 'needs a login'],
  ['needs-approval', 'needs an approval'],
  ['idle', 'has not been started'],
]);

const hiddenAliases = new WeakMap<readonly string[], Aliases>();

/** Made once for each list: a model that guesses names must not cost everyone. */
function aliasesOf(server: ServerName, hidden: readonly string[]): Aliases {
  const known = hiddenAliases.get(hidden);
  if (known) return known;
  const ids = hidden.map((tool) => ({ server, tool }));
  const aliases = createAliases(ids.map((id) => ({ id, name: canonicalName(id) })));
  hiddenAliases.set(hidden, aliases);
  return aliases;
}

/** How the names of a server's tools begin; nothing where its own name leaves no room for them. */
function spelledPrefix(server: ServerName): string | undefined {
  const name = canonicalName({ server, tool: 'x' });
  const end = name.indexOf('__', 'mcp__'.length);
  return end < 0 ? undefined : name.slice(0, end + 2);
}
