// Owns the lists of resources and prompts as a model may find them: without those of servers that have no place in a turn.

import type { ServerName } from '../../model/names.ts';
import type { ListedResources } from './resource-catalog.ts';

export function visibleResources(all: ListedResources, isVisible: (server: ServerName) => boolean): ListedResources {
  const isListed = ({ server }: { readonly server: ServerName }) => isVisible(server);
  return {
    resources: (server) => all.resources(server).filter(isListed),
    templates: (server) => all.templates(server).filter(isListed),
    prompts: (server) => all.prompts(server).filter(isListed),
    prompt: (server, name) => (isVisible(server) ? all.prompt(server, name) : undefined),
    ownersOf: (uri) => all.ownersOf(uri).filter(isVisible),
    declaring: (capability) => all.declaring(capability).filter(isVisible),
    problems: (capability, server) => all.problems(capability, server).filter(isListed),
    isFollowed: (server) => isVisible(server) && all.isFollowed(server),
    listed: (capability, server) => all.listed(capability, server),
  };
}
