// Owns turning a failure of the runtime into an outcome for the model: structured text that it can act on, bounded and redacted.

import { cleanText } from '../kernel/clean-text.ts';
import { asRuntimeError, type FailureCode, quotesServer, RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { modelRemedyOf, modelSentencesOf } from '../model/model-sentences.ts';
import type { ToolId } from '../model/names.ts';
import type { Signal, ToolOutcome } from '../model/tool.ts';
import { createNonce, disarmAll, orderWarning, wrap as wrapped } from '../shaping/boundary.ts';
import { findSignals } from '../shaping/injection.ts';
import { truncate } from '../shaping/truncate.ts';
import { endedUnsentCalls } from './unsent-aborts.ts';

export interface TellingFailure {
  /** Takes out secrets that no model may read. */
  readonly redact?: (text: string) => string;
  /** The caller's own signal: an abort by it is not a failure. */
  readonly signal?: AbortSignal | undefined;
  /** False for a runtime with `results.wrap = false`: then a server's words stand without a mark. */
  readonly wrap?: boolean;
  /** The id that the call was given; empty in the outcome where none is. */
  readonly callId?: string;
}

/** Turns a failure into an outcome, for hosts that give the model a text instead of an exception. */
export function failureAsOutcome(error: unknown, telling: TellingFailure = {}): ToolOutcome {
  const { redact = asItIs, signal, wrap = true, callId = '' } = telling;
  const failure = isAbort(error, signal)
    ? new RuntimeError('CALL_CANCELLED', endedUnsentCalls(error) ? { wasSent: false } : {}, { cause: error })
    : asRuntimeError(error);
  const { code, remedy } = failure;
  const { server, tool } = subjectOf(failure);
  const { happened, next } = modelSentencesOf(failure);
  // Keep foreign names on one line and disarm them, so that they can neither begin a line of ours nor end a mark.
  const bounded = (text: string, chars: number) => truncate(oneLine(redact(text)), chars).text;
  const { nameChars, happenedChars, nextChars } = limits.failureText;
  const id = { server: bounded(server, nameChars), tool: bounded(tool, nameChars) };
  const said = bounded(happened, happenedChars);
  const signals = signalsIn(failure, said);
  const text = [
    `MCP error: ${code}`,
    ...(server === '' ? [] : [`server: ${disarmAll(id.server)}`]),
    ...(tool === '' ? [] : [`tool: ${disarmAll(id.tool)}`]),
    `stage: ${failureStages[code]}`,
    quotesServer(failure) && wrap ? quoted(said, id, signals) : `what happened: ${disarmAll(said)}`,
    `next step: ${disarmAll(bounded(next, nextChars))}`,
    `remedy: ${modelRemedyOf(remedy)}`,
  ].join('\n');
  return {
    text,
    content: [{ type: 'text', text }],
    attachments: [],
    isError: true,
    signals,
    meta: { callId, server, tool, durationMs: 0, attempts: 0, fromCache: false },
  };
}

/** The server and the tool that a failure is about; empty where there is none. */
function subjectOf({ data }: RuntimeError): ToolId {
  const server = 'server' in data ? data.server : 'quoted' in data ? data.quoted : undefined;
  const tool = 'tool' in data ? data.tool : undefined;
  return { server: server ?? '', tool: tool ?? '' };
}

/** Signals in the first sentence, found as in results; none where it quotes nobody. */
export function signalsIn(failure: RuntimeError, said = modelSentencesOf(failure).happened): readonly Signal[] {
  return quotesServer(failure) ? findSignals(said.replace(QUOTE_MARK, '\n ')) : [];
}

/** Stands before each line of stderr. It is ours: with it, an order would look like a cell of a table. As long as what replaces it. */
const QUOTE_MARK = /(?<=^|\s)\| /g;

/** Only what happened stands in the mark: the next step is ours, and the model should take it. */
function quoted(said: string, id: ToolId, signals: readonly Signal[]): string {
  const warning = signals.length > 0 ? orderWarning(signals) : '';
  return `what happened:\n${warning}${wrapped(said, id, createNonce())}`;
}

/** The steps at which a call can end. */
export type FailureStage =
  /** Before any call: configuration and stored data. */
  | 'setup'
  | 'resolve'
  | 'validate'
  | 'authorize'
  | 'guard'
  /** While the server was being reached; nothing was sent. */
  | 'connect'
  | 'deadline'
  | 'invoke'
  /** The server sent an unusable answer. */
  | 'answer'
  | 'none';

/** The step at which each code is usually thrown; `SERVER_DENIED` may also be found while connecting. `connection/status.ts` has the stages of a connection. */
const failureStages: Readonly<Record<FailureCode, FailureStage>> = {
  CONFIG_INVALID: 'setup',
  CONFIG_UNREADABLE: 'setup',
  CONFIG_UNWRITABLE: 'setup',
  OUTPUT_UNWRITABLE: 'setup',
  STORE_UNWRITABLE: 'setup',
  STORE_UNREADABLE: 'setup',
  LOCK_INVALID: 'setup',
  REQUIRED_NOT_READY: 'setup',
  SERVERS_NOT_READY: 'setup',
  RUNTIME_CLOSED: 'setup',
  TOOL_UNKNOWN: 'resolve',
  SERVER_UNKNOWN: 'resolve',
  RESOURCE_UNKNOWN: 'resolve',
  RESOURCE_AMBIGUOUS: 'resolve',
  PROMPT_UNKNOWN: 'resolve',
  GATEWAY_RUNNING: 'setup',
  GATEWAY_NEWER: 'setup',
  GATEWAY_UNREACHABLE: 'setup',
  SESSION_UNKNOWN: 'resolve',
  CONVERSATION_UNKNOWN: 'resolve',
  NOT_OFFERED: 'resolve',
  ARGUMENTS_BAD: 'validate',
  CALL_ID_TAKEN: 'validate',
  CURSOR_INVALID: 'validate',
  SERVER_DENIED: 'authorize',
  CALL_DENIED: 'authorize',
  APPROVAL_REFUSED: 'authorize',
  TOOL_DRIFTED: 'authorize',
  CIRCUIT_OPEN: 'guard',
  ENV_MISSING: 'connect',
  INPUT_MISSING: 'connect',
  SERVER_UNTRUSTED: 'connect',
  LOGINS_UNUSABLE: 'connect',
  MODEL_REFUSED: 'setup',
  MODEL_UNSET: 'setup',
  MODEL_UNAVAILABLE: 'setup',
  CONVERSATION_UNUSABLE: 'setup',
  AUTH_REQUIRED: 'connect',
  AUTH_FAILED: 'connect',
  LOGIN_FAILED: 'connect',
  LOGIN_UNAVAILABLE: 'connect',
  SPAWN_FAILED: 'connect',
  STARTUP_TIMEOUT: 'connect',
  CONNECTION_LOST: 'connect',
  PROTOCOL_BROKEN: 'connect',
  CALL_TIMEOUT: 'deadline',
  REQUEST_TIMEOUT: 'deadline',
  OUTCOME_UNKNOWN: 'invoke',
  REQUEST_REFUSED: 'invoke',
  QUESTIONS_EXCEEDED: 'invoke',
  RATE_LIMITED: 'invoke',
  CALL_CANCELLED: 'invoke',
  LIST_TOO_LONG: 'answer',
  MESSAGE_TOO_LARGE: 'answer',
  RESULT_BROKEN: 'answer',
  ANSWER_BROKEN: 'answer',
  INTERNAL: 'none',
};

const oneLine = (text: string) => cleanText(text).text.replace(/\s+/g, ' ').trim();

const asItIs = (text: string) => text;

/** The error is the signal's reason, or the default reason of an `AbortSignal`. */
function isAbort(error: unknown, signal: AbortSignal | undefined): boolean {
  if (error instanceof RuntimeError) return false;
  if (signal?.aborted && signal.reason === error) return true;
  return error instanceof DOMException && (error.name === 'AbortError' || error.name === 'TimeoutError');
}
