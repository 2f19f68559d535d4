// Owns the step from the `reconnect` key of an entry to a reconnect policy: five presets, or a map of settings.

import type { Schedule } from '../kernel/backoff.ts';
import type { ReconnectPolicy } from '../model/server.ts';
import type { ConfigProblem } from './problem.ts';
import type { CompleteEntry, ReconnectSettings } from './schema.ts';
import { complete } from './sections.ts';

type Preset = Extract<CompleteEntry['reconnect'], string>;

const { jitter } = complete('reconnect');
const growing = { initialMs: 1_000, multiplier: 2, maxMs: 30_000, maxAttempts: 3 };
const listed = (...delaysMs: number[]) => ({ delaysMs, jitter });

/** Entries with the same preset share one policy. */
const presets: Readonly<Record<Preset, ReconnectPolicy>> = {
  doubling: frozen({ schedule: { ...growing, jitter } }),
  quick: frozen({ schedule: { initialMs: 100, multiplier: 2, maxMs: 10_000, maxAttempts: 5, jitter } }),
  steady: frozen({ schedule: listed(500, 1_000, 2_000, 4_000), background: complete('background') }),
  patient: frozen({ schedule: listed(2_000, 5_000, 15_000) }),
  none: frozen({ schedule: listed() }),
};

/** The background attempts are for remote servers only; the connection ignores them for others. */
export function reconnectPolicy(written: CompleteEntry['reconnect']): ReconnectPolicy {
  if (typeof written === 'string') return presets[written];
  const { background } = written;
  return frozen({ schedule: scheduleOf(written), ...(background && { background }) });
}

function scheduleOf({ background: _, delaysMs, jitter, ...grows }: ReconnectSettings): Schedule {
  if (delaysMs !== undefined) return { delaysMs, jitter };
  const written = Object.entries(grows).filter(([, value]) => value !== undefined);
  return written.length > 0
    ? { ...growing, ...Object.fromEntries(written), jitter }
    : { ...presets.steady.schedule, jitter };
}

/** The policy as an entry writes it. */
export function asEntry(policy: ReconnectPolicy): string | Readonly<Record<string, unknown>> {
  const [preset] = Object.entries(presets).find(([, each]) => each === policy) ?? [];
  return preset ?? { ...policy.schedule, ...(policy.background && { background: policy.background }) };
}

/** A list of delays and a rule for them cannot both be set. */
export function conflictIn(written: CompleteEntry['reconnect'] | undefined): ConfigProblem | undefined {
  if (typeof written !== 'object' || written.delaysMs === undefined) return undefined;
  const other = (['initialMs', 'multiplier', 'maxMs', 'maxAttempts'] as const).find(
    (key) => written[key] !== undefined,
  );
  if (other === undefined) return undefined;
  return {
    severity: 'error',
    path: ['reconnect', other],
    message: `"delaysMs" and "${other}" are both set, so it is unclear how long to wait before each attempt`,
    remedy: 'Keep the list, or the rule with "initialMs", "multiplier", "maxMs" and "maxAttempts".',
  };
}

function frozen({ schedule, background }: ReconnectPolicy): ReconnectPolicy {
  if ('delaysMs' in schedule) Object.freeze(schedule.delaysMs);
  Object.freeze(schedule);
  return Object.freeze(background ? { schedule, background: Object.freeze(background) } : { schedule });
}
