// Owns how a failure of the runtime is told to a client: as the result of a call, or as the error of any other request, with the
// HTTP status where the route is of one server. 401 is never among them: it means the gateway's own token.

import { isObject, type JsonObject } from '../kernel/json.ts';
import { shellWord } from '../kernel/shell-word.ts';
import { type ApprovalAdvice, asRuntimeError, type FailureData, RuntimeError, wireCodesOf } from '../model/errors.ts';
import { codes, ProtocolError, resourceNotFound } from '../serving/protocol.ts';

const ERROR_META = 'plexus/error';

/**
 * For a call that was handed on, or refused by a rule: the model reads why, and a person what to do. `options`: those of a command that is
 * about the same servers, whatever folder it is typed in.
 */
export function failureResult(error: unknown, options: readonly string[] = []): JsonObject {
  const failure = asRuntimeError(error);
  const { code, remedy } = failure;
  const text = [failure.message, ...commandFor(failure, options)].join(' ');
  return { content: [{ type: 'text', text }], isError: true, _meta: { [ERROR_META]: { code, remedy } } };
}

/** The sentence of a refusal names a command already where the tool has changed. */
const namesCommand: readonly (string | undefined)[] = ['review-lock', 'approve-again'] satisfies ApprovalAdvice[];

/** A refusal ends with the command that allows the call, or, where no stored approval would, the one that makes it. */
function commandFor(error: RuntimeError, options: readonly string[]): readonly string[] {
  if (error.code !== 'APPROVAL_REFUSED') return [];
  const { server, tool, advice, isUnstored } = error.data as FailureData<'APPROVAL_REFUSED'>;
  if (namesCommand.includes(advice)) return [];
  const words = [server, tool, ...options].map(shellWord).join(' ');
  return [
    isUnstored
      ? `To call it yourself, run: plexus call ${words}`
      : `To allow it for good, run: plexus approve ${words}`,
  ];
}

/** For every other request. */
export function failureError(error: unknown, { isStatus = false }: { readonly isStatus?: boolean } = {}): unknown {
  if (!(error instanceof RuntimeError)) return error;
  const { code, remedy, message } = error;
  const { rpc } = wireCodesOf(error);
  const told = code === 'RESOURCE_UNKNOWN' ? codes.resourceNotFound : rpc;
  return new ProtocolError(told, message, { code, remedy }, isStatus ? { status: statusOf(error) } : {});
}

/** A modern server says of an unknown resource what it says of any wrong parameter, and names the uri; a legacy client knows a code for it. */
export function legacyReadError(error: unknown, uri: string): unknown {
  const isUnknown = error instanceof ProtocolError && error.code === codes.invalidParams;
  return isUnknown && isObject(error.data) && 'uri' in error.data ? resourceNotFound(uri) : error;
}

/** The answer of a route whose only server cannot be used. */
function statusOf(error: RuntimeError): number {
  const { http } = wireCodesOf(error);
  if (http === 404 || http === 504) return http;
  return http === 401 || http === 403 || http === 503 ? 503 : 502;
}
