// Owns what a model reads of a failure: for each code what the model itself can do next and, where the sentence for people names
// files, commands or settings, another one about what happened. A model may hold a shell: it is never told how to loosen what
// holds it back, and what only a person can do it tells the person.

import {
  type FailureCode,
  type FailureData,
  faultReason,
  type Remedy,
  type RuntimeError,
  seconds,
  sentencesOf,
  thereIsNo,
} from './errors.ts';

interface ModelSentences<Data> {
  readonly next: (data: Data) => string;
  /** Absent: the sentence for people. It may quote a server only where that one does. */
  readonly happened?: (data: Data) => string;
}

const ANOTHER_TOOL = 'use another tool (mcp_search finds one, if you have it)';
const userMust = (does: string) => `Only the user can ${does}: tell them. Calling again does not help before that.`;
const waits = (server: string, what: string) =>
  `Tell the user that server "${server}" ${what}. Calling again does not help before that; ${ANOTHER_TOOL}.`;
const CHECK_FIRST = 'Check its effect before calling again.';
const NOT_AGAIN = 'Do not try it again or in another way.';

const rows: { readonly [Code in FailureCode]: ModelSentences<FailureData<Code>> } = {
  CONFIG_INVALID: { happened: () => 'The settings of the user cannot be used.', next: () => userMust('correct them') },
  CONFIG_UNREADABLE: {
    happened: () => 'The settings of the user cannot be read.',
    next: () => userMust('change that'),
  },
  CONFIG_UNWRITABLE: {
    happened: () => 'The settings of the user cannot be changed, and were not.',
    next: () => userMust('change that'),
  },
  OUTPUT_UNWRITABLE: {
    happened: () => 'The output cannot be written where it was to go.',
    next: () => 'Name another place, or tell the user.',
  },
  ENV_MISSING: { next: ({ server }) => waits(server, 'needs that variable') },
  INPUT_MISSING: {
    happened: ({ server, input }) => `Server "${server}" needs an answer of the user ("${input}").`,
    next: ({ server }) => waits(server, 'needs their answer'),
  },
  SERVER_UNKNOWN: { next: () => `Name a server that you were told of, or ${ANOTHER_TOOL}.` },
  SERVER_DENIED: {
    happened: ({ server }) => `Server "${server}" is not in use here.`,
    next: () => `${NOT_AGAIN} Instead ${ANOTHER_TOOL}.`,
  },
  STORE_UNWRITABLE: {
    happened: ({ reason }) => `Nothing can be stored on this machine: ${reason}.`,
    next: () => userMust('change that'),
  },
  STORE_UNREADABLE: { next: () => 'You need not do anything: go on.' },
  SERVER_UNTRUSTED: {
    happened: ({ server, isLocal, command }) =>
      `Server "${server}" was not ${isLocal ? 'connected' : 'started'}: the workspace defines it, and the user has not approved it. Its ${isLocal ? 'address' : 'command'}: ${command}.`,
    next: ({ server }) => `${waits(server, 'waits for their approval')} Do not start it in another way.`,
  },
  LOGINS_UNUSABLE: {
    happened: () => 'The stored logins of the user cannot be read.',
    next: () => userMust('repair that'),
  },
  MODEL_REFUSED: { next: () => userMust('repair that') },
  MODEL_UNSET: { happened: () => 'The model of the agent is not set up.', next: () => userMust('set it up') },
  MODEL_UNAVAILABLE: { next: () => 'Tell the user, who can try again later.' },
  CONVERSATION_UNUSABLE: { next: () => 'Start a new conversation.' },
  AUTH_REQUIRED: { next: ({ server }) => waits(server, 'needs a login') },
  AUTH_FAILED: { next: ({ server }) => waits(server, 'refuses the login it was given') },
  LOGIN_FAILED: {
    happened: ({ server }) => `The login to server "${server}" failed.`,
    next: ({ server }) => waits(server, 'needs a login'),
  },
  LOGIN_UNAVAILABLE: {
    next: () => `Call again in a minute; if that fails too, ${ANOTHER_TOOL}, and tell the user.`,
  },
  SPAWN_FAILED: {
    happened: (d) => `Server "${d.server}" could not be started: ${faultReason(d)}`,
    next: ({ server }) => waits(server, 'cannot be started'),
  },
  STARTUP_TIMEOUT: {
    next: ({ retryInMs }) =>
      `Call again ${retryInMs === undefined ? 'in a minute' : `in ${seconds(retryInMs)}`}; if that fails too, ${ANOTHER_TOOL}, and tell the user.`,
  },
  CONNECTION_LOST: { next: () => `Call again in a moment; if that fails too, ${ANOTHER_TOOL}, and tell the user.` },
  PROTOCOL_BROKEN: { next: ({ server }) => waits(server, 'does not work') },
  REQUIRED_NOT_READY: {
    happened: ({ missing }) =>
      missing.map(({ server, state }) => `Server "${server}" is required and not ready (${state}).`).join(' '),
    next: () => 'Try again in a moment; if that fails too, tell the user.',
  },
  SERVERS_NOT_READY: {
    happened: ({ missing }) =>
      missing.map(({ server, state }) => `Server "${server}" is not ready (${state}).`).join(' '),
    next: () => 'Try again in a moment; if that fails too, tell the user.',
  },
  RUNTIME_CLOSED: { next: () => 'No tool can be called any more: tell the user.' },
  CALL_ID_TAKEN: { next: () => 'Wait for the result of that call, then call again if it is still wanted.' },
  TOOL_UNKNOWN: {
    happened: ({ name, nearest, because, becauseForModel }) =>
      thereIsNo(`tool "${name}"`, { nearest, because: becauseForModel ?? because }),
    next: ({ searchWith }) =>
      searchWith
        ? `Look for what there is with ${searchWith}.`
        : 'Call one of the tools that you were given, by its name.',
  },
  RESOURCE_UNKNOWN: { next: () => 'See what there is with ListMcpResources, and give a uri as it stands there.' },
  RESOURCE_AMBIGUOUS: { next: ({ servers }) => `Call again with "server": one of ${servers.join(', ')}.` },
  PROMPT_UNKNOWN: { next: () => 'See what there is with ListMcpPrompts, and give a name as it stands there.' },
  NOT_OFFERED: { next: () => `Calling again does not help: ${ANOTHER_TOOL}.` },
  CURSOR_INVALID: {
    next: () => 'Ask without a cursor for the first page, then pass on the cursor of each answer unchanged.',
  },
  LIST_TOO_LONG: { next: () => 'Go on with what was listed until then.' },
  CALL_DENIED: { next: () => `${NOT_AGAIN} If the task needs it, tell the user.` },
  APPROVAL_REFUSED: { next: () => `${NOT_AGAIN} Tell the user what you wanted to do, and why; they decide.` },
  TOOL_DRIFTED: {
    happened: ({ server, tool, changes }) =>
      `The tool "${tool}" of server "${server}" differs from the one that was reviewed, and only that one may be called: ${changes.join('; ')}.`,
    next: ({ server }) => waits(server, 'has changed that tool, which waits for their review'),
  },
  LOCK_INVALID: {
    happened: () => 'The record of reviewed tools cannot be used.',
    next: () => userMust('repair it'),
  },
  ARGUMENTS_BAD: { next: () => 'Correct the arguments and call again.' },
  REQUEST_REFUSED: { next: () => 'Correct the call if it can be corrected; the same one is refused again.' },
  RATE_LIMITED: {
    next: ({ waitMs }) =>
      waitMs === undefined ? 'Call again later, not at once.' : `Call again in ${seconds(waitMs)}.`,
  },
  REQUEST_TIMEOUT: { next: () => 'Ask again later, or for less.' },
  ANSWER_BROKEN: { next: () => `Asking again gives the same: ${ANOTHER_TOOL}, or tell the user.` },
  CIRCUIT_OPEN: { next: ({ retryInMs }) => `Call again in ${seconds(retryInMs)}; until then ${ANOTHER_TOOL}.` },
  MESSAGE_TOO_LARGE: { next: () => `${CHECK_FIRST} Ask for less: fewer items, or one page at a time.` },
  RESULT_BROKEN: { next: () => CHECK_FIRST },
  CALL_TIMEOUT: { next: () => `${CHECK_FIRST} If it was not performed, ask for less at once.` },
  OUTCOME_UNKNOWN: { next: () => CHECK_FIRST },
  QUESTIONS_EXCEEDED: { next: () => CHECK_FIRST },
  CALL_CANCELLED: {
    next: ({ wasSent }) =>
      wasSent === false
        ? 'If it is still wanted, call again.'
        : 'If it is still wanted, check its effect and call again.',
  },
  GATEWAY_RUNNING: { happened: () => 'A gateway runs already.', next: () => userMust('end the gateway that runs') },
  GATEWAY_NEWER: { next: () => userMust('update Plexus') },
  GATEWAY_UNREACHABLE: { next: () => 'Call again in a moment; if that fails too, tell the user.' },
  SESSION_UNKNOWN: { next: () => 'Initialize a new session.' },
  CONVERSATION_UNKNOWN: { next: () => 'Start a new conversation.' },
  INTERNAL: { next: () => 'Try another way, and tell the user of this failure.' },
};

/** The two sentences for a model: what happened, and what the model can do next. */
export function modelSentencesOf<Code extends FailureCode>(
  failure: Pick<RuntimeError<Code>, 'code' | 'data'>,
): { readonly happened: string; readonly next: string } {
  const { happened, next }: ModelSentences<FailureData<Code>> = rows[failure.code];
  return { happened: happened?.(failure.data) ?? sentencesOf(failure).happened, next: next(failure.data) };
}

/** A model corrects no files and logs in nowhere: it asks the user to. */
export const modelRemedyOf = (remedy: Remedy): Remedy =>
  remedy === 'fix-config' || remedy === 'log-in' ? 'ask-user' : remedy;
