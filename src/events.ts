// Owns the union of everything the runtime reports. Each folder owns its own events; watching one never changes anything.

import type { CallEvent } from './call/events.ts';
import type { CatalogEvent } from './catalog/events.ts';
import type { ConnectionEvent } from './connection/events.ts';
import type { Diagnostic } from './model/diagnostic.ts';

export type RuntimeEvent =
  | { readonly type: 'config.loaded'; readonly files: readonly string[]; readonly diagnostics: readonly Diagnostic[] }
  | ConnectionEvent
  | CatalogEvent
  | CallEvent;
