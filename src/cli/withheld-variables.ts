// Owns the hint about an environment variable that the person has set, that a server asks for on stderr, and that it does not get.
// Only a server's own words count: a list of all withheld variables would name many that no server wants.

import { placeOf } from '../model/diagnostic.ts';
import type { ServerName } from '../model/names.ts';
import type { ServerDefinition } from '../model/server.ts';
import { childEnvironment } from '../transport/environment.ts';
import type { Context } from './command.ts';
import { readLastStart } from './last-start.ts';
import { loadConfigFor } from './load-config.ts';
import { printable } from './render/text.ts';

/** At a server's first start, and whenever a start has failed. */
export async function warnOfWithheldVariables(
  context: Context,
  started: ReadonlySet<ServerName>,
  failed: ReadonlySet<ServerName>,
): Promise<void> {
  const hints: string[] = [];
  let definitions: readonly ServerDefinition[] | undefined;
  for (const server of started) {
    const start = await readLastStart(context, server);
    if (start === undefined || (!start.isFirst && !failed.has(server))) continue;
    if (mentionedVariables(start.stderr, context.env).length === 0) continue;
    definitions ??= (await loadConfigFor(context)).definitions;
    const definition = definitions.find(({ name }) => name === server);
    if (definition) hints.push(...hintsFor(definition, start.stderr, context.env));
  }
  if (hints.length > 0) context.warn((paint) => paint.yellow(printable(hints.join('\n'))));
}

function hintsFor(definition: ServerDefinition, stderr: readonly string[], env: Context['env']): readonly string[] {
  const { name, launch, provenance } = definition;
  if (launch.kind !== 'stdio') return [];
  const { platform } = process;
  const given = childEnvironment({ host: env, inherit: launch.inheritEnv, entry: launch.env, platform });
  return mentionedVariables(stderr, env)
    .filter((variable) => !Object.hasOwn(given, variable))
    .map(
      (variable) =>
        `Server "${name}" writes about ${variable}, which you have set and it does not get. To pass it on, add to its entry${provenance.file === undefined ? '' : ` in ${placeOf(provenance)}`}: env = { ${variable} = "\${${variable}}" }`,
    );
}

/** Whole words in the usual spelling of variables, as far as the person has set them. */
export function mentionedVariables(lines: readonly string[], env: Context['env']): readonly string[] {
  const words = lines.flatMap((line) => line.match(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g) ?? []);
  return [...new Set(words)].filter((word) => Object.hasOwn(env, word) && env[word] !== undefined);
}
