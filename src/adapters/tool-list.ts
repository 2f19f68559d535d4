// Owns the tools as one API takes them: translated once for each step, so that two requests with the same tools are the same to the
// byte and a provider's prompt cache holds, and the step that the model saw last.

import type { ModelStep, ShownTool, Toolset } from './toolset.ts';

/** A type for schemas that every framework's own type accepts. */
export type JsonParameters = { [key: string]: unknown };

/** For the calls of one answer. */
export interface RunOptions {
  /** Aborting it cancels these calls. */
  readonly signal?: AbortSignal;
}

export interface ToolList<ApiTool> {
  /** The tools as they are now, in an order that stays. */
  tools(): ApiTool[];
  systemPrompt(): string;
  /** The step of the last `tools()`: the one whose tools the model saw. */
  step(): ModelStep;
}

export function createToolList<ApiTool>(toolset: Toolset, toApi: (tool: ShownTool) => ApiTool): ToolList<ApiTool> {
  let shown: { readonly step: ModelStep; readonly tools: readonly ApiTool[] } | undefined;
  return {
    tools() {
      const step = toolset.step();
      if (shown?.step !== step) shown = { step, tools: step.tools.map(toApi) };
      return [...shown.tools];
    },
    systemPrompt: () => toolset.step().systemPrompt,
    step: () => shown?.step ?? toolset.step(),
  };
}
