// Owns the pings to a quiet server: one timer that both detects a server that is gone and keeps alive a connection that would
// be closed for inactivity. Modern servers are not pinged: their protocol has no session and no ping.

import type { Clock } from '../kernel/clock.ts';
import type { HealthPolicy } from '../model/server.ts';
import { requestWithin } from './request-within.ts';
import type { Session } from './session.ts';

export interface HealthOptions {
  readonly policy: HealthPolicy;
  readonly keepAliveMs: number;
  readonly clock: Clock;
}

const METHOD_NOT_FOUND = -32601;

/** Returns how to stop. */
export function watchHealth(session: Session, { policy, keepAliveMs, clock }: HealthOptions): () => void {
  const isRemote = session.transport !== 'stdio' && session.transport !== 'in-process';
  const countsFailures = policy.mode === 'all' || (policy.mode === 'remote' && isRemote);
  const periods = [countsFailures ? policy.intervalMs : 0, isRemote ? keepAliveMs : 0].filter((ms) => ms > 0);
  if (session.era === 'modern' || periods.length === 0) return () => undefined;

  const everyMs = Math.min(...periods);
  let failures = 0;
  let isStopped = false;
  let cancel = clock.after(everyMs, () => void check(), 'background');
  const check = async () => {
    const isAlive = session.takeActivity() || (await ping(session, policy.timeoutMs, clock));
    // The response to a ping is not activity: it must not replace the next ping.
    session.takeActivity();
    if (isStopped || isAlive === 'unknown-method') return;
    // A single-threaded server cannot answer a ping during a call, and the call has its own timeout.
    failures = isAlive || session.usage().isBusy ? 0 : failures + 1;
    if (countsFailures && failures >= policy.failures) session.markLost(`it did not answer ${failures} pings in a row`);
    else cancel = clock.after(everyMs, () => void check(), 'background');
  };
  return () => {
    isStopped = true;
    cancel();
  };
}

/** Any response is a sign of life. A server without `ping` is not pinged again. */
async function ping(session: Session, timeoutMs: number, clock: Clock): Promise<boolean | 'unknown-method'> {
  const outcome = await requestWithin(timeoutMs, { session, clock }, 'ping', {});
  if (outcome?.kind === 'error' && outcome.code === METHOD_NOT_FOUND) return 'unknown-method';
  return outcome !== undefined && outcome.kind !== 'lost';
}
