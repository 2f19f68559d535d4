// Owns what the life of connections reports to the outside.

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
      /** Whose tools are known from an earlier start: they come up now, and nobody need wait for them. */
      readonly known: readonly ServerName[];
      /** The same in one line. */
      readonly line: string;
    }
  /** A line on a server's stdout that is not MCP: harmless, but worth knowing when a server misbehaves. */
  | { readonly type: 'connection.noise-received'; readonly server: ServerName; readonly line: string }
  /** A message of the server's own log, by the protocol; what comes too fast is only counted. */
  | {
      readonly type: 'connection.log-received';
      readonly server: ServerName;
      readonly level: string;
      readonly logger?: string;
      /** Its data: as it is where that is a text, otherwise as JSON; bounded. */
      readonly text: string;
      /** How many came too fast since the last one that was told. */
      readonly leftOut?: number;
    };

/** Who is not up, in which fine word, and why. */
export interface NotReady {
  readonly server: ServerName;
  readonly state: FineState;
  readonly message?: string;
}
