// Owns telling a person where a server comes from: the file that defines it, and its command or address.

import { withoutSecrets } from '../config/literal-secrets.ts';
import { commandLine } from '../model/server.ts';
import type { Context } from './command.ts';
import { describePlace } from './editable-entry.ts';
import { loadConfigFor } from './load-config.ts';

export async function originOf(server: string, context: Context): Promise<string | undefined> {
  const { definitions } = await loadConfigFor(context);
  const found = definitions.find(({ name }) => name === server);
  if (found === undefined) return undefined;
  const { provenance, launch } = found;
  const what = launch.kind === 'stdio' ? 'which runs' : 'which is at';
  return `${describePlace(provenance)}, ${what}: ${commandLine(withoutSecrets(launch))}`;
}
