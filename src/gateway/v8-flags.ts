// Owns how V8 runs in a process that is a gateway and nothing else: it takes little memory, and compiles no more than pays. The process of a
// host is left as it is.

import { setFlagsFromString } from 'node:v8';

/** V8 reads all flags each time it decides, so that they count from now on; a flag that it does not know it complains of on stderr. */
export function setGatewayFlags(v8Version: string = process.versions.v8): void {
  // A call's objects are garbage when its answer is written: the few megabytes that the start took are room enough for it. V8 would
  // double them up to 2 × 16 MB, and never give them back while calls come.
  setFlagsFromString('--semi-space-growth-factor=1');
  if (!v8Version.startsWith('13.')) return;
  // Maglev's jobs free their memory in threads other than those that took it, which leaves up to 30 MB of it unused for ever.
  setFlagsFromString('--no-maglev-destroy-on-background');
  // The documented default. Set explicitly, V8 is done with compiling after 8,000 calls; otherwise it goes on during as many more, in
  // threads that take as much as the calls themselves (measured with Node 24.9, docs/decisions/0057).
  setFlagsFromString('--invocation-count-for-turbofan=3000');
}
