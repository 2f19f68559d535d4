// Owns what the outside hears of a server's questions to a person: requested and settled, always both. What was answered
// is never told.

import type { ServerName } from '../../model/names.ts';

/** Why a question ended as it did. */
export type ElicitationEnd =
  /** By whoever was asked. */
  | 'answered'
  /** There is no handler. */
  | 'nobody'
  /** The settings of the server say so. */
  | 'policy'
  /** Nobody answered in time. */
  | 'silence'
  /** The handler threw. */
  | 'failed'
  /** The handler's answer was none, or did not fit the form. */
  | 'bad-answer'
  /** The call or the session ended, or the server took it back. */
  | 'withdrawn'
  /** The server said that the page has been dealt with. */
  | 'completed';

interface ElicitationIdentity {
  readonly server: ServerName;
  readonly questionId: string;
  readonly mode: 'form' | 'url';
}

export type ElicitationEvent =
  | (ElicitationIdentity & {
      readonly type: 'elicitation.requested';
      /** Cleaned and bounded. */
      readonly message: string;
      /** Where the page is. Its address may hold secrets, and stays out. */
      readonly host?: string;
    })
  | (ElicitationIdentity & {
      readonly type: 'elicitation.settled';
      readonly action: 'accept' | 'decline' | 'cancel';
      readonly because: ElicitationEnd;
    });
