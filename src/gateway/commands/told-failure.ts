// Owns how a failure travels from the gateway to a command of the same person: with its code and its facts, so that the command ends
// as if it had met the failure itself.

import { isObject, type JsonObject } from '../../kernel/json.ts';
import { asRuntimeError, type FailureCode, failures, RuntimeError, wireCodesOf } from '../../model/errors.ts';
import { ProtocolError } from '../../serving/protocol.ts';

/** The key of a failure in the data of a JSON-RPC error. */
const FAILURE = 'plexus/failure';

export const toldFailure = ({ code, message, data }: RuntimeError): JsonObject => ({ code, message, data });

/** The errors that tell a failure of Plexus. A server that puts the key into its own error tells none. */
const telling = new WeakSet<ProtocolError>();

/** A gateway of another version may tell of failures that this one does not know: then its sentence is all that is left. */
export function readFailure(value: unknown): RuntimeError | undefined {
  if (!isObject(value)) return undefined;
  const { code, message, data } = value;
  try {
    if (isCode(code) && isObject(data)) return new RuntimeError(code, data as unknown as RuntimeError['data']);
  } catch (error) {
    // Its facts are not those of this version.
    if (!(error instanceof Error)) throw error;
  }
  return new RuntimeError('INTERNAL', { problem: String(message) });
}

const isCode = (code: unknown): code is FailureCode => typeof code === 'string' && Object.hasOwn(failures, code);

/** The answer to a request of a command. */
export function failureAnswer(error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error;
  const failure = asRuntimeError(error);
  const answer = new ProtocolError(wireCodesOf(failure).rpc, failure.message, { [FAILURE]: toldFailure(failure) });
  telling.add(answer);
  return answer;
}

/** For a command, which prints what it gets: the values that must not be seen are known where the server runs. */
export function redactedAnswer(error: unknown, redact: <Value>(value: Value) => Value): unknown {
  if (!(error instanceof ProtocolError)) return error;
  const { code, message, data, status } = error;
  const told = telling.has(error) || !isObject(data) ? data : withoutFailure(data);
  return new ProtocolError(code, redact(message), redact(told), status === undefined ? {} : { status });
}

function withoutFailure({ [FAILURE]: _, ...data }: JsonObject): JsonObject {
  return data;
}

/** The failure that an answer tells, if it does. */
export function failureIn({ error }: JsonObject): RuntimeError | undefined {
  const data = isObject(error) ? error['data'] : undefined;
  return isObject(data) ? readFailure(data[FAILURE]) : undefined;
}
