// Owns asking a server what may follow what somebody has typed, for an argument of a prompt or of a template.

import type { Session } from '../../connection/session.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { ServerName } from '../../model/names.ts';
import type { Completion } from '../../model/offer.ts';
import { isPlain } from './offer-definition.ts';
import { ask, type ReachDeps, reachSession, type Waiting } from './reaching.ts';

export interface CompleteOptions extends Pick<Waiting, 'signal'> {
  /** What the other arguments are so far. */
  readonly context?: Readonly<Record<string, string>>;
}

export interface Completing {
  readonly server: ServerName;
  readonly ref: JsonObject;
  readonly argument: { readonly name: string; readonly value: string };
}

const nothing: Completion = { values: [], hasMore: false };

/** A server that completes nothing has nothing to propose: no reason to fail whoever is typing. */
export async function complete(
  parts: ReachDeps,
  { server, ref, argument }: Completing,
  { context, signal }: CompleteOptions,
): Promise<Completion> {
  if (!mayComplete(await reachSession(parts, server, { signal }))) return nothing;
  const params = { ref, argument, ...(context && { context: { arguments: context } }) };
  const refusal = (code: number, what: string) =>
    code === METHOD_NOT_FOUND ? new RuntimeError('NOT_OFFERED', { server, what }) : undefined;
  try {
    return completionOf(await ask(parts, { server, method: 'completion/complete', params, refusal }, { signal }));
  } catch (error) {
    if (error instanceof RuntimeError && error.code === 'NOT_OFFERED') return nothing;
    throw error;
  }
}

const METHOD_NOT_FOUND = -32601;
/** From here on servers say whether they complete. */
const DECLARED_SINCE = '2025-03-26';

function mayComplete({ capabilities, protocolVersion }: Session): boolean {
  return capabilities['completions'] !== undefined || protocolVersion < DECLARED_SINCE;
}

function completionOf({ completion }: JsonObject): Completion {
  if (!isObject(completion) || !Array.isArray(completion['values'])) return nothing;
  const { values, total, hasMore } = completion as JsonObject & { readonly values: readonly unknown[] };
  const proposed = values.filter(
    (each): each is string => typeof each === 'string' && isPlain(each, limits.offers.uriChars),
  );
  const isTotal = typeof total === 'number' && Number.isFinite(total);
  return {
    values: proposed.slice(0, limits.completionValues),
    ...(isTotal && { total }),
    hasMore: hasMore === true || proposed.length > limits.completionValues,
  };
}
