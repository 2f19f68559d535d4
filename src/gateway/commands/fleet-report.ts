// Owns what the gateway tells a command about a fleet, as JSON and back: every server's status, and what is wrong with the files.

import type { ServerStatus } from '../../connection/status.ts';
import { isObject, type JsonObject, parseJson } from '../../kernel/json.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { RuntimeError } from '../../model/errors.ts';
import type { ServerName } from '../../model/names.ts';
import { readFailure, toldFailure } from './told-failure.ts';

export interface FleetReport {
  readonly servers: readonly ServerStatus[];
  /** By server: how many tools a model sees in a reduced form. */
  readonly reduced: ReadonlyMap<ServerName, number>;
  readonly diagnostics: readonly Diagnostic[];
  /** Why what the command asked for could not be done. */
  readonly failure?: RuntimeError | undefined;
}

export function writeReport({ servers, reduced, diagnostics, failure }: FleetReport): string {
  return JSON.stringify({
    servers: servers.map(({ error, ...status }) => ({ ...status, ...(error && { error: toldFailure(error) }) })),
    reduced: [...reduced],
    diagnostics,
    ...(failure && { failure: toldFailure(failure) }),
  });
}

/** `undefined` for what is no report. */
export function readReport(text: string): FleetReport | undefined {
  const parsed = parseJson(text);
  if (!parsed.ok || !isObject(parsed.value)) return undefined;
  const { servers, reduced, diagnostics, failure } = parsed.value;
  if (!Array.isArray(servers) || !servers.every(isObject) || !Array.isArray(diagnostics)) return undefined;
  if (!Array.isArray(reduced) || !reduced.every(Array.isArray)) return undefined;
  return {
    servers: servers.map(statusIn),
    reduced: new Map(reduced as [ServerName, number][]),
    diagnostics,
    ...(failure !== undefined && { failure: readFailure(failure) }),
  };
}

const statusIn = (told: JsonObject): ServerStatus =>
  ({ ...told, ...(told['error'] !== undefined && { error: readFailure(told['error']) }) }) as unknown as ServerStatus;

/** The gateway runs the server for a command too. What is not approved, or could not be started there, the command may still use itself. */
export const isUsable = ({ state, unapproved }: ServerStatus): boolean =>
  unapproved === undefined && USABLE.includes(state);

const USABLE: readonly ServerStatus['state'][] = ['connected', 'connecting', 'reconnecting', 'idle', 'stopped'];
