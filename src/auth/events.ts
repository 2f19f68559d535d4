// Owns the events about logins. None of them holds a token.

import type { FailureCode, Remedy } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';

/** `account` says which of several logins of a server it is about; absent for the one without a name. */
export type AuthEvent =
  /** A server cannot be used before a person logs in; `command` is what they type. */
  | {
      readonly type: 'auth.required';
      readonly server: ServerName;
      readonly account?: string;
      /** Absent: there is no login yet. */
      readonly why?: 'refused' | 'interrupted' | 'expired' | 'scopes';
      readonly scopes?: readonly string[];
      readonly command: string;
    }
  /** A person or a machine has logged in, in this process. */
  | {
      readonly type: 'login.completed';
      readonly server: ServerName;
      readonly account?: string;
      readonly issuer: string;
      readonly scopes: readonly string[];
    }
  /** A login that was begun in this process did not succeed; an older one stays as it was. */
  | {
      readonly type: 'login.failed';
      readonly server: ServerName;
      readonly account?: string;
      readonly error: { readonly code: FailureCode; readonly message: string; readonly remedy: Remedy };
    }
  /** Tokens were exchanged for new ones before they expired, or after the server refused them. */
  | {
      readonly type: 'token.refreshed';
      readonly server: ServerName;
      readonly account?: string;
      readonly expiresAt?: number;
    };
