// Owns which values of a definition look like credentials that stand in a file as they are.

import type { Launch } from '../../model/server.ts';
import { replaceSecrets } from '../literal-secrets.ts';

/** What looks like a credential: `env.API_KEY`, `headers.Authorization`, `url`, `args[2]`. */
export function findSecrets(server: string, launch: Launch): readonly string[] {
  if (launch.kind === 'in-process') return [];
  return [...new Set(replaceSecrets(server, launch).secrets.map(({ at }) => at))];
}
