// Owns which of a server's tools its entry lets through. A deny subtracts from an allow.

import { matchesWildcard } from '../kernel/wildcard.ts';
import type { ServerSettings } from '../model/server.ts';

export function isExposed(tool: string, settings: Pick<ServerSettings, 'enabledTools' | 'disabledTools'>): boolean {
  const listed = (patterns: readonly string[]) => patterns.some((pattern) => matchesWildcard(pattern, tool));
  return (settings.enabledTools === undefined || listed(settings.enabledTools)) && !listed(settings.disabledTools);
}
