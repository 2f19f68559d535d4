// Owns the pages that a person must visit before a refused call (-32042) can go on: shows each, then waits until the server
// reports it as complete. `tool-call.ts` sends the call again.

import type { Clock } from '../../kernel/clock.ts';
import { createDeferred, type Deferred } from '../../kernel/deferred.ts';
import { isObject } from '../../kernel/json.ts';
import { settleWithin } from '../../kernel/settle.ts';
import { limits } from '../../model/limits.ts';
import type { ServerName } from '../../model/names.ts';
import type { RequestTarget } from '../request-target.ts';
import type { CallInFlight, ServerRequestRouter } from '../requests.ts';
import { invalidParams } from '../server-request-error.ts';
import { completed, type ElicitationOutcome } from './elicit.ts';
import { readElicitation, type UrlElicitation } from './request.ts';

export const URL_ELICITATION_REQUIRED = -32042;

/** The end of an error message, which a model reads: a call that needs a person's answer is not for it to repeat. */
export const NOBODY_TO_ASK =
  'nobody can be asked here: tell the user, who can make the call in a terminal or in a host that shows questions';

interface RequiredPage {
  readonly page: UrlElicitation;
  readonly id: string;
}

interface VisitDeps {
  readonly router: ServerRequestRouter;
  readonly call: CallInFlight;
  readonly target: RequestTarget;
  readonly clock: Clock;
}

/** Resolves with why the call cannot go on, or with undefined. Rejects if the server's list of pages is not allowed. */
export async function visitPages(
  data: unknown,
  { router, call, target, clock }: VisitDeps,
): Promise<string | undefined> {
  const pages = readRequiredPages(router.server, data);
  const visit = async ({ signal }: AbortController) => {
    const watches = pages.map(({ id }) => watchCompletion(router, id));
    try {
      for (const [at, { page }] of pages.entries()) {
        router.questions.admit([call]);
        const outcome = await router.elicit(page, target, watches[at]?.signal);
        if (outcome.action !== 'accept') return refusalOf(page, outcome);
        if (outcome.isDone) watches[at]?.done.resolve();
      }
      // Not every server reports completion: after the limit the call is sent again, and the server may refuse it again.
      await settleWithin(
        watches.map(({ done }) => done.promise),
        { limitMs: limits.approvalMs, clock, signal },
      );
      return undefined;
    } finally {
      for (const { stop } of watches) stop();
    }
  };
  return router.trackRequest(target, visit, { isForPerson: true });
}

interface CompletionWatch {
  readonly signal: AbortSignal;
  readonly done: Deferred<void>;
  readonly stop: () => void;
}

/** Withdraws the elicitation as soon as the server reports its page as complete. */
function watchCompletion(router: ServerRequestRouter, id: string): CompletionWatch {
  const controller = new AbortController();
  const done = createDeferred<void>();
  const stop = router.completions.listen(id, () => {
    done.resolve();
    controller.abort(completed);
  });
  return { signal: controller.signal, done, stop };
}

function readRequiredPages(server: ServerName, data: unknown): readonly RequiredPage[] {
  const { atOnce, idChars } = limits.pages;
  const elicitations = isObject(data) ? data['elicitations'] : undefined;
  if (!Array.isArray(elicitations) || elicitations.length === 0 || elicitations.length > atOnce)
    throw invalidParams(`it must name 1 to ${atOnce} pages`);
  return elicitations.map((each: unknown) => {
    const { elicitationId: id, ...params } = isObject(each) ? each : {};
    const page = readElicitation(server, params);
    if (page.mode !== 'url') throw invalidParams('only pages to visit may be asked for in that way');
    if (typeof id !== 'string' || id === '' || id.length > idChars) throw invalidParams('elicitationId must be a text');
    return { page: { ...page, awaitsCompletion: true }, id };
  });
}

function refusalOf({ host }: UrlElicitation, { because }: ElicitationOutcome): string {
  const first = `a page of ${host} has to be visited first`;
  if (because === 'nobody') return `${first}, and ${NOBODY_TO_ASK}`;
  if (because === 'policy') return `${first}, and the settings of the server decline that (elicitation = "decline")`;
  if (because === 'silence') return `${first}, and nobody answered in time`;
  return because === 'answered' ? `${first}, and that was declined` : `${first}, and it could not be shown`;
}
