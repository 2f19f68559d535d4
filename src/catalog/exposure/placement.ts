// Owns how the configuration, or a trusted server, wants a model to reach a tool. If neither says, `exposure.ts` decides by weight.

import { isObject } from '../../kernel/json.ts';
import type { ServerName } from '../../model/names.ts';
import type { Exposure, ServerSettings } from '../../model/server.ts';
import type { Tool, ToolDefinition } from '../../model/tool.ts';
import { saidOf } from '../filter.ts';

export type Placement = Exposure | 'auto';
export type PlacementOf = (tool: Tool) => Placement;

export interface PlacementDeps {
  /** Whether the global `alwaysLoad` list names the tool. */
  readonly isAlwaysLoaded: (tool: Tool) => boolean;
  readonly settingsOf: (server: ServerName) => Pick<ServerSettings, 'exposure' | 'alwaysLoad' | 'tools'> | undefined;
}

/** The first that applies counts: the global list, then the server's settings for the tool, then its settings for all its tools. */
export function createPlacement({ isAlwaysLoaded, settingsOf }: PlacementDeps): PlacementOf {
  const decided = new WeakMap<Tool, Placement>();
  const decide = (tool: Tool): Placement => {
    if (isAlwaysLoaded(tool)) return 'load';
    const settings = settingsOf(tool.id.server);
    if (settings === undefined) return 'auto';
    let mayBeLoaded = true;
    for (const { alwaysLoad, exposure } of [settings, ...saidOf(tool.id.tool, settings)].reverse()) {
      if (alwaysLoad && mayBeLoaded) return 'load';
      if (exposure) return exposure;
      if (alwaysLoad === false) mayBeLoaded = false;
    }
    return 'auto';
  };
  return (tool) => {
    const before = decided.get(tool);
    if (before !== undefined) return before;
    const placement = decide(tool);
    decided.set(tool, placement);
    return placement;
  };
}

/** Whether a claim to be loaded is honoured: the same from the cache as from the live server, so that the prompt does not change. */
export function honouredClaims(
  settingsOf: (server: ServerName) => Pick<ServerSettings, 'trustHints'> | undefined,
): (tool: Tool) => boolean {
  return ({ id, definition }) => claimsToBeLoaded(definition) && settingsOf(id.server)?.trustHints === true;
}

/** Whether the server asks to have the tool loaded, with or without a vendor's prefix: `alwaysLoad`, `vendor/alwaysLoad`. */
export function claimsToBeLoaded({ _meta: meta }: ToolDefinition): boolean {
  if (!isObject(meta)) return false;
  return Object.keys(meta).some((key) => meta[key] === true && (key === 'alwaysLoad' || key.endsWith('/alwaysLoad')));
}
