// Owns what the configuration, and the tool itself, say about how a model gets to it. What nobody says is decided by weight.

import { isObject } from '../../kernel/json.ts';
import { matchesWildcard, specificity } from '../../kernel/wildcard.ts';
import type { ServerName } from '../../model/names.ts';
import type { Exposure, ServerSettings, ToolSettings } from '../../model/server.ts';
import type { Tool, ToolDefinition } from '../../model/tool.ts';

export type Placement = Exposure | 'auto';
export type PlacementOf = (tool: Tool) => Placement;

export interface PlacementParts {
  /** Whether the list for all servers names it. */
  readonly isAlwaysLoaded: (tool: Tool) => boolean;
  readonly settingsOf: (server: ServerName) => Pick<ServerSettings, 'exposure' | 'alwaysLoad' | 'tools'> | undefined;
}

/** The closest word counts: the list of tools for all, then what an entry says of the tool, then what it says of all its tools. */
export function createPlacement({ isAlwaysLoaded, settingsOf }: PlacementParts): PlacementOf {
  const known = new WeakMap<Tool, Placement>();
  const decide = (tool: Tool): Placement => {
    if (isAlwaysLoaded(tool)) return 'load';
    const settings = settingsOf(tool.id.server);
    if (settings === undefined) return 'auto';
    const own = closest(settings.tools, tool.id.tool);
    if (own?.alwaysLoad) return 'load';
    if (own?.exposure) return own.exposure;
    if (settings.alwaysLoad && own?.alwaysLoad !== false) return 'load';
    return settings.exposure ?? 'auto';
  };
  return (tool) => {
    const before = known.get(tool);
    if (before !== undefined) return before;
    const placement = decide(tool);
    known.set(tool, placement);
    return placement;
  };
}

function closest(tools: ServerSettings['tools'], name: string): ToolSettings | undefined {
  if (tools === undefined) return undefined;
  if (Object.hasOwn(tools, name)) return tools[name];
  const patterns = Object.keys(tools).filter((pattern) => matchesWildcard(pattern, name));
  const [pattern] = patterns.sort((a, b) => specificity(b) - specificity(a) || (a < b ? -1 : 1));
  return pattern === undefined ? undefined : tools[pattern];
}

/** The server's own wish to have a tool seen, with or without a vendor's prefix: `alwaysLoad`, `vendor/alwaysLoad`. */
export function claimsToBeLoaded({ _meta: meta }: ToolDefinition): boolean {
  if (!isObject(meta)) return false;
  return Object.keys(meta).some((key) => meta[key] === true && (key === 'alwaysLoad' || key.endsWith('/alwaysLoad')));
}
