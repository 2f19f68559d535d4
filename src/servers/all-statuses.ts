// Owns which servers have a status: those in use, and those that a person expects to see although they cannot be used.

import { invalidStatus, suppressedStatus } from '../connection/absent-status.ts';
import type { ServerStatus } from '../connection/status.ts';
import type { ServerDefinition } from '../model/server.ts';
import type { ServerRegistry } from './registry.ts';

/** Every server that a file names, also invalid and suppressed ones, sorted by name. */
export function allStatuses(
  registry: Pick<ServerRegistry, 'absent' | 'definitions'>,
  statusOf: (definition: ServerDefinition) => ServerStatus,
): ServerStatus[] {
  const { invalid = [], suppressed = [] } = registry.absent();
  const used = [...registry.definitions().map(statusOf), ...invalid.map(invalidStatus)];
  const names = new Set(used.map(({ name }) => name));
  const silenced = suppressed.filter(({ name }) => !names.has(name) && names.add(name));
  return [...used, ...silenced.map(suppressedStatus)].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}
