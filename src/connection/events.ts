// Owns what the life of connections reports to the outside.

import type { FailureCode, Remedy } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { ConnectionState } from './state.ts';
import type { FineState } from './status.ts';

export type ConnectionEvent =
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
    }
  /** A line on a server's stdout that is not MCP: harmless, but worth knowing when a server misbehaves. */
  | { readonly type: 'connection.noise-received'; readonly server: ServerName; readonly line: string };

/** Who is not up, in which fine word, and why. */
export interface NotReady {
  readonly server: ServerName;
  readonly state: FineState;
  readonly message?: string;
}
