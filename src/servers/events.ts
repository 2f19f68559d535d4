// Owns the union of the events that everything up to the servers emits.

import type { AuthEvent } from '../auth/events.ts';
import type { CatalogEvent } from '../catalog/events.ts';
import type { ConfigEvent } from '../config/events.ts';
import type { ConnectionEvent } from '../connection/events.ts';
import type { TrustEvent } from '../trust/events.ts';

export type ServerEvent = ConfigEvent | TrustEvent | AuthEvent | ConnectionEvent | CatalogEvent;
