// Owns the step from the `health` key of an entry to a health policy.

import type { HealthPolicy } from '../model/server.ts';
import type { CompleteEntry } from './schema.ts';
import { complete } from './sections.ts';

const inMode = (mode: HealthPolicy['mode']): HealthPolicy => Object.freeze(complete('health', { mode }));

/** Hardly any entry sets more than the mode, so entries with the same mode share one policy. */
const modes = { remote: inMode('remote'), all: inMode('all'), off: inMode('off') };

export const healthPolicy = (written: CompleteEntry['health']): HealthPolicy =>
  typeof written === 'object' ? Object.freeze(written) : modes[written || 'off'];
