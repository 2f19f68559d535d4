// Owns the result of a command that shows one tool: `plexus tools SERVER TOOL` and `plexus call SERVER TOOL --help`.

import type { Runtime } from '../api.ts';
import { type AskedTool, callLine, toolsLine } from './asked-tool.ts';
import type { CommandResult, Context } from './command.ts';
import { type FoundTool, findTool, type ToolTarget, unknownOn } from './find-tool.ts';
import { toolPageText } from './render/tool-page.ts';
import { describeTool } from './tool-page.ts';

/** An unknown name fails as a call of it would. */
export async function showTool(
  runtime: Runtime,
  asked: Omit<AskedTool, 'words'>,
  context: Context,
): Promise<CommandResult> {
  const { turn, name, tool } = await findNow(runtime, asked, context);
  if (tool === undefined) {
    // Nothing is called: there is no such tool, and the failure says why.
    const failure = await turn.call(name, {}, { signal: context.signal }).catch((error: unknown) => error);
    throw unknownOn(runtime, asked, toolsLine(asked, context), failure);
  }
  const called = { ...asked, tool: asked.server === undefined ? name : tool.id.tool };
  const page = describeTool(tool, (words) => callLine(called, words, context));
  return { data: page, text: (paint) => toolPageText(page, paint) };
}

/** A tool that is not among the cached ones may be new: its server is asked. */
async function findNow(runtime: Runtime, asked: ToolTarget, context: Context): Promise<FoundTool> {
  const found = await findTool(runtime, asked, context);
  const { server } = asked;
  const isCached = runtime.status().some(({ name, freshness }) => name === server && freshness === 'cached');
  if (found.tool || server === undefined || !isCached) return found;
  await context.waitFor(`asking ${server}`, runtime.refreshTools(server));
  return findTool(runtime, asked, context);
}
