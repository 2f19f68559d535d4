// Owns which tools of its own the runtime has for the models of a view, and what every view is offered alike.

import { createPromptTools } from './builtins/prompts.ts';
import { createResourceTools } from './builtins/resources.ts';
import type { Catalog } from './catalog/catalog.ts';
import { offerings } from './catalog/listing.ts';
import { createPrompts } from './catalog/resources/prompts.ts';
import type { ResourceCatalog } from './catalog/resources/resource-catalog.ts';
import { createResources, type ResourcesDeps } from './catalog/resources/resources.ts';
import { presentFor } from './catalog/snapshot.ts';
import type { Fleet } from './fleet.ts';
import type { Builtin } from './model/builtin.ts';
import { RuntimeError } from './model/errors.ts';
import type { ServerName } from './model/names.ts';
import type { Standing } from './standing.ts';
import type { Asker, ViewDeps } from './view.ts';

export interface OfferingDeps extends Pick<ResourcesDeps, 'subscriptions' | 'clock'> {
  readonly catalog: Catalog;
  readonly fleet: Fleet;
  readonly standing: Standing;
  readonly offers: ResourceCatalog;
}

export function createOffering(deps: OfferingDeps): Pick<ViewDeps, 'offering' | 'presentFor'> {
  const { catalog, fleet } = deps;
  return {
    offering: {
      snapshot: () => {
        catalog.revalidate();
        return catalog.snapshot();
      },
      common: () => fleet.common(),
      builtinsFor: (asker) => createBuiltins(deps, asker),
      search: (query, options) => catalog.search(query, options),
      nearestWords: (query) => catalog.nearestWords(query),
      remarks: () => fleet.remarks(),
    },
    presentFor: (snapshot, provider) => presentFor(snapshot, provider, catalog.style),
  };
}

/** Over the lines and with the handlers of whoever asks. Which ones there are changes with the servers; what they say never does. */
function createBuiltins({ catalog, fleet, standing, offers, subscriptions, clock }: OfferingDeps, asker: Asker) {
  const { lines, handlers, isSeen, permissions } = asker;
  const reach = lines ? { ...lines, callLimits: fleet.callLimits } : fleet;
  const resources = createResources({ offers, reach, subscriptions, handlers, clock });
  // What in it looks like an order is found on the call's way.
  const prompts = createPrompts({ offers, reach, handlers, clock, emit: () => undefined });
  const isKnown = (server: ServerName) => isSeen(server) && standing.definition(server) !== undefined;
  const isListed = (tool: string) => (server: ServerName) =>
    isSeen(server) && !standing.isDenied({ server, tool }, permissions);
  const groups = {
    resources: createResourceTools({ resources, offers, isListed: isListed('ListMcpResources') }),
    prompts: createPromptTools({ prompts, offers, isListed: isListed('ListMcpPrompts') }),
  };
  const kept = new Map<string, readonly Builtin[]>();
  return (): readonly Builtin[] => {
    const { builtinTools } = standing.config().settings;
    const offered = offerings.filter((each) => builtinTools && catalog.hasAny(each));
    const key = offered.join();
    const builtins = kept.get(key) ?? offered.flatMap((each) => groups[each]).map((each) => within(each, isKnown));
    kept.set(key, builtins);
    return builtins;
  };
}

/** A view of some servers does not get to the others by naming them. */
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
