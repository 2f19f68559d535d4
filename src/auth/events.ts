// Owns the events about logins. None of them holds a token.

import type { FailureCode, Remedy } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';

interface OfLogin {
  readonly server: ServerName;
  /** Which of several logins; absent for the one without a name. */
  readonly account?: string;
}

export type AuthEvent =
  /** A server cannot be used before a person logs in; `command` is what they type. */
  | (OfLogin & {
      readonly type: 'auth.required';
      /** Absent: there is no login yet. */
      readonly why?: 'refused' | 'interrupted' | 'expired' | 'scopes';
      readonly scopes?: readonly string[];
      readonly command: string;
    })
  /** A person or a machine has logged in, in this process. */
  | (OfLogin & { readonly type: 'login.completed'; readonly issuer: string; readonly scopes: readonly string[] })
  /** A login that was begun in this process did not succeed; an older one stays as it was. */
  | (OfLogin & {
      readonly type: 'login.failed';
      readonly error: { readonly code: FailureCode; readonly message: string; readonly remedy: Remedy };
    })
  /** Tokens were exchanged for new ones before they expired, or after the server refused them. */
  | (OfLogin & { readonly type: 'token.refreshed'; readonly expiresAt?: number });
