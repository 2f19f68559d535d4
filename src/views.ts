// Owns all views of one runtime: makes them, and ends with the runtime what they have for themselves.

import { randomUUID } from 'node:crypto';
import { Taint } from './call/taint.ts';
import type { Connections } from './connection/connections.ts';
import type { ClientHandlers } from './connection/requests.ts';
import type { Session } from './connection/session.ts';
import type { Fleet } from './fleet.ts';
import type { ServerName } from './model/names.ts';
import { createOwnLines, type OwnLines } from './own-lines.ts';
import type { Standing } from './standing.ts';
import { createView, narrower, type View, type ViewDeps, type ViewOptions } from './view.ts';

export interface ViewsDeps {
  readonly shared: Pick<ViewDeps, 'offering' | 'presentFor' | 'perform'>;
  readonly fleet: Fleet;
  readonly standing: Standing;
  readonly createConnections: (id: string, handlers: ClientHandlers) => Connections;
  readonly handlers: ClientHandlers;
}

export interface Views {
  readonly root: Omit<View, 'close'>;
  open(options?: ViewOptions): View;
  /** The sessions that views have for themselves. */
  sessions(): readonly Session[];
  /** After a change of the configuration. */
  follow(): Promise<void>;
  close(): Promise<void>;
}

export function createViews({ shared, fleet, standing, createConnections, handlers }: ViewsDeps): Views {
  const open = new Set<OwnLines>();
  let isClosed = false;
  const { turn, child } = createView({ ...shared, handlers });
  return {
    root: { turn, child },
    open({ tools, model, permissions, approve, perClient = false, ...handlers } = {}) {
      const own = { ...handlers, ...handlers };
      const isOwn = (server: ServerName) => perClient || standing.definition(server)?.settings.perClient === true;
      const lines = createOwnLines({ fleet, standing, connections: createConnections(randomUUID(), own), isOwn });
      if (isClosed) void lines.close();
      open.add(lines);
      const narrowing = tools === undefined ? [] : [tools];
      const rights = narrower({ taint: new Taint() }, { permissions, approve });
      const view = createView({ ...shared, handlers: own, model, narrowing, lines, rights });
      return { ...view, close: () => view.close().finally(() => open.delete(lines)) };
    },
    sessions: () => [...open].flatMap((lines) => lines.sessions()),
    follow: async () => {
      await Promise.all([...open].map((lines) => lines.follow()));
    },
    close: async () => {
      isClosed = true;
      await Promise.all([...open].map((lines) => lines.close()));
    },
  };
}
