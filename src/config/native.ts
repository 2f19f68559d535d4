// Owns leaving out servers whose work the host does itself. A data file lists those servers; nothing is left out unless the host
// names its own tools.

import rows from '../../data/native-replacements.json' with { type: 'json' };
import { matchesWildcard } from '../kernel/wildcard.ts';
import type { EnvironmentVariables } from '../model/environment-variables.ts';
import type { ServerName } from '../model/names.ts';
import type { ServerDefinition } from '../model/server.ts';
import { coversAddress } from './address-pattern.ts';
import { expand } from './expand.ts';
import { isOwnScope } from './scopes.ts';

/** Something the host does itself. */
export interface NativeTool {
  /** The id of a row of the data file, such as `web-search` or `browser`; or a row of the host's own. */
  readonly replaces: string | Replacement;
  /** Called with the key that a replaced server would have used. */
  readonly onSecret?: (secret: string, server: ServerName) => void;
}

export interface Replacement {
  readonly id: string;
  readonly names?: readonly string[];
  readonly urls?: readonly string[];
  /** As they are written among the arguments, without their version; `*` stands for anything. */
  readonly packages?: readonly string[];
  /** Where the entry of such a server holds its key. */
  readonly secret?: { readonly query?: string; readonly env?: string; readonly header?: string };
  /** The parameter of the address, or the option, that names the wanted tools. */
  readonly toolsParameter?: string;
  /** The tools that the host has; a server whose entry names others is kept. Absent: all. */
  readonly tools?: readonly string[];
}

const replacements: readonly Replacement[] = rows;

/** The servers that are not used, each with a reason that completes "it is not in use: …". */
export function replaceNative(
  definitions: readonly ServerDefinition[],
  natives: readonly NativeTool[],
  env: EnvironmentVariables,
): ReadonlyMap<ServerName, string> {
  const reasons = new Map<ServerName, string>();
  for (const { replaces, onSecret } of natives) {
    const row = typeof replaces === 'string' ? replacements.find(({ id }) => id === replaces) : replaces;
    for (const definition of definitions.filter(({ settings }) => settings.enabled)) {
      if (row === undefined || !isSame(row, definition) || needsOtherTools(row, definition)) continue;
      reasons.set(definition.name, `the host program has its own "${row.id}"`);
      const secret = secretOf(row, definition, env);
      if (secret) onSecret?.(secret, definition.name);
    }
  }
  return reasons;
}

function isSame({ names = [], urls = [], packages = [] }: Replacement, { name, launch }: ServerDefinition): boolean {
  if (names.includes(name.toLowerCase())) return true;
  if (launch.kind === 'in-process') return false;
  if (launch.kind !== 'stdio') return urls.some((url) => coversAddress(url, launch));
  const words = [launch.command, ...launch.args].map((word) => word.replace(/(?<=.)@[^@/]*$/, ''));
  return words.some((word) => packages.some((each) => matchesWildcard(each, word)));
}

function needsOtherTools({ tools, toolsParameter }: Replacement, { launch, settings }: ServerDefinition): boolean {
  if (tools === undefined) return false;
  const wanted = [
    ...(settings.enabledTools ?? []),
    ...(toolsParameter === undefined ? [] : toolsNamedIn(launch, toolsParameter)),
  ];
  return wanted.some((tool) => !tools.includes(tool));
}

function toolsNamedIn(launch: ServerDefinition['launch'], parameter: string): readonly string[] {
  const split = (list: string) =>
    list
      .split(',')
      .map((each) => each.trim())
      .filter(Boolean);
  if (launch.kind === 'in-process') return [];
  if (launch.kind !== 'stdio')
    return URL.canParse(launch.url) ? split(new URL(launch.url).searchParams.get(parameter) ?? '') : [];
  return launch.args.flatMap((arg, at) => {
    const [, value] = new RegExp(`^-*${parameter}=(.*)$`).exec(arg) ?? [];
    return split(value ?? (launch.args[at - 1] === `--${parameter}` ? arg : ''));
  });
}

/**
 * The key as the server itself would have had it. A repository's entry has none: it could read one of the user's keys this way, or
 * put in a key of its own, whose owner would see the user's requests.
 */
function secretOf(
  { secret }: Replacement,
  { launch, provenance }: ServerDefinition,
  env: EnvironmentVariables,
): string | undefined {
  if (secret === undefined || launch.kind === 'in-process' || provenance.inWorkspace) return undefined;
  const own = launch.env ?? {};
  const query =
    launch.kind !== 'stdio' && secret.query !== undefined && URL.canParse(launch.url)
      ? new URL(launch.url).searchParams.get(secret.query)
      : null;
  const header =
    launch.kind !== 'stdio'
      ? Object.entries(launch.headers).find(([name]) => name.toLowerCase() === secret.header)?.[1]
      : undefined;
  const written = query ?? header ?? (secret.env === undefined ? undefined : own[secret.env]);
  if (written === undefined) return undefined;
  const host = isOwnScope(provenance.scope) ? env : {};
  const { value, missing } = expand(written, {
    variable: (name) => (own[name] === written ? host[name] : (own[name] ?? host[name])),
  });
  return missing.length > 0 ? undefined : value;
}
