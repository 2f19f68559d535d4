// Owns the elicitation that a host shows to a person, and the answer a host may give. The server's request is checked and
// cleaned before a host sees it.

import { cleanText } from '../../kernel/clean-text.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../model/limits.ts';
import type { ServerName } from '../../model/names.ts';
import { invalidParams } from '../server-request-error.ts';
import type { FormSchema } from './form.ts';
import { type PageUrl, readPageUrl } from './page-url.ts';
import { readForm, shorten } from './read-form.ts';
import { asksForSecret } from './secrets.ts';

/** A form to fill in. */
export interface FormElicitation {
  readonly mode: 'form';
  readonly server: ServerName;
  /** Plain text, without invisible characters and terminal sequences. */
  readonly message: string;
  /** Flat; only keywords that the protocol allows. */
  readonly requestedSchema: FormSchema;
  /** The form seems to ask for a password or another secret, which the protocol forbids: warn the person. */
  readonly asksForSecret: boolean;
}

/** A page to visit. Show its host and ask before you open it; Plexus opens nothing. */
export interface UrlElicitation extends PageUrl {
  readonly mode: 'url';
  readonly server: ServerName;
  readonly message: string;
  /** The call goes on only after the person has finished on the page; `isDone` in the answer says so. */
  readonly awaitsCompletion: boolean;
}

export type Elicitation = FormElicitation | UrlElicitation;

export type ElicitRequest = Elicitation & {
  /** Aborts when the answer is no longer needed: close the dialog. */
  readonly signal: AbortSignal;
};

export interface ElicitAnswer {
  /** `decline`: the person said no. `cancel`: the person dismissed the dialog without a choice. */
  readonly action: 'accept' | 'decline' | 'cancel';
  /** The values of an accepted form. Values that do not fit the form count as `decline`. */
  readonly content?: JsonObject;
  /** For an accepted page: the person has finished there, so the call goes on at once. */
  readonly isDone?: boolean;
}

/** Throws the error for the server if the protocol does not allow the request. */
export function readElicitation(server: ServerName, params: JsonObject): Elicitation {
  const { mode = 'form', message: text, requestedSchema: schema, url } = params;
  if (mode !== 'form' && mode !== 'url') throw invalidParams('mode must be form or url');
  if (typeof text !== 'string') throw invalidParams('message must be a text');
  const message = readMessage(text);
  if (mode === 'url') return { mode, server, message, ...readPageUrl(url), awaitsCompletion: false };
  const requestedSchema = readForm(schema);
  return { mode, server, message, requestedSchema, asksForSecret: asksForSecret(message, requestedSchema) };
}

/** Cut before cleaning as well, so that megabytes are not cleaned; cleaning only shortens. */
function readMessage(raw: string): string {
  const { messageChars } = limits.elicitation;
  return shorten(cleanText(raw.slice(0, messageChars * 4)).text, messageChars);
}
