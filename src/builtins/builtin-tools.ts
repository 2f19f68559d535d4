// Owns which builtins a view gets beside its servers' tools, and the settings of the tool window that all views share.

import type { ServerInstructions } from '../catalog/exposure/instructions.ts';
import { createPlacement, honouredClaims } from '../catalog/exposure/placement.ts';
import { speaksOf } from '../catalog/filter.ts';
import { listCapabilities } from '../catalog/listing.ts';
import { createPrompts } from '../catalog/resources/prompts.ts';
import { createResources } from '../catalog/resources/resources.ts';
import { visibleResources } from '../catalog/resources/visible-resources.ts';
import type { CatalogSnapshot } from '../catalog/snapshot.ts';
import type { ClientHandlers } from '../connection/client-handlers.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Builtin, START_TOOL } from '../model/builtin.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { RuleText } from '../model/rule.ts';
import type { Servers } from '../servers/servers.ts';
import type { SessionProvider } from '../servers/sessions.ts';
import { AUTHENTICATE, authenticateName, createAuthenticateTool } from './authenticate.ts';
import { createPromptTools } from './prompts.ts';
import { createResourceTools } from './resources.ts';
import type { SearchableServer } from './search-definitions.ts';
import { createStartTool } from './start-server.ts';
import type { ToolWindowDeps, WindowSettings } from './tool-window.ts';

/** The parts of a view that the builtins use. */
export interface BuiltinCaller {
  /** The sessions of a view with private connections. */
  readonly sessions: SessionProvider | undefined;
  readonly handlers: ClientHandlers;
  readonly isSeen: (server: ServerName) => boolean;
  /** The tools of the view, as they are now. */
  readonly snapshot: () => CatalogSnapshot;
  /** The rules of the view and of the views above it. */
  readonly permissions: readonly (readonly RuleText[])[] | undefined;
}

/** The parts that every tool window is made from. */
export interface WindowSource
  extends Pick<ToolWindowDeps, 'snapshot' | 'settings' | 'search' | 'nearestWords' | 'remarks' | 'unstarted'> {
  readonly builtinsFor: (caller: BuiltinCaller) => ToolWindowDeps['builtins'];
  /** The tools that sub-agents may use, as patterns; `undefined` for all of their agent. The same list until the setting changes. */
  readonly subagentTools: () => readonly string[] | undefined;
}

export function createWindowSource(servers: Servers, clock: Clock): WindowSource {
  const { catalog, registry, status } = servers;
  return {
    subagentTools: () => {
      const { subagents } = registry.config().settings;
      if (subagents === 'inherit') return undefined;
      return subagents === 'none' ? NO_TOOLS : subagents;
    },
    snapshot: () => {
      catalog.revalidate();
      return catalog.snapshot();
    },
    settings: createWindowSettings(servers),
    builtinsFor: (caller) => createBuiltins(servers, clock, caller),
    search: (query, options) => catalog.search(query, options),
    nearestWords: (query) => catalog.nearestWords(query),
    remarks: () => status.remarks(),
    unstarted: () => unlisted(servers),
  };
}

const NO_TOOLS: readonly string[] = [];

/** Made anew only when the configuration, a server's instructions or the servers that have a place in turns change. */
function createWindowSettings({ registry, catalog }: Servers): () => WindowSettings {
  let last:
    | {
        readonly config: unknown;
        readonly instructions: unknown;
        readonly named: unknown;
        readonly settings: WindowSettings;
      }
    | undefined;
  return () => {
    const config = registry.config();
    const instructions = catalog.instructions();
    const named = registry.inTurns();
    if (last?.config === config && last.instructions === instructions && last.named === named) return last.settings;
    const { settings } = config;
    const isShown = ({ server }: ServerInstructions) => registry.settings(server)?.instructions === true;
    const settingsOf = (server: ServerName) => registry.settings(server);
    const windowSettings: WindowSettings = {
      toolSearch: settings.toolSearch,
      minContextWindow: settings.minContextWindow,
      searchOnListChanged: settings.searchOnListChanged,
      placementOf: createPlacement({
        isAlwaysLoaded: (tool) => settings.alwaysLoad.some((pattern) => speaksOf(pattern, tool)),
        settingsOf,
      }),
      isClaimed: honouredClaims(settingsOf),
      alwaysLoadChars: settings.alwaysLoadChars,
      servers: named.map(({ name, settings: { title } }) => ({ name, title })),
      instructions: settings.instructions ? instructions.filter(isShown) : [],
      isWrapped: settings.results.wrap,
    };
    last = { config, instructions, named, settings: windowSettings };
    return windowSettings;
  };
}

