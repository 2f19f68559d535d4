// Owns what one model step may see and do: a frozen catalog plus `call`. A call resolves against what the model saw, even if
// servers change meanwhile.

import type { ToolWindow } from './builtins/tool-window.ts';
import type { Caller, Perform, ToolCall } from './call/pipeline.ts';
import { resolveTarget } from './call/resolve.ts';
import type { Progress } from './connection/session.ts';
import { Cancellation } from './kernel/cancellation.ts';
import type { JsonObject } from './kernel/json.ts';
import { SEARCH_TOOL } from './model/builtin.ts';
import type { QualifiedName } from './model/names.ts';
import type { Tool, ToolOutcome } from './model/tool.ts';

export interface TurnCallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
  /** The timeout of this one call, whatever is configured; 0 turns it off. */
  readonly timeoutMs?: number;
}

export interface Turn {
  /** The tools to show the model; in a large fleet it finds the others by searching. */
  readonly tools: readonly Tool[];
  /** Two turns with the same revision show the model the same tools. */
  readonly revision: string;
  /** For the model's system prompt: what the mark around a tool's output means, and the servers' instructions. */
  readonly systemPrompt: string;
  /** The tool that a call of this name would reach, in any agent's spelling; `undefined` where no tool has it. */
  find(name: string): Tool | undefined;
  /** Resolves to an outcome or throws a `RuntimeError`; an abort rejects with the signal's own reason. */
  call(name: QualifiedName, args?: JsonObject, options?: TurnCallOptions): Promise<ToolOutcome>;
}

let lastCall = 0;

export function createTurn(window: ToolWindow, perform: Perform, caller: Caller): Turn {
  const { tools, revision, systemPrompt, snapshot, isWhole } = window;
  const canSearch = () => tools.some((tool) => tool.name === SEARCH_TOOL);
  const visibleTools = { tools: snapshot.tools, isWhole, canSearch };
  return {
    tools,
    revision,
    systemPrompt,
    find: (name) => resolveTarget(window, typeof name === 'string' ? name : '', {}).tool,
    call(name, args = {}, { signal, onProgress = ignoreProgress, timeoutMs } = {}) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      const cancellation = new Cancellation();
      // A model's output is not typed: its name may be anything.
      const target = resolveTarget(window, typeof name === 'string' ? name : `(${typeof name})`, args);
      const callId = `call-${++lastCall}`;
      const call: ToolCall = { callId, ...target, visibleTools, cancellation, onProgress, timeoutMs, caller };
      const unsubscribe = signal && cancellation.follow(signal);
      const { tool, builtin } = target;
      const isHidden = tool !== undefined && !builtin && !window.isShown(tool);
      if (unsubscribe === undefined && !isHidden) return perform(call);
      return perform(call).then(
        (outcome) => {
          unsubscribe?.();
          // Show a tool that is in use from now on, so that it does not vanish when the list is shortened.
          if (isHidden) window.load([tool.id]);
          return outcome;
        },
        (error: unknown) => {
          unsubscribe?.();
          throw error;
        },
      );
    },
  };
}

const ignoreProgress = (): void => undefined;
