// Owns how closely the health of a server is watched, from what an entry says of it.

import type { HealthPolicy } from '../model/server.ts';
import { type CompleteEntry, healthSchema } from './schema.ts';

const inMode = (mode: HealthPolicy['mode']): HealthPolicy => Object.freeze(healthSchema.parse({ mode }));

/** Hardly any entry says more than a word; all that say the same share one. */
const modes = { remote: inMode('remote'), all: inMode('all'), off: inMode('off') };

export const healthPolicy = (written: CompleteEntry['health']): HealthPolicy =>
  typeof written === 'object' ? Object.freeze(written) : modes[written || 'off'];