/** The builtins change as servers with resources or prompts come and go; their texts never do. */
function createBuiltins(servers: Servers, clock: Clock, caller: BuiltinCaller): () => readonly Builtin[] {
  const { registry, catalog, resourceCatalog, subscriptions, loginAsks } = servers;
  const { sessions = servers.sessions, handlers, permissions, snapshot } = caller;
  const isSeen = (server: ServerName) => caller.isSeen(server) && !registry.isSetAside(server);
  const visible = visibleResources(resourceCatalog, (server) => !registry.isSetAside(server));
  const deps = { resourceCatalog: visible, reach: sessions, handlers, clock };
  const resources = createResources({ ...deps, subscriptions });
  // Signals in a prompt are found when the call's result is shaped, so no event is emitted here.
  const prompts = createPrompts({ ...deps, emit: () => undefined });
  const isKnown = (server: ServerName) => isSeen(server) && registry.definition(server) !== undefined;
  const isListed = (tool: string) => (server: ServerName) =>
    isSeen(server) && !registry.isDenied({ server, tool }, permissions);
  const groups = {
    resources: createResourceTools({ resources, resourceCatalog: visible, isListed: isListed('ListMcpResources') }),
    prompts: createPromptTools({ prompts, resourceCatalog: visible, isListed: isListed('ListMcpPrompts') }),
  };
  const isTaken = (name: string) => snapshot().find(name) !== undefined;
  const kept = new Map<string, readonly Builtin[]>();
  return () => {
    const { builtinTools } = registry.config().settings;
    const declared = listCapabilities.filter((each) => builtinTools && catalog.hasAny(each));
    const startable = unlisted(servers).filter(({ name }) => isListed(START_TOOL)(name));
    const waiting = loginAsks.waiting().filter((server) => isListed(AUTHENTICATE)(server));
    const named = waiting.map((server) => [server, authenticateName(server, isTaken)] as const);
    const isPlain = startable.length === 0 && named.length === 0;
    const key = isPlain ? declared.join(' ') : JSON.stringify([declared, startable, named]);
    const known = kept.get(key);
    if (known) return known;
    const start = () => createStartTool({ servers: startable, sessions, tools: () => snapshot().tools });
    const builtins = [
      ...declared.flatMap((each) => groups[each]).map((each) => within(each, isKnown)),
      ...(startable.length > 0 ? [start()] : []),
      ...named.map(([server, name]) => createAuthenticateTool(server, name, loginAsks)),
    ];
    kept.set(key, builtins);
    return builtins;
  };
}

/**
 * Lazy servers that have never listed their tools: only `mcp_start` leads a model to them. Skips those that a person stopped, and
 * those that the rules of every view deny.
 */
function unlisted({ registry, catalog, connections }: Servers): readonly SearchableServer[] {
  const isStopped = (name: ServerName) => connections.get(name)?.connection.state.kind === 'closed';
  const isOffered = (server: ServerName) => !isStopped(server) && !registry.isDenied({ server, tool: START_TOOL });
  return registry
    .inTurns()
    .filter(({ name, settings }) => settings.lifecycle === 'lazy' && catalog.get(name) === undefined && isOffered(name))
    .map(({ name, settings: { title, description } }) => ({
      name,
      // The words of a repository's entry are not for the model before a person approved it.
      title: registry.isUnapprovedWorkspaceServer(name) ? undefined : (description ?? title),
    }));
}

/** A view of some servers cannot reach the others by naming them. */
function within(builtin: Builtin, isSeen: (server: ServerName) => boolean): Builtin {
  const { target } = builtin;
  if (target === undefined) return builtin;
  return {
    ...builtin,
    target: (args) => {
      const server = target(args);
      if (server !== undefined && !isSeen(server)) throw new RuntimeError('SERVER_UNKNOWN', { server, nearest: [] });
      return server;
    },
  };
}
