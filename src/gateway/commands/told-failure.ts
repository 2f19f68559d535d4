// Owns how a failure travels from the gateway to a command of the same person: with its code and its facts, so that the command ends
// as if it had met the failure itself.

import { isObject, type JsonObject } from '../../kernel/json.ts';
import { asRuntimeError, type FailureCode, failures, RuntimeError, wireCodesOf } from '../../model/errors.ts';
import { ProtocolError } from '../../serving/protocol.ts';

/** The key of a failure in the data of a JSON-RPC error. */
const FAILURE = 'plexus/failure';

export const toldFailure = ({ code, message, data }: RuntimeError): JsonObject => ({ code, message, data });

/** A gateway of another version may tell of failures that this one does not know: then its sentence is all that is left. */
export function readFailure(value: unknown): RuntimeError | undefined {
  if (!isObject(value)) return undefined;
  const { code, message, data } = value;
  try {
    if (isCode(code) && isObject(data)) return new RuntimeError(code, data as unknown as RuntimeError['data']);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  return new RuntimeError('INTERNAL', { problem: String(message) });
}

const isCode = (code: unknown): code is FailureCode => typeof code === 'string' && Object.hasOwn(failures, code);

/** The answer to a request of a command. */
export function failureAnswer(error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error;
  const failure = asRuntimeError(error);
  return new ProtocolError(wireCodesOf(failure).rpc, failure.message, { [FAILURE]: toldFailure(failure) });
}

/** The failure that an answer tells, if it does. */
export function failureIn({ error }: JsonObject): RuntimeError | undefined {
  const data = isObject(error) ? error['data'] : undefined;
  return isObject(data) ? readFailure(data[FAILURE]) : undefined;
}
