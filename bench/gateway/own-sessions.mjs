// Owns that the server behind every gateway runs in a session of its own, as those of Plexus do: loaded into each gateway, since the
// scheduler would otherwise measure where their servers stand.

import { startInOwnSessions } from '../own-sessions.mjs';

startInOwnSessions();
