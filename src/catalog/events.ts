// Owns what the catalog reports to the outside.

import type { QualifiedName, ServerName } from '../model/names.ts';

export type CatalogEvent =
  | {
      readonly type: 'catalog.changed';
      readonly revision: string;
      readonly added: readonly QualifiedName[];
      readonly removed: readonly QualifiedName[];
    }
  | { readonly type: 'catalog.problem-found'; readonly server: ServerName; readonly problem: string };
