// Owns what the catalog reports to the outside.

import type { QualifiedName, ServerName } from '../model/names.ts';

export type CatalogEvent =
  | {
      readonly type: 'catalog.changed';
      readonly revision: string;
      readonly added: readonly QualifiedName[];
      readonly removed: readonly QualifiedName[];
      /** Under the same name, something else for a model to read. */
      readonly changed: readonly QualifiedName[];
    }
  | { readonly type: 'catalog.problem-found'; readonly server: ServerName; readonly problem: string }
  /** What a server has listed is other than before; none once it is gone. */
  | {
      readonly type: 'resources.changed';
      readonly server: ServerName;
      readonly count: number;
      readonly templates: number;
    }
  | { readonly type: 'prompts.changed'; readonly server: ServerName; readonly count: number }
  /** Only of resources that somebody subscribed to, or that were read from a server with `subscriptions`. */
  | { readonly type: 'resource.updated'; readonly server: ServerName; readonly uri: string };
