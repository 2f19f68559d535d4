// Owns the events that connections emit.

import type { FailureCode, Remedy } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { ElicitationEvent } from './elicitation/events.ts';
import type { ServerInfo } from './session.ts';
import type { ConnectionState } from './state.ts';
import type { NotReadyState } from './status.ts';
import type { Sentence } from './status-reason.ts';

export type ConnectionEvent =
  | ElicitationEvent
  /** A connection went from one state to another. */
  | {
      readonly type: 'connection.changed';
      readonly server: ServerName;
      /** `mcp:<server> via <provider>`: where the server comes from. */
      readonly label: string;
      readonly from: ConnectionState['kind'];
      readonly to: ConnectionState['kind'];
      readonly cause?: { readonly code: FailureCode; readonly message: string; readonly remedy: Remedy };
    }
  /** The start has waited long enough for its servers; comes once, before `createRuntime()` returns. */
  | {
      readonly type: 'startup.completed';
      readonly ready: readonly ServerName[];
      readonly notReady: readonly NotReady[];
      /** Servers that are not up yet, and whose tools are cached from an earlier start: they are usable now. */
      readonly known: readonly ServerName[];
      /** All of this as one line of text. */
      readonly line: string;
    }
  /** The first list of a session has come, or has failed: from now on the server's status is `connected`. */
  | {
      readonly type: 'connection.listed';
      readonly server: ServerName;
      readonly toolCount: number;
      /** The name and version that the server gave itself. */
      readonly serverInfo?: ServerInfo;
    }
  /** A server announced that a list of it has changed; it is fetched again a moment later. */
  | {
      readonly type: 'connection.list-announced';
      readonly server: ServerName;
      readonly list: 'tools' | 'resources' | 'prompts';
    }
  /** A server restarts because its entry or its approval changed: so many calls are in flight, and may finish on the former session. */
  | { readonly type: 'connection.drain-started'; readonly server: ServerName; readonly calls: number }
  /** The former session has ended; so many of its calls were cut. */
  | {
      readonly type: 'connection.drained';
      readonly server: ServerName;
      readonly calls: number;
      readonly cut: number;
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
  readonly state: NotReadyState;
  /** The cause, and what to do about it or when Plexus tries again. */
  readonly message: Sentence;
}
