// Owns what the configuration, and the tool itself, say about how a model gets to it. What nobody says is decided by weight.

import { isObject } from '../../kernel/json.ts';
import type { ServerName } from '../../model/names.ts';
import type { Exposure, ServerSettings } from '../../model/server.ts';
import type { Tool, ToolDefinition } from '../../model/tool.ts';
import { saidOf } from '../filter.ts';

export type Placement = Exposure | 'auto';
export type PlacementOf = (tool: Tool) => Placement;

export interface PlacementDeps {
  /** Whether the list for all servers names it. */
  readonly isAlwaysLoaded: (tool: Tool) => boolean;
  readonly settingsOf: (server: ServerName) => Pick<ServerSettings, 'exposure' | 'alwaysLoad' | 'tools'> | undefined;
}

/** The closest word counts: the list of tools for all, then what an entry says of the tool, then what it says of all its tools. */
export function createPlacement({ isAlwaysLoaded, settingsOf }: PlacementDeps): PlacementOf {
  const known = new WeakMap<Tool, Placement>();
  const decide = (tool: Tool): Placement => {
    if (isAlwaysLoaded(tool)) return 'load';
    const settings = settingsOf(tool.id.server);
    if (settings === undefined) return 'auto';
    let mayBeLoaded = true;
    for (const said of [settings, ...saidOf(tool.id.tool, settings)].reverse()) {
      if (said.alwaysLoad && mayBeLoaded) return 'load';
      if (said.exposure) return said.exposure;
      if (said.alwaysLoad === false) mayBeLoaded = false;
    }
    return 'auto';
  };
  return (tool) => {
    const before = known.get(tool);
    if (before !== undefined) return before;
    const placement = decide(tool);
    known.set(tool, placement);
    return placement;
  };
}

/** The server's own wish to have a tool seen, with or without a vendor's prefix: `alwaysLoad`, `vendor/alwaysLoad`. */
export function claimsToBeLoaded({ _meta: meta }: ToolDefinition): boolean {
  if (!isObject(meta)) return false;
  return Object.keys(meta).some((key) => meta[key] === true && (key === 'alwaysLoad' || key.endsWith('/alwaysLoad')));
}
