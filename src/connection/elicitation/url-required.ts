// Owns a call that was refused until a person has visited pages (-32042): each is shown, and then it is waited until the
// server says that it was dealt with. Sending the call again is left to `tool-call.ts`.

import type { Clock } from '../../kernel/clock.ts';
import { createDeferred, type Deferred } from '../../kernel/deferred.ts';
import { isObject } from '../../kernel/json.ts';
import { settleWithin } from '../../kernel/settle.ts';
import { limits } from '../../model/limits.ts';
import type { ServerName } from '../../model/names.ts';
import type { RequestTarget } from '../request-target.ts';
import type { ServerRequestRouter } from '../requests.ts';
import { invalidParams } from '../server-request-error.ts';
import { completed, type ElicitationOutcome } from './elicit.ts';
import { readElicitation, type UrlElicitation } from './request.ts';

export const URL_ELICITATION_REQUIRED = -32042;

interface RequiredPage {
  readonly page: UrlElicitation;
  readonly id: string;
}

interface VisitDeps {
  readonly router: ServerRequestRouter;
  readonly to: RequestTarget;
  readonly clock: Clock;
}

/** Resolves with why the call cannot go on, or with nothing. Rejects with what is wrong with the pages. */
export async function visitPages(data: unknown, { router, to, clock }: VisitDeps): Promise<string | undefined> {
  const visits = readVisits(router.server, data);
  return router.trackRequest(to, async ({ signal }) => {
    const dealtWith = visits.map(({ id }) => watch(router, id));
    try {
      for (const [at, { page }] of visits.entries()) {
        const elicited = await router.elicit(page, to, dealtWith[at]?.signal);
        if (elicited.action !== 'accept') return refusalOf(page, elicited);
        if (elicited.isDone) dealtWith[at]?.done.resolve();
      }
      // Not every server says when: after a while it is simply asked again, and may refuse again.
      const patience = { limitMs: limits.approvalMs, clock, signal };
      await settleWithin(
        dealtWith.map(({ done }) => done.promise),
        patience,
      );
      return undefined;
    } finally {
      for (const { stop } of dealtWith) stop();
    }
  });
}

interface CompletionWatch {
  readonly signal: AbortSignal;
  readonly done: Deferred<void>;
  readonly stop: () => void;
}

function watch(router: ServerRequestRouter, id: string): CompletionWatch {
  const question = new AbortController();
  const done = createDeferred<void>();
  const stop = router.completions.listen(id, () => {
    done.resolve();
    question.abort(completed);
  });
  return { signal: question.signal, done, stop };
}

function readVisits(server: ServerName, data: unknown): readonly RequiredPage[] {
  const { atOnce, idChars } = limits.pages;
  const given = isObject(data) ? data['elicitations'] : undefined;
  if (!Array.isArray(given) || given.length === 0 || given.length > atOnce)
    throw invalidParams(`it must name 1 to ${atOnce} pages`);
  return given.map((each: unknown) => {
    const { elicitationId: id, ...params } = isObject(each) ? each : {};
    const page = readElicitation(server, params);
    if (page.mode !== 'url') throw invalidParams('only pages to visit may be asked for in that way');
    if (typeof id !== 'string' || id === '' || id.length > idChars) throw invalidParams('elicitationId must be a text');
    return { page: { ...page, awaitsCompletion: true }, id };
  });
}

function refusalOf({ host }: UrlElicitation, { because }: ElicitationOutcome): string {
  const first = `a page of ${host} has to be visited first`;
  if (because === 'nobody')
    return `${first}, and nobody can be asked here: call it in a terminal, or in a host that asks`;
  if (because === 'policy') return `${first}, and the settings of the server decline that (elicitation = "decline")`;
  if (because === 'silence') return `${first}, and nobody answered in time`;
  return because === 'answered' ? `${first}, and that was declined` : `${first}, and that could not be asked`;
}
