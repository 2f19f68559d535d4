// Owns the queue of calls to a server with `parallel = false`: one after the other, in the order in which they came.
// A queued call uses no timeout; cancelling it sends nothing.

import type { ServerName } from '../model/names.ts';
import type { ToolOutcome } from '../model/tool.ts';
import type { ServerRegistry } from '../servers/registry.ts';
import type { Recheck } from './authorize/recheck.ts';
import { type Perform, type Stage, type ToolCall, toolOf } from './pipeline.ts';

/** A call that hangs delays the others until its own timeout, and no longer. */
export function serialize(
  registry: Pick<ServerRegistry, 'settings'>,
  { recheckPermission }: Pick<Recheck, 'recheckPermission'>,
): Stage {
  /** The queue of each busy server. */
  const queues = new Map<ServerName, Set<() => void>>();
  const isSerial = (server: ServerName) => registry.settings(server)?.parallel === false;

  const waitForTurn = async (call: ToolCall, queue: Set<() => void>): Promise<void> => {
    let enter: (() => void) | undefined;
    const turn = new Promise<void>((resolve) => {
      enter = resolve;
      queue.add(resolve);
    });
    try {
      await call.cancellation.race(turn);
    } catch (error) {
      // Cancelled at the very moment when its turn came: let the next call start.
      if (enter && !queue.delete(enter)) startNext(toolOf(call).id.server, queue);
      throw error;
    }
  };

  const startNext = (server: ServerName, queue: Set<() => void>): void => {
    const [next] = queue;
    if (next === undefined) queues.delete(server);
    else {
      queue.delete(next);
      next();
    }
  };

  const inTurn = async (call: ToolCall, next: Perform): Promise<ToolOutcome> => {
    const { server } = toolOf(call).id;
    const busy = queues.get(server);
    const queue = busy ?? new Set();
    if (busy) await waitForTurn(call, busy);
    else queues.set(server, queue);
    try {
      // A call that is bound to a definition is rechecked in `invoke`, once the server has listed its tools: it may be restarting now.
      if (busy && !call.builtin && call.permit?.toolHash === undefined) recheckPermission(call);
      return await next(call);
    } finally {
      startNext(server, queue);
    }
  };

  return (next) => (call) => (isSerial(toolOf(call).id.server) ? inTurn(call, next) : next(call));
}
