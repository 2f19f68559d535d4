// Owns what a host may use for texts of its own tools, as Plexus does for those of servers: find signals, take secrets out, wrap.

import type { ToolId } from '../model/names.ts';
import { createNonce, wrap as wrapWith } from './boundary.ts';
import { createRedactor, type Inspected, KnownSecrets } from './redact.ts';

export { findSignals } from './injection.ts';

const { inspect } = createRedactor(new KnownSecrets());

/** The text without what looks like a secret, and what was found where. Values that only a runtime knows: `runtime.redact`. */
export const redact = (text: string): Inspected => inspect(text);

/** The text inside the mark for untrusted output, which `systemPromptFragment` explains to the model. */
export const wrap = (text: string, from: ToolId): string => wrapWith(text, from, createNonce());
