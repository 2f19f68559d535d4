// Owns asking a quiet server for a sign of life: one scheduler, which finds out who is gone and keeps open what would be
// closed for silence. Servers of the modern era are never asked: they have no session and no ping.

import { Cancellation } from '../kernel/cancellation.ts';
import type { Clock } from '../kernel/clock.ts';
import type { HealthPolicy } from '../model/server.ts';
import type { Session } from './session.ts';

export interface HealthOptions {
  readonly policy: HealthPolicy;
  readonly keepAliveMs: number;
  readonly clock: Clock;
}

const METHOD_NOT_FOUND = -32601;
const SILENCE = new Error('no answer in time');

/** Returns how to stop. */
export function watchHealth(session: Session, { policy, keepAliveMs, clock }: HealthOptions): () => void {
  const isRemote = session.transport !== 'stdio' && session.transport !== 'in-process';
  const counts = policy.mode === 'all' || (policy.mode === 'remote' && isRemote);
  const periods = [counts ? policy.intervalMs : 0, isRemote ? keepAliveMs : 0].filter((ms) => ms > 0);
  if (session.era === 'modern' || periods.length === 0) return () => undefined;

  const everyMs = Math.min(...periods);
  let failures = 0;
  let isOver = false;
  let cancel = clock.after(everyMs, () => void look(), 'background');
  const look = async () => {
    const isAlive = session.takeActivity() || (await ping(session, policy.timeoutMs, clock));
    // The answer to a ping is no traffic: it must not stand in for the next one.
    session.takeActivity();
    if (isOver || isAlive === 'unknown-method') return;
    // A server with one hand cannot answer while it works: the call has limits of its own.
    failures = isAlive || session.usage().isBusy ? 0 : failures + 1;
    if (counts && failures >= policy.failures) session.markLost(`it did not answer ${failures} pings in a row`);
    else cancel = clock.after(everyMs, () => void look(), 'background');
  };
  return () => {
    isOver = true;
    cancel();
  };
}

/** Any answer is a sign of life; one that knows no ping is not asked again. */
async function ping(session: Session, timeoutMs: number, clock: Clock): Promise<boolean | 'unknown-method'> {
  const cancellation = new Cancellation();
  const cancel = clock.after(timeoutMs, () => cancellation.cancel(SILENCE), 'background');
  try {
    const answer = await session.request('ping', {}, { cancellation, repeatable: true });
    if (answer.kind === 'error' && answer.code === METHOD_NOT_FOUND) return 'unknown-method';
    return answer.kind !== 'lost';
  } catch (error) {
    if (error === SILENCE) return false;
    throw error;
  } finally {
    cancel();
  }
}
