// Owns which tools of its own the runtime has for models, and what every view is offered alike.

import { createPromptTools } from './builtins/prompts.ts';
import { createResourceTools } from './builtins/resources.ts';
import type { Catalog } from './catalog/catalog.ts';
import { offerings } from './catalog/listing.ts';
import type { Offers } from './catalog/offers/offers.ts';
import type { Prompts } from './catalog/offers/prompts.ts';
import type { Resources } from './catalog/offers/resources.ts';
import { presentFor } from './catalog/snapshot.ts';
import type { Fleet } from './fleet.ts';
import type { Builtin } from './model/builtin.ts';
import type { ViewParts } from './view.ts';

export interface OfferingParts {
  readonly catalog: Catalog;
  readonly fleet: Fleet;
  readonly offers: Offers;
  readonly resources: Resources;
  readonly prompts: Prompts;
}

export function createOffering({
  catalog,
  fleet,
  ...parts
}: OfferingParts): Pick<ViewParts, 'offering' | 'presentFor'> {
  const forResources = createResourceTools(parts);
  const forPrompts = createPromptTools(parts);
  // Made once each: which ones there are changes with the servers, and what they are called and say never does.
  const choices = new Map<string, readonly Builtin[]>();
  const builtins = () => {
    const { builtinTools } = fleet.circumstances().settings;
    const [hasResources, hasPrompts] = offerings.map((each) => builtinTools && catalog.hasAny(each));
    const key = `${hasResources} ${hasPrompts}`;
    const chosen = choices.get(key) ?? [...(hasResources ? forResources : []), ...(hasPrompts ? forPrompts : [])];
    choices.set(key, chosen);
    return chosen;
  };
  return {
    offering: {
      snapshot: () => {
        catalog.revalidate();
        return catalog.snapshot();
      },
      common: () => ({ ...fleet.common(), builtins: builtins() }),
      search: (query, options) => catalog.search(query, options),
      nearestWords: (query) => catalog.nearestWords(query),
      remarks: () => fleet.remarks(),
    },
    presentFor: (snapshot, provider) => presentFor(snapshot, provider, catalog.style),
  };
}
