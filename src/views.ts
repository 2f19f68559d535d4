// Owns all views of one runtime: makes them, and ends with the runtime what they have for themselves.

import { randomUUID } from 'node:crypto';
import { Taint } from './call/taint.ts';
import type { Connections } from './connection/connections.ts';
import type { InputHandlers } from './connection/requests.ts';
import type { Session } from './connection/session.ts';
import type { Fleet } from './fleet.ts';
import type { ServerName } from './model/names.ts';
import { createOwnLines, type OwnLines } from './own-lines.ts';
import type { Standing } from './standing.ts';
import { createView, narrower, type View, type ViewOptions, type ViewParts } from './view.ts';

export interface ViewsParts {
  readonly shared: Pick<ViewParts, 'offering' | 'presentFor' | 'perform'>;
  readonly fleet: Fleet;
  readonly standing: Standing;
  readonly createConnections: (id: string, inputs: InputHandlers) => Connections;
  readonly inputs: InputHandlers;
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

export function createViews({ shared, fleet, standing, createConnections, inputs }: ViewsParts): Views {
  const open = new Set<OwnLines>();
  let isClosed = false;
  const { turn, child } = createView({ ...shared, inputs });
  return {
    root: { turn, child },
    open({ tools, model, permissions, approve, perClient = false, ...handlers } = {}) {
      const own = { ...inputs, ...handlers };
      const isOwn = (server: ServerName) => perClient || standing.definition(server)?.settings.perClient === true;
      const lines = createOwnLines({ fleet, standing, connections: createConnections(randomUUID(), own), isOwn });
      if (isClosed) void lines.close();
      open.add(lines);
      const narrowing = tools === undefined ? [] : [tools];
      const rights = narrower({ taint: new Taint() }, { permissions, approve });
      const view = createView({ ...shared, inputs: own, model, narrowing, lines, rights });
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
