// Owns which calls ask although a rule allows them, because of what the agent has read: one that destroys or reaches outside
// may be what somebody in that text wanted, and not the person.

import type { ToolId } from '../model/names.ts';
import type { ToolSettings } from '../model/server.ts';
import type { Tool, ToolDefinition } from '../model/tool.ts';
import { type Stage, type ToolCall, toolOf } from './pipeline.ts';

/** Around `shape`, which finds what looks like an order. What no server wrote taints nobody; found tools are known anyway. */
export function remember(): Stage {
  return (next) => async (call) => {
    const outcome = await next(call);
    const isOwn = call.builtin?.isLocal && call.name === 'mcp_search' && outcome.signals.length === 0;
    if (!isOwn) call.caller.taint.note(outcome);
    return outcome;
  };
}

export interface CautionSettings {
  readonly taint: 'off' | 'ask';
  readonly signals: 'log' | 'annotate' | 'ask';
}

export interface CautionDeps {
  readonly settings: () => CautionSettings;
  readonly toolSettings: (id: ToolId) => ToolSettings;
  /** What its server says of the tool now; a turn may be older. */
  readonly present: (tool: Tool) => ToolDefinition;
  /** On the word of somebody who is believed. */
  readonly isReadOnly: (tool: Tool) => boolean;
}

/** Why this call asks even where a rule allows it; nothing for nearly all of them. */
export function cautionFor(
  call: ToolCall,
  { settings, toolSettings, present, isReadOnly }: CautionDeps,
): string | undefined {
  const { taint, signals } = settings();
  if ((taint === 'off' && signals !== 'ask') || call.builtin?.isLocal) return undefined;
  const tool = toolOf(call);
  const { source, suspicion } = call.caller.taint;
  if (signals === 'ask' && suspicion && !isReadOnly(tool))
    return `the output of ${spell(suspicion.tool)} looked as if it gave orders (${suspicion.signals.join(', ')})`;
  if (taint === 'off' || source === undefined) return undefined;
  const what = harmOf(present(tool), toolSettings(tool.id));
  if (what === undefined) return undefined;
  const marks = source.signals.length > 0 ? `, which looked as if it gave orders (${source.signals.join(', ')})` : '';
  return `it ${what}, and the agent has read the output of ${spell(source.tool)}${marks}`;
}

/** That a tool does harm is believed of anybody; that it does none is only the person's to say. */
function harmOf({ annotations }: ToolDefinition, { outbound }: ToolSettings): string | undefined {
  if (annotations?.destructiveHint === true) return 'may destroy something';
  if (outbound ?? annotations?.openWorldHint === true) return 'reaches outside';
  return undefined;
}

const spell = ({ server, tool }: ToolId) => `"${tool}" of server "${server}"`;
