// Owns finding the keys of a launch whose values look like literal secrets.

import type { Launch } from '../../model/server.ts';
import { replaceSecrets } from '../literal-secrets.ts';

/** The keys, such as `env.API_KEY`, `headers.Authorization`, `url` or `args[2]`. */
export function findSecrets(server: string, launch: Launch): readonly string[] {
  if (launch.kind === 'in-process') return [];
  return [...new Set(replaceSecrets(server, launch).secrets.map(({ at }) => at))];
}
