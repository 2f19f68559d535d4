// Owns what a person is asked on behalf of a server, and what a host may answer. A question is checked and cleaned before
// anybody sees it.

import { cleanText } from '../../kernel/clean-text.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../model/limits.ts';
import type { ServerName } from '../../model/names.ts';
import { invalidParams } from '../server-request-error.ts';
import type { FormSchema } from './form.ts';
import { type PageUrl, readPageUrl } from './page-url.ts';
import { readForm } from './read-form.ts';
import { asksForSecret } from './secrets.ts';

/** Fields to fill in. */
export interface FormElicitation {
  readonly mode: 'form';
  readonly server: ServerName;
  /** Plain text, without anything that a reader cannot see or that drives a terminal. */
  readonly message: string;
  /** Flat; only what the protocol allows. */
  readonly requestedSchema: FormSchema;
  /** It seems to ask for a password or the like, which servers must not do in a form: warn. */
  readonly asksForSecret: boolean;
}

/** A page to visit. Show where it leads and ask before it is opened; Plexus opens nothing. */
export interface UrlElicitation extends PageUrl {
  readonly mode: 'url';
  readonly server: ServerName;
  readonly message: string;
  /** The call goes on only when the page has been dealt with: an answer with `isDone` says that it has. */
  readonly awaitsCompletion: boolean;
}

export type Elicitation = FormElicitation | UrlElicitation;

export type ElicitRequest = Elicitation & {
  /** Aborts when nobody waits for the answer any more: take the question away. */
  readonly signal: AbortSignal;
};

export interface ElicitAnswer {
  /** `decline`: the person said no. `cancel`: the person said neither yes nor no. */
  readonly action: 'accept' | 'decline' | 'cancel';
  /** Of an accepted form. It is checked: what does not fit is declined. */
  readonly content?: JsonObject;
  /** Of an accepted page: it has been dealt with, so that nothing is waited for. */
  readonly isDone?: boolean;
}

/** Throws what the server is told where it is not a question that the protocol allows. */
export function readElicitation(server: ServerName, params: JsonObject): Elicitation {
  const { mode = 'form', message: given, requestedSchema: schema, url } = params;
  if (mode !== 'form' && mode !== 'url') throw invalidParams('mode must be form or url');
  if (typeof given !== 'string') throw invalidParams('message must be a text');
  const message = readMessage(given);
  if (mode === 'url') return { mode, server, message, ...readPageUrl(url), awaitsCompletion: false };
  const requestedSchema = readForm(schema);
  return { mode, server, message, requestedSchema, asksForSecret: asksForSecret(message, requestedSchema) };
}

/** Cut before it is cleaned as well: nobody reads megabytes, and cleaning only shortens. */
function readMessage(given: string): string {
  const { messageChars } = limits.elicitation;
  const { text } = cleanText(given.slice(0, messageChars * 4));
  return text.length <= messageChars ? text : `${text.slice(0, messageChars).replace(/[\ud800-\udbff]$/, '')}…`;
}
