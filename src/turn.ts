// Owns what one model step may see and do: a frozen catalog plus `call`. A call resolves against what the model saw, even if
// servers change meanwhile.

import type { ToolWindow } from './builtins/tool-window.ts';
import type { CallProgress } from './call/events.ts';
import type { Caller, CallPath, Relay, ToolCall } from './call/pipeline.ts';
import { resolveTarget } from './call/resolve.ts';
import type { Progress } from './connection/session.ts';
import { Cancellation } from './kernel/cancellation.ts';
import type { JsonObject } from './kernel/json.ts';
import { SEARCH_TOOL } from './model/builtin.ts';
import type { QualifiedName } from './model/names.ts';
import type { Tool, ToolOutcome } from './model/tool.ts';
import type { Approve } from './trust/approval.ts';

export interface TurnCallOptions {
  /** The id of the call in events, approvals, progress and `outcome.meta`, such as the model's own. Default: one that Plexus makes. */
  readonly callId?: string;
  /** Sent to the server as the request's `_meta`, beside the fields that the protocol needs. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Aborting it cancels the call; the server is told. */
  readonly signal?: AbortSignal;
  /** Called with each progress of the server, at most ten times a second. */
  readonly onProgress?: (progress: CallProgress) => void;
  /**
   * Asked about this one call instead of the view's `approve`, such as by a host that has asked a person already. For a call of a
   * child what it agrees to is put to the view's `approve` too.
   */
  readonly approve?: Approve;
  /** The timeout of this one call, whatever is configured; 0 turns it off. */
  readonly timeoutMs?: number;
}

/** For the gateway, which hands on the calls of its clients; the outcome then holds the server's answer too. */
export interface RelayedCallOptions extends TurnCallOptions {
  readonly relay: Relay;
}

export interface Turn {
  /** The tools to show the model; in a large fleet it finds the others by searching. */
  readonly tools: readonly Tool[];
  /** Two turns with the same revision show the model the same tools. */
  readonly revision: string;
  /** For the model's system prompt: what the mark around a tool's output means, and servers' instructions; see docs/large-fleets.md. */
  readonly systemPrompt: string;
  /** The tool that a call of this name would reach, in any agent's spelling; `undefined` where no tool has it. */
  find(name: string): Tool | undefined;
  /**
   * Whether a call would be put to a person now, for a host that marks such tools or asks in its own way; false where it would be
   * denied. It depends on the arguments where rules have conditions.
   */
  requiresApproval(name: QualifiedName, args?: object): Promise<boolean>;
  /** Resolves to an outcome or throws a `RuntimeError`; an abort rejects with the signal's own reason. */
  call(name: QualifiedName, args?: object, options?: TurnCallOptions): Promise<ToolOutcome>;
}

/** Ids that a host gives are its own: those made here have to be others, or one call would refuse another. */
let lastCall = 0;

export function createTurn(window: ToolWindow, { perform, wouldAsk }: Omit<CallPath, 'counts'>, caller: Caller): Turn {
  const { tools, revision, systemPrompt, snapshot, isWhole } = window;
  const canSearch = () => tools.some((tool) => tool.name === SEARCH_TOOL);
  const visibleTools = { tools: snapshot.tools, isWhole, canSearch };
  return {
    tools,
    revision,
    systemPrompt,
    find: (name) => resolveTarget(window, textOf(name), {}).tool,
    async requiresApproval(name, args = {}) {
      const target = resolveTarget(window, textOf(name), args as JsonObject);
      if (target.tool === undefined) return false;
      const cancellation = new Cancellation();
      return wouldAsk({ callId: '', ...target, visibleTools, cancellation, onProgress: ignoreProgress, caller });
    },
    call(name, args = {}, options: TurnCallOptions & Partial<RelayedCallOptions> = {}) {
      const { callId = `plexus-call-${++lastCall}`, meta, signal, onProgress, approve, timeoutMs, relay } = options;
      if (signal?.aborted) return Promise.reject(signal.reason);
      const cancellation = new Cancellation();
      const target = resolveTarget(window, textOf(name), args as JsonObject);
      const { tool, builtin } = target;
      const tell = onProgress && ((progress: Progress) => onProgress({ callId, ...progress }));
      // Every field has its place from the start, so that all calls are objects of one shape.
      const call: ToolCall = {
        callId,
        name: target.name,
        tool,
        arguments: target.arguments,
        builtin,
        meta,
        visibleTools,
        cancellation,
        onProgress: tell ?? ignoreProgress,
        timeoutMs,
        approve,
        caller,
        observer: undefined,
        timer: undefined,
        permit: undefined,
        relay,
      };
      relay?.begin(cancellation);
      const unsubscribe = signal && cancellation.follow(signal);
      const isHidden = relay === undefined && tool !== undefined && !builtin && !window.isShown(tool);
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

/** A model's output is not typed: the name in it may be anything. */
const textOf = (name: unknown) => (typeof name === 'string' ? name : `(${typeof name})`);

const ignoreProgress = (): void => undefined;
