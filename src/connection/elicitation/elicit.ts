// Owns putting one question to a person: whether that may be, who is asked, what an answer must be to count, and telling of
// it. Never rejects: whatever goes wrong is a no, or neither yes nor no.

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
  /** Aborting it takes the question back. */
  readonly question: AbortController;
}

export interface ElicitationOutcome {
  readonly action: ElicitAnswer['action'];
  readonly because: ElicitationEnd;
  readonly content?: JsonObject;
  readonly isDone?: true;
}

/** Why a question is taken back whose page has been dealt with: that is as good as a yes. */
export const completed = new DOMException('the page has been dealt with', 'AbortError');

let lastQuestion = 0;

export async function elicit(asked: Elicitation, eliciting: ElicitDeps): Promise<ElicitationOutcome> {
  const { handlers } = eliciting;
  const { server, mode, message } = asked;
  const who = { server, questionId: `question-${++lastQuestion}`, mode };
  handlers.emit?.({
    type: 'elicitation.requested',
    ...who,
    message,
    ...(asked.mode === 'url' && { host: asked.host }),
  });
  const elicited = await decide(asked, eliciting);
  const { action, because } = elicited;
  handlers.emit?.({ type: 'elicitation.settled', ...who, action, because });
  return elicited;
}

async function decide(
  asked: Elicitation,
  { handlers, policy, clock, question }: ElicitDeps,
): Promise<ElicitationOutcome> {
  if (policy === 'decline') return { action: 'decline', because: 'policy' };
  const { elicit: ask, onError } = handlers;
  if (ask === undefined) return { action: 'decline', because: 'nobody' };
  const reply = await callHandler((signal) => ask({ ...asked, signal }), question, clock);
  const told = onError ?? unheard;
  try {
    return judge(asked, reply, { reason: question.signal.reason, onError: told });
  } catch (error) {
    // An answer that cannot be read: what it throws is for the host alone.
    told(error);
    return { action: 'cancel', because: 'failed' };
  }
}

const unheard = (): void => undefined;

interface ReplyContext {
  readonly reason: unknown;
  readonly onError: (error: unknown) => void;
}

function judge(
  asked: Elicitation,
  reply: HandlerReply<ElicitAnswer>,
  { reason, onError }: ReplyContext,
): ElicitationOutcome {
  switch (reply.kind) {
    case 'silent':
      return { action: 'cancel', because: 'silence' };
    case 'withdrawn':
      return reason === completed
        ? { action: 'accept', because: 'completed', isDone: true }
        : { action: 'cancel', because: 'withdrawn' };
    case 'failed':
      onError(reply.error);
      return { action: 'cancel', because: 'failed' };
    case 'answered':
      return judgeAnswer(asked, reply.value, onError);
  }
}

/** Nobody is asked twice: what is wrong is the host's form, which would be as wrong again, and a person could not mend it. */
function judgeAnswer(asked: Elicitation, answer: unknown, onError: ReplyContext['onError']): ElicitationOutcome {
  const { action, content, isDone } = (answer ?? {}) as Partial<Record<keyof ElicitAnswer, unknown>>;
  if (action === 'decline' || action === 'cancel') return { action, because: 'answered' };
  if (action !== 'accept') return badAnswer('elicit must answer accept, decline or cancel', onError);
  if (asked.mode === 'url') return { action, because: 'answered', ...(isDone === true && { isDone }) };
  const filled = fillForm(asked.requestedSchema, content);
  if (filled.ok) return { action, because: 'answered', content: filled.content };
  const where = filled.fields.length > 0 ? ` in ${filled.fields.map((name) => `"${name}"`).join(', ')}` : '';
  return badAnswer(`the answer to server "${asked.server}" does not fit its form${where}`, onError);
}

function badAnswer(problem: string, onError: ReplyContext['onError']): ElicitationOutcome {
  onError(new TypeError(problem));
  return { action: 'decline', because: 'bad-answer' };
}
