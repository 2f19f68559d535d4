// Owns how a call reaches its server: a port, so that a view may have lines of its own.

import type { Session } from '../connection/session.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { ServerName } from '../model/names.ts';
import type { Tool } from '../model/tool.ts';

export interface Lines {
  open(server: ServerName): Session | undefined;
  whenReady(server: ServerName): Promise<Session>;
  /** The session that comes after this one, which was lost. */
  whenReplaced(server: ServerName, lost: Session): Promise<Session>;
  /** Its list of tools is the one of its present session, or does not come soon. */
  whenListed(server: ServerName): Promise<void>;
  /** Whether doing it twice does no harm, on the word of somebody who is believed. */
  isRepeatable(tool: Tool): boolean;
  /** What the server asked to be told with every call. */
  metaFor(session: Session): JsonObject | undefined;
  maxMessageBytes(server: ServerName): number;
}
