// Owns what "a runtime with these servers, everything allowed" is for a test: no file of the machine is read, nobody is asked,
// and what it told is kept. Knows no test framework: the soak uses it too. The caller closes it.

import type { Runtime, RuntimeEvent, RuntimeOptions } from '../src/index.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { createMemoryStore } from '../src/kernel/store.ts';
import { createRuntime } from '../src/runtime.ts';

export interface Told {
  /** What the runtime told its host, in order. */
  readonly events: readonly RuntimeEvent[];
  /** What went wrong in the background, and what listeners threw. */
  readonly errors: readonly unknown[];
}

export type OpenedRuntime = Runtime & Told;

/** Remembers on the disk, in the folder given as home, and keeps logs and results there, like a host that says nothing. */
export const withDefaultStore = { store: undefined, logs: true, resultFiles: true } as unknown as RuntimeOptions;

/** Servers are waited for longer than the ten seconds of a host: a busy machine may need them. */
const PATIENT_MS = 45_000;

/** In this folder, with these options over the ones above. */
export async function openRuntime(folder: string, options: RuntimeOptions): Promise<OpenedRuntime> {
  const events: RuntimeEvent[] = [];
  const errors: unknown[] = [];
  const runtime = await createRuntime({
    discover: false,
    cwd: folder,
    home: folder,
    store: createMemoryStore(options.clock ?? systemClock),
    permissions: [{ tool: 'mcp__*', action: 'allow' }],
    interactive: false,
    logs: false,
    resultFiles: false,
    startup: { waitMs: PATIENT_MS },
    onEvent: (event) => events.push(event),
    onError: (error) => errors.push(error),
    ...options,
  });
  return { ...runtime, events, errors };
}
