// Owns how much memory V8 takes for what is over at once, in a process that is a gateway and nothing else: one of a host is left as it is.

import { setFlagsFromString } from 'node:v8';

/** V8 reads both flags each time it decides, so that they count from now on; a flag that it does not know it complains of on stderr. */
export function keepHeapSmall(v8Version: string = process.versions.v8): void {
  // A call's objects are garbage when its answer is written: the few megabytes that the start took are room enough for it. V8 would
  // double them up to 2 × 16 MB, and never give them back while calls come.
  setFlagsFromString('--semi-space-growth-factor=1');
  // Maglev's jobs free their memory in threads other than those that took it, which leaves up to 30 MB of it unused for ever.
  if (v8Version.startsWith('13.')) setFlagsFromString('--no-maglev-destroy-on-background');
}
