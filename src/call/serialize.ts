// Owns the queue of calls to a server with `parallel = false`: one after the other, in the order in which they came.
// A queued call uses no timeout; cancelling it sends nothing.

import type { ServerName } from '../model/names.ts';
import type { ServerRegistry } from '../servers/registry.ts';
import type { Recheck } from './authorize/recheck.ts';
import { attempt, type OutcomeDraft, type Perform, type Stage, type ToolCall, toolOf } from './pipeline.ts';

/** The calls of one server: how many run, and those that wait for their turn. */
interface Line {
  running: number;
  /** Made with the first call that has to wait. */
  waiting: Set<() => void> | undefined;
}

/**
 * A call that hangs delays the others until its own timeout, and no longer. Calls are counted for every server, since `parallel`
 * may be edited while some run: turned off, the next call waits for them; turned on, those that wait go with the next end.
 */
export function serialize(
  registry: Pick<ServerRegistry, 'settings'>,
  { recheckPermission }: Pick<Recheck, 'recheckPermission'>,
): Stage {
  /** One for each server that was ever called: to remove it with every last call would cost more than it takes. */
  const lines = new Map<ServerName, Line>();
  const isSerial = (server: ServerName) => registry.settings(server)?.parallel === false;

  const waitForTurn = async (call: ToolCall, line: Line): Promise<void> => {
    let enter: (() => void) | undefined;
    const turn = new Promise<void>((resolve) => {
      enter = resolve;
      line.waiting ??= new Set();
      line.waiting.add(resolve);
    });
    try {
      await call.cancellation.race(turn);
    } catch (error) {
      // Cancelled at the very moment when its turn came: let the next call start.
      if (enter && !line.waiting?.delete(enter)) leave(toolOf(call).id.server, line);
      throw error;
    }
  };

  const leave = (server: ServerName, line: Line): void => {
    line.running--;
    if (line.waiting === undefined) return;
    for (const enter of line.waiting) {
      if (line.running > 0 && isSerial(server)) return;
      line.waiting.delete(enter);
      line.running++;
      enter();
    }
  };

  const lineOf = (server: ServerName): Line => {
    const known = lines.get(server);
    if (known !== undefined) return known;
    const line: Line = { running: 0, waiting: undefined };
    lines.set(server, line);
    return line;
  };

  const throughLine = (call: ToolCall, line: Line, next: Perform): Promise<OutcomeDraft> => {
    const { server } = toolOf(call).id;
    return attempt(next, call).then(
      (outcome) => {
        leave(server, line);
        return outcome;
      },
      (error: unknown) => {
        leave(server, line);
        throw error;
      },
    );
  };

  return (next) => {
    // A call that is bound to a definition is rechecked in `invoke`, once the server has listed its tools: it may be restarting now.
    const rechecked: Perform = (call) => {
      if (!call.builtin && call.permit?.toolHash === undefined) recheckPermission(call);
      return next(call);
    };
    return (call) => {
      const { server } = toolOf(call).id;
      const line = lineOf(server);
      if (line.running > 0 && isSerial(server))
        return waitForTurn(call, line).then(() => throughLine(call, line, rechecked));
      line.running++;
      return throughLine(call, line, next);
    };
  };
}
