// Owns why a server is not ready, in words: what happened, and what to do or when Plexus tries again. Every state but `ready` has
// such a sentence, and the compiler asks for it.

import { type RuntimeError, seconds } from '../model/errors.ts';
import type { ServerDefinition } from '../model/server.ts';
import type { Connection } from './connection.ts';
import type { ConnectionState } from './state.ts';

/** At least two words: the compiler refuses an empty text, and a text that might be one. */
export type Sentence = `${string} ${string}`;

/** The facts of a connection that a status tells. */
export type ConnectionFacts = Pick<Connection, 'state' | 'session' | 'since' | 'lastFailure' | 'draining' | 'restarts'>;

interface ReasonDeps {
  readonly definition: ServerDefinition;
  readonly connection: ConnectionFacts;
  /** The runner, such as npx, that has not started the server yet. */
  readonly installer?: string | undefined;
  /** The start waits for a person: for an approval, or for the answer to an input. */
  readonly isPersonAsked?: boolean | undefined;
  readonly now: number;
}

/** Why a server with a connection is not ready. */
export function reasonOf({ definition, connection, installer, isPersonAsked, now }: ReasonDeps): Sentence {
  const { state } = connection;
  const again: Sentence = `reconnect(${JSON.stringify(definition.name)}) starts it`;
  switch (state.kind) {
    case 'idle':
      return definition.settings.lifecycle === 'manual'
        ? `It is started by hand only (lifecycle = "manual"): ${again}.`
        : 'It is not running now. The next call starts it.';
    case 'connecting':
      if (connection.draining > 0)
        return `Its entry or its approval changed: it restarts when its calls in flight have ended (${connection.draining}).`;
      if (isPersonAsked) return 'It waits for an answer: a person is asked to approve it, or for one of its inputs.';
      return installer === undefined ? attemptReason(definition, connection, state) : installingReason(installer);
    case 'ready':
      return 'It is up, and has not listed its tools yet.';
    case 'waiting':
      return `${state.cause.message} Plexus tries again ${soon(state.retryAt - now)}.`;
    case 'blocked':
      return failureReason(state.cause);
    case 'failed':
      return `${state.cause.message} Plexus gave up after ${attempts(state.attempt)}${
        state.retryAt === undefined ? `; ${again} anew` : ` and tries again ${soon(state.retryAt - now)}`
      }.`;
    case 'closed':
      return `It was disconnected. ${again} again.`;
  }
}

/** The message of a failure says both, what happened and what to do. */
export function failureReason({ message, code }: Pick<RuntimeError, 'message' | 'code'>): Sentence {
  return isSentence(message) ? message : `It failed with ${code}.`;
}

export const disabledReason: Sentence = 'It is disabled in its configuration: enabled = true there starts it.';

const isSentence = (text: string): text is Sentence => /\S \S/.test(text);

const installingReason = (installer: string): Sentence => `${installer} is still installing it`;

/** While a further attempt is under way, the failure of the one before is all that is known. */
function attemptReason(
  { launch, settings: { startupTimeoutMs } }: ServerDefinition,
  { lastFailure }: ConnectionFacts,
  { attempt, hurried }: Extract<ConnectionState, { kind: 'connecting' }>,
): Sentence {
  if (lastFailure && (attempt > 1 || hurried))
    return `${lastFailure.cause.message} Plexus is trying again (attempt ${attempt}).`;
  const isLocal = launch.kind === 'stdio' || launch.kind === 'in-process';
  const limit = startupTimeoutMs === 0 ? '' : ` It may take ${seconds(startupTimeoutMs)} (startup_timeout_sec).`;
  return `It is being ${isLocal ? 'started' : 'connected'} and has not answered yet.${limit}`;
}

const attempts = (count: number) => (count === 1 ? 'one attempt' : `${count} attempts`);

const soon = (ms: number) => (ms <= 0 ? 'now' : `in ${seconds(ms)}`);
