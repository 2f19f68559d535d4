// Owns the union of all events of a runtime. Each folder owns its own; listening never changes anything.

import type { AuthEvent } from './auth/events.ts';
import type { CallEvent } from './call/events.ts';
import type { CatalogEvent } from './catalog/events.ts';
import type { ConfigEvent } from './config/events.ts';
import type { ConnectionEvent } from './connection/events.ts';
import type { TrustEvent } from './trust/events.ts';

export type RuntimeEvent = ConfigEvent | TrustEvent | AuthEvent | ConnectionEvent | CatalogEvent | CallEvent;
