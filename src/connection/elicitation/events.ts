// Owns the two events of an elicitation: `requested` and `settled`, always both. Neither contains the person's answer.

import type { ServerName } from '../../model/names.ts';

/** Why an elicitation ended as it did. */
export type ElicitationEnd =
  /** The handler answered. */
  | 'answered'
  /** No handler is set. */
  | 'nobody'
  /** The server's settings decline elicitations. */
  | 'policy'
  /** The handler did not answer in time. */
  | 'silence'
  /** The handler threw. */
  | 'failed'
  /** The handler's answer was invalid, or did not fit the form. */
  | 'bad-answer'
  /** The call or the session ended, or the server cancelled the request. */
  | 'withdrawn'
  /** The server reported the page as complete. */
  | 'completed';

export interface ElicitationIdentity {
  readonly server: ServerName;
  readonly questionId: string;
  readonly mode: 'form' | 'url';
}

export type ElicitationEvent =
  /** A server asks the person something during a call. */
  | (ElicitationIdentity & {
      readonly type: 'elicitation.requested';
      /** Without invisible characters, and cut to a length. */
      readonly message: string;
      /** The host of the page. Its full address may hold secrets and is left out. */
      readonly host?: string;
    })
  /** The question has an answer, or ended without one. Every `elicitation.requested` has one. */
  | (ElicitationIdentity & {
      readonly type: 'elicitation.settled';
      readonly action: 'accept' | 'decline' | 'cancel';
      readonly because: ElicitationEnd;
    });
