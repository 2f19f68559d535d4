// Owns one elicitation: whether the policy and the handlers allow it, what counts as an answer, and its two events.
// Never rejects: every failure is a `decline` or a `cancel`.

import type { Clock } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { callHandler, type HandlerReply } from '../call-handler.ts';
import type { ElicitationPolicy, ViewHandlers } from '../client-handlers.ts';
import type { ElicitationEnd } from './events.ts';
import { fillForm } from './form.ts';
import type { ElicitAnswer, Elicitation } from './request.ts';

export interface ElicitDeps {
  readonly handlers: ViewHandlers;
  readonly policy: ElicitationPolicy;
  readonly clock: Pick<Clock, 'after'>;
  /** Aborting it withdraws the elicitation. */
  readonly controller: AbortController;
}

export interface ElicitationOutcome {
  readonly action: ElicitAnswer['action'];
  readonly because: ElicitationEnd;
  readonly content?: JsonObject;
  readonly isDone?: true;
}

/** The abort reason of an elicitation whose page the server reported as complete: counts as accepted. */
export const completed = new DOMException('the server reported the page as complete', 'AbortError');

let lastQuestion = 0;

export async function elicit(elicitation: Elicitation, deps: ElicitDeps): Promise<ElicitationOutcome> {
  const { handlers } = deps;
  const { server, mode, message } = elicitation;
  const identity = { server, questionId: `question-${++lastQuestion}`, mode };
  handlers.emit?.({
    type: 'elicitation.requested',
    ...identity,
    message,
    ...(elicitation.mode === 'url' && { host: elicitation.host }),
  });
  const outcome = await decide(elicitation, deps);
  const { action, because } = outcome;
  handlers.emit?.({ type: 'elicitation.settled', ...identity, action, because });
  return outcome;
}

async function decide(
  elicitation: Elicitation,
  { handlers, policy, clock, controller }: ElicitDeps,
): Promise<ElicitationOutcome> {
  if (policy === 'decline') return { action: 'decline', because: 'policy' };
  const { elicit: handler, onError = ignore } = handlers;
  if (handler === undefined) return { action: 'decline', because: 'nobody' };
  const reply = await callHandler((signal) => handler({ ...elicitation, signal }), controller, clock);
  try {
    return outcomeOf(elicitation, reply, { reason: controller.signal.reason, onError });
  } catch (error) {
    // The answer is an object whose properties throw: only the host learns of the error.
    onError(error);
    return { action: 'cancel', because: 'failed' };
  }
}

const ignore = (): void => undefined;

interface ReplyContext {
  /** Why the elicitation was aborted, if it was. */
  readonly reason: unknown;
  readonly onError: (error: unknown) => void;
}

function outcomeOf(
  elicitation: Elicitation,
  reply: HandlerReply<ElicitAnswer>,
  { reason, onError }: ReplyContext,
): ElicitationOutcome {
  switch (reply.kind) {
    case 'timed-out':
      return { action: 'cancel', because: 'silence' };
    case 'withdrawn':
      return reason === completed
        ? { action: 'accept', because: 'completed', isDone: true }
        : { action: 'cancel', because: 'withdrawn' };
    case 'failed':
      onError(reply.error);
      return { action: 'cancel', because: 'failed' };
    case 'answered':
      return checkAnswer(elicitation, reply.value, onError);
  }
}

/** A wrong answer is declined, and the person is not asked again: the host's form is at fault and would fail the same way. */
function checkAnswer(elicitation: Elicitation, answer: unknown, onError: ReplyContext['onError']): ElicitationOutcome {
  const { action, content, isDone } = (answer ?? {}) as Partial<Record<keyof ElicitAnswer, unknown>>;
  if (action === 'decline' || action === 'cancel') return { action, because: 'answered' };
  if (action !== 'accept') return badAnswer('elicit must answer accept, decline or cancel', onError);
  if (elicitation.mode === 'url') return { action, because: 'answered', ...(isDone === true && { isDone }) };
  const filled = fillForm(elicitation.requestedSchema, content);
  if (filled.ok) return { action, because: 'answered', content: filled.content };
  const where = filled.fields.length > 0 ? ` in ${filled.fields.map((name) => `"${name}"`).join(', ')}` : '';
  return badAnswer(`the answer to server "${elicitation.server}" does not fit its form${where}`, onError);
}

function badAnswer(problem: string, onError: ReplyContext['onError']): ElicitationOutcome {
  onError(new TypeError(problem));
  return { action: 'decline', because: 'bad-answer' };
}
