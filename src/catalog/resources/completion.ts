// Owns `completion/complete`: a server's proposals for an argument of a prompt or of a resource template, by what is typed so far.

import type { Session } from '../../connection/session.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { ServerName } from '../../model/names.ts';
import type { Completion } from '../../model/resource.ts';
import { isPlain } from './resource-definition.ts';
import { type CancelOptions, type ReachDeps, reachSession, requestWithRetry } from './retried-request.ts';

export interface CompleteOptions extends Pick<CancelOptions, 'signal'> {
  /** The values of the other arguments so far. */
  readonly context?: Readonly<Record<string, string>>;
}

export interface CompletionRequest {
  readonly server: ServerName;
  readonly ref: JsonObject;
  readonly argument: { readonly name: string; readonly value: string };
}

const nothing: Completion = { values: [], hasMore: false };

/** A server without completions gives an empty list: a person's typing must not fail because of it. */
export async function complete(
  parts: ReachDeps,
  { server, ref, argument }: CompletionRequest,
  { context, signal }: CompleteOptions,
): Promise<Completion> {
  if (!mayComplete(await reachSession(parts, server, { signal }))) return nothing;
  const params = { ref, argument, ...(context && { context: { arguments: context } }) };
  const refusal = (code: number, what: string) =>
    code === METHOD_NOT_FOUND ? new RuntimeError('NOT_OFFERED', { server, what }) : undefined;
  try {
    return completionOf(
      await requestWithRetry(parts, { server, method: 'completion/complete', params, refusal }, { signal }),
    );
  } catch (error) {
    if (error instanceof RuntimeError && error.code === 'NOT_OFFERED') return nothing;
    throw error;
  }
}

const METHOD_NOT_FOUND = -32601;
/** From this protocol version on, servers declare whether they complete. */
const DECLARED_SINCE = '2025-03-26';

function mayComplete({ capabilities, protocolVersion }: Session): boolean {
  return capabilities['completions'] !== undefined || protocolVersion < DECLARED_SINCE;
}

function completionOf({ completion }: JsonObject): Completion {
  if (!isObject(completion) || !Array.isArray(completion['values'])) return nothing;
  const { values, total, hasMore } = completion as JsonObject & { readonly values: readonly unknown[] };
  const proposed = values.filter(
    (each): each is string => typeof each === 'string' && isPlain(each, limits.resourceDefinition.uriChars),
  );
  const isTotal = typeof total === 'number' && Number.isFinite(total);
  return {
    values: proposed.slice(0, limits.completionValues),
    ...(isTotal && { total }),
    hasMore: hasMore === true || proposed.length > limits.completionValues,
  };
}
