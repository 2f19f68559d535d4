// Owns the order of calls to a server that does one thing at a time: one after the other, as they came.
// Who waits has not begun: its time does not run yet, and calling it off costs nobody anything.

import type { ServerName } from '../model/names.ts';
import type { ToolOutcome } from '../model/tool.ts';
import { type Perform, type Stage, type ToolCall, toolOf } from './pipeline.ts';

export interface LaneDeps {
  /** By its entry as it is now. */
  readonly isSerial: (server: ServerName) => boolean;
  /** What was judged before the wait may have changed during it. */
  readonly requireStill: (call: ToolCall) => void;
}

/** A call that is stuck holds the others up until its own limit, and no longer. */
export function serialize({ isSerial, requireStill }: LaneDeps): Stage {
  /** Only servers that are busy are here. */
  const lanes = new Map<ServerName, Set<() => void>>();

  const turnOf = async (call: ToolCall, line: Set<() => void>): Promise<void> => {
    let enter: (() => void) | undefined;
    const turn = new Promise<void>((resolve) => {
      enter = resolve;
      line.add(resolve);
    });
    try {
      await call.cancellation.race(turn);
    } catch (error) {
      // Called off in the moment in which its turn came: it goes to the next.
      if (enter && !line.delete(enter)) pass(toolOf(call).id.server, line);
      throw error;
    }
  };

  const pass = (server: ServerName, line: Set<() => void>): void => {
    const [next] = line;
    if (next === undefined) lanes.delete(server);
    else {
      line.delete(next);
      next();
    }
  };

  const inTurn = async (call: ToolCall, next: Perform): Promise<ToolOutcome> => {
    const { server } = toolOf(call).id;
    const busy = lanes.get(server);
    const line = busy ?? new Set();
    if (busy) await turnOf(call, busy);
    else lanes.set(server, line);
    try {
      // Our own tools belong to no server, and judge for themselves. What is bound to a form is judged when its server has
      // said what its tools are now: it may be starting anew at this moment.
      if (busy && !call.builtin && call.permit?.form === undefined) requireStill(call);
      return await next(call);
    } finally {
      pass(server, line);
    }
  };

  return (next) => (call) => (isSerial(toolOf(call).id.server) ? inTurn(call, next) : next(call));
}
