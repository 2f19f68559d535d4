// Owns which values of a definition stand in a file as they are, instead of a placeholder for them.

import type { Launch } from '../../model/server.ts';
import { inputsOf, isCommand, variablesOf } from '../expand.ts';
import { replaceSecrets } from '../literal-secrets.ts';

/** Any value of a variable or a header may be a secret, whatever it looks like: such a file is its owner's alone. */
export function holdsLiterals(launch: Launch): boolean {
  if (launch.kind === 'in-process') return false;
  const values = Object.values(launch.kind === 'stdio' ? launch.env : launch.headers);
  return values.some(isLiteral) || findSecrets('', launch).length > 0;
}

const isLiteral = (value: string) =>
  value !== '' && !isCommand(value) && variablesOf(value).length === 0 && inputsOf(value).length === 0;

/** What looks like a credential: `env.API_KEY`, `headers.Authorization`, `url`, `args[2]`. */
export function findSecrets(server: string, launch: Launch): readonly string[] {
  if (launch.kind === 'in-process') return [];
  return [...new Set(replaceSecrets(server, launch).secrets.map(({ at }) => at))];
}
