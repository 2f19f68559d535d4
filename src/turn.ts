// Owns what one model step may see and do: a frozen catalog plus `call`.
// What the model saw is what a call resolves against, even if servers change meanwhile.

import { CALL_TOOL, SEARCH_TOOL, unwrapCall } from './builtins/search-tools.ts';
import type { Caller, Perform, ToolCall } from './call/pipeline.ts';
import type { Progress } from './connection/session.ts';
import { Cancellation } from './kernel/cancellation.ts';
import { isObject, type JsonObject } from './kernel/json.ts';
import { whyNotJson } from './kernel/plain-json.ts';
import { builtinNames } from './model/builtin.ts';
import { limits } from './model/limits.ts';
import type { QualifiedName, ServerName } from './model/names.ts';
import type { Tool, ToolOutcome } from './model/tool.ts';
import type { Offer, OwnTool } from './offering.ts';

export interface TurnCallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
  /** How long the tool may take this time, whatever is configured; 0 for as long as it likes. */
  readonly timeoutMs?: number;
}

export interface Turn {
  /** What the model is shown; where the fleet is large, it finds the rest by searching. */
  readonly tools: readonly Tool[];
  /** Two turns with the same revision show the model the same tools. */
  readonly revision: string;
  /** For the model's system prompt: what the mark around a tool's output means, and what servers say about their use. */
  readonly systemPrompt: string;
  /** The tool that a call of this name would reach, in whatever spelling; nothing for a name that is somebody else's. */
  find(name: string): Tool | undefined;
  /** Ends in an outcome or throws a `RuntimeError`; an abort rejects with the signal's own reason. */
  call(name: QualifiedName, args?: JsonObject, options?: TurnCallOptions): Promise<ToolOutcome>;
}

let lastCall = 0;

export function createTurn(offer: Offer, perform: Perform, caller: Caller): Turn {
  const { tools, revision, systemPrompt, snapshot, isWhole } = offer;
  const canSearch = () => tools.some((tool) => tool.name === SEARCH_TOOL);
  const visibleTools = { tools: snapshot.tools, isWhole, canSearch };
  return {
    tools,
    revision,
    systemPrompt,
    find: (name) => meant(offer, typeof name === 'string' ? name : '', {}).tool,
    call(name, args = {}, { signal, onProgress = ignoreProgress, timeoutMs } = {}) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      const cancellation = new Cancellation();
      // A model's output is not typed.
      const what = meant(offer, typeof name === 'string' ? name : `(${typeof name})`, args);
      const call = { callId: `call-${++lastCall}`, ...what, visibleTools, cancellation, onProgress, timeoutMs, caller };
      const unsubscribe = signal && cancellation.follow(signal);
      const { tool, builtin } = what;
      const isHidden = tool !== undefined && !builtin && !offer.isShown(tool);
      if (unsubscribe === undefined && !isHidden) return perform(call);
      return perform(call).then(
        (outcome) => {
          unsubscribe?.();
          // What is in use must not vanish when the list is shortened.
          if (isHidden) offer.load([tool.id]);
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

const isReserved = (name: string) => builtinNames.some((each) => each === name);

type Meant = Pick<ToolCall, 'name' | 'tool' | 'arguments' | 'builtin'>;

/** A name as the catalog has it; one of our own; or another agent's spelling of one. What is not shown may be called too. */
function meant(offer: Offer, name: QualifiedName, args: JsonObject): Meant {
  const { snapshot, own } = offer;
  const tool = snapshot.find(name);
  const owned = tool ? undefined : own.get(name);
  // What cannot be read without harm is looked at nowhere but where it is refused.
  const isReadable = owned === undefined || whyNotJson(args, limits.arguments) === undefined;
  if (owned && !isReadable) return bound(offer, owned, {}, args);
  if (owned?.tool.name === CALL_TOOL) {
    const carried = unwrapCall(args);
    if (typeof carried !== 'string') return meant(offer, carried.name, carried.arguments);
  }
  if (owned) return bound(offer, owned, args);
  // What is ours stays ours, also where it is not offered: a server's tool of the same name is not what was meant.
  const found = tool ?? (isReserved(name) ? undefined : snapshot.resolve(name));
  return { name: found?.name ?? name, tool: found, arguments: args };
}

function bound({ snapshot, load }: Offer, { builtin, tool }: OwnTool, args: JsonObject, given = args): Meant {
  const { server, problem } = targetOf(builtin, args);
  return {
    name: tool.name,
    tool: server === undefined ? tool : { ...tool, id: { server, tool: tool.id.tool } },
    arguments: given,
    builtin: {
      isLocal: server === undefined,
      perform: async (given, cancellation) => {
        if (problem !== undefined) throw problem;
        const context = { cancellation, tools: snapshot.tools, load, ...(server !== undefined && { server }) };
        return builtin.perform(given, context);
      },
    },
  };
}

/** That nobody can be meant is said on the call's way, where it is heard and counted like any other failure. */
function targetOf(
  { target }: OwnTool['builtin'],
  args: unknown,
): { readonly server?: ServerName | undefined; readonly problem?: unknown } {
  if (target === undefined || !isObject(args)) return {};
  try {
    return { server: target(args) };
  } catch (problem) {
    return { problem };
  }
}
