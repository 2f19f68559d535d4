// Owns the events that connections emit.

import type { FailureCode, Remedy } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { ElicitationEvent } from './elicitation/events.ts';
import type { ConnectionState } from './state.ts';
import type { FineState } from './status.ts';

export type ConnectionEvent =
  | ElicitationEvent
  | {
      readonly type: 'connection.changed';
      readonly server: ServerName;
      /** `mcp:<server> via <provider>`: where the server comes from. */
      readonly label: string;
      readonly from: ConnectionState['kind'];
      readonly to: ConnectionState['kind'];
      readonly cause?: { readonly code: FailureCode; readonly message: string; readonly remedy: Remedy };
    }
  | {
      readonly type: 'startup.completed';
      readonly ready: readonly ServerName[];
      readonly notReady: readonly NotReady[];
      /** Servers whose tools are cached from an earlier start: they are usable now and connect in the background. */
      readonly known: readonly ServerName[];
      /** All of this as one line of text. */
      readonly line: string;
    }
  /** A runner such as npx has not answered for a while: it is installing the server. */
  | { readonly type: 'connection.install-awaited'; readonly server: ServerName; readonly installer: string }
  /** A line on a server's stdout that is not an MCP message: harmless, but useful when a server misbehaves. */
  | { readonly type: 'connection.noise-received'; readonly server: ServerName; readonly line: string }
  /** A log message that the server sent as a notification. Messages that come too fast are dropped and counted. */
  | {
      readonly type: 'connection.log-received';
      readonly server: ServerName;
      readonly level: string;
      readonly logger?: string;
      /** The message's data, cut to a length: a string as it is, anything else as JSON. */
      readonly text: string;
      /** How many messages were dropped since the last reported one, because they came too fast. */
      readonly leftOut?: number;
    };

/** A server that is not up, its state, and why. */
export interface NotReady {
  readonly server: ServerName;
  readonly state: FineState;
  readonly message?: string;
}
