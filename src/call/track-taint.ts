// Owns what follows from an agent having read untrusted output: the stage that notes what was read, and the reason why a later
// call is asked about although a rule allows it. Text in an output may have told the model to make that call.

import type { LoadedConfig } from '../config/load.ts';
import type { Emit } from '../kernel/emitter.ts';
import { asRuntimeError, quotesServer, RuntimeError } from '../model/errors.ts';
import type { ToolId } from '../model/names.ts';
import type { ToolSettings } from '../model/server.ts';
import type { Tool, ToolDefinition } from '../model/tool.ts';
import { readsOnly } from '../policy/approval-mode.ts';
import type { ServerRegistry } from '../servers/registry.ts';
import type { CallEvent } from './events.ts';
import { signalsIn } from './failure-as-outcome.ts';
import { attempt, type Stage, type ToolCall, toolOf } from './pipeline.ts';

/** Around `shape`, which flags outputs. `mcp_search` taints only where a found description was flagged: no server wrote the rest. */
export function trackTaint(emit: Emit<CallEvent>): Stage {
  return (next) => (call) =>
    attempt(next, call).then(
      (outcome) => {
        const isHarmless = call.builtin?.isLocal && call.name === 'mcp_search' && outcome.signals.length === 0;
        if (!isHarmless) call.caller.taint.note(outcome);
        return outcome;
      },
      (error: unknown) => {
        if (!isAborted(call, error)) noteFailure(call, asRuntimeError(error), emit);
        throw error;
      },
    );
}

/** A failure that quotes a server is read like its output: flagged like one, and it taints. */
function noteFailure(call: ToolCall, failure: RuntimeError, emit: Emit<CallEvent>): void {
  // The arguments of our own tools are checked against our own words.
  const isOwn = call.builtin?.isLocal && failure.code === 'ARGUMENTS_BAD';
  if (isOwn || !quotesServer(failure)) return;
  const signals = signalsIn(failure);
  const { data } = failure;
  const quoted = 'quoted' in data ? data.quoted : undefined;
  const id = call.tool?.id ?? { server: quoted ?? '', tool: call.name };
  if (signals.length > 0) emit({ type: 'signal.raised', callId: call.callId, ...id, surface: 'tool_output', signals });
  call.caller.taint.note({ meta: id, signals });
}

const isAborted = ({ cancellation }: ToolCall, error: unknown) =>
  cancellation.cancelled && cancellation.reason === error && !(error instanceof RuntimeError);

export interface TaintReasonDeps {
  readonly registry: Pick<ServerRegistry, 'toolSettings' | 'trustsAnnotations'> & {
    readonly config: () => { readonly settings: Pick<LoadedConfig['settings'], 'taint' | 'signals'> };
  };
  /** The definition that the server lists for the tool now; the tool of a turn may be older. */
  readonly currentDefinition: (tool: Tool) => ToolDefinition;
}

/** Why the call is asked about because of what the agent has read; `undefined` for nearly every call. */
export function taintReason(call: ToolCall, { registry, currentDefinition }: TaintReasonDeps): string | undefined {
  const { taint, signals } = registry.config().settings;
  if ((taint === 'off' && signals !== 'ask') || call.builtin?.isLocal) return undefined;
  const tool = toolOf(call);
  const { source, flaggedOutput } = call.caller.taint;
  const isReadOnly = () => registry.trustsAnnotations(tool) && readsOnly(currentDefinition(tool).annotations ?? {});
  if (signals === 'ask' && flaggedOutput && !isReadOnly())
    return `the output of ${spell(flaggedOutput.tool)} looked as if it gave orders (${flaggedOutput.signals.join(', ')})`;
  if (taint === 'off' || source === undefined) return undefined;
  const definition = currentDefinition(tool);
  const isClosed = isReadOnly() && definition.annotations?.openWorldHint === false;
  const harm = harmOf(definition, registry.toolSettings(tool.id), isClosed);
  if (harm === undefined) return undefined;
  const marks = source.signals.length > 0 ? `, which looked as if it gave orders (${source.signals.join(', ')})` : '';
  return `it ${harm}, and the agent has read the output of ${spell(source.tool)}${marks}`;
}

/**
 * A tool's own word that it does harm is believed. That it does none takes the user's entry, or hints that are trusted: a tool
 * without hints may do anything.
 */
function harmOf({ annotations }: ToolDefinition, { outbound }: ToolSettings, isClosed: boolean): string | undefined {
  if (annotations?.destructiveHint === true) return 'may destroy something';
  if (outbound ?? annotations?.openWorldHint === true) return 'reaches outside';
  return outbound === false || isClosed ? undefined : 'is not known to only read and to reach nothing outside';
}

const spell = ({ server, tool }: ToolId) => `"${tool}" of server "${server}"`;
