// Owns which tool a person asks for, from the words and options of `plexus call`, and the runtime that a call of it needs.

import type { RuntimeOptions } from '../api.ts';
import { type Context, UsageError } from './command.ts';
import type { ToolTarget } from './find-tool.ts';
import { proposedCommand } from './proposed-command.ts';
import { shellWord } from './render/text.ts';
import { type UnconfiguredServer, unconfiguredServer } from './unconfigured-server.ts';

export interface AskedTool extends ToolTarget {
  readonly words: readonly string[];
  readonly unconfigured: UnconfiguredServer | undefined;
}

/** A typed call is the person's own order, also to a server that nobody approved. */
export function optionsFor({ server, unconfigured }: AskedTool): RuntimeOptions {
  return { ...(server !== undefined && { only: [server] }), showUnapproved: true, ...unconfigured?.options };
}

type NamedTool = Omit<AskedTool, 'words'>;

/** A line to copy that calls the tool as the person names it, with these words. */
export const callLine = (asked: NamedTool, words: readonly string[], context: Context) =>
  proposedCommand(['call', ...[...serverWords(asked), asked.tool].map(shellWord), ...words], context);

/** A line to copy that shows all tools of its server. */
export const toolsLine = (asked: NamedTool, context: Context) =>
  proposedCommand(['tools', ...serverWords(asked).map(shellWord)], context);

const serverWords = ({ server, unconfigured }: NamedTool) =>
  unconfigured?.words ?? (server === undefined ? [] : [server]);

/** Reads `SERVER TOOL`, or one name that includes the server; the first word that looks like an argument begins the arguments. */
export async function readAskedTool(context: Context): Promise<AskedTool> {
  const unconfigured = await unconfiguredServer(context);
  const { positionals } = context;
  const firstArgument = positionals.findIndex(
    (word, at) => word.includes('=') || isColonPair(word, positionals[at - 1]),
  );
  const names = firstArgument < 0 ? positionals : positionals.slice(0, firstArgument);
  const [first, second] = names;
  if (unconfigured) {
    if (first === undefined)
      throw new UsageError(`name a tool; see them with: plexus tools ${unconfigured.words.map(shellWord).join(' ')}`);
    return { server: unconfigured.name, tool: first, words: positionals.slice(1), unconfigured };
  }
  if (first === undefined) throw new UsageError('name a server and a tool');
  const [, called] = /^([^(]+)\(.*\)$/s.exec(first) ?? [];
  if (called !== undefined)
    throw new UsageError(`arguments are words of their own: plexus call ${shellWord(called)} key=value …`);
  if (second === undefined) return { tool: first, words: positionals.slice(1), unconfigured };
  return { server: first, tool: second, words: positionals.slice(2), unconfigured };
}

/** `key:value` behind a name that includes its server. It is no argument, and the error about it says what to write. */
const isColonPair = (word: string, before: string | undefined) =>
  before !== undefined && /^mcp__|\./.test(before) && /^\w+:./.test(word);
