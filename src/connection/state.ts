// Owns the life of one connection as pure data: which state follows which, and what to do on the way.
// Performs nothing. `connection.ts` runs the effects and feeds back what happened. The table is also the drawing in
// docs/lifecycle.md, which a test holds equal to it.

import type { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Recovery } from './recovery.ts';

export type ConnectionState =
  | { readonly kind: 'idle' }
  /** `pulled`: a call did not want to wait for the timer; the same outage is not pulled a second time. */
  | { readonly kind: 'connecting'; readonly attempt: number; readonly hurried: boolean }
  /** `attempt` is the one that succeeded: a server that dies soon after does not get a fresh set of attempts. */
  | { readonly kind: 'ready'; readonly since: number; readonly attempt: number }
  | {
      readonly kind: 'waiting';
      readonly attempt: number;
      readonly retryAt: number;
      readonly cause: RuntimeError;
      readonly hurried: boolean;
    }
  | { readonly kind: 'blocked'; readonly cause: RuntimeError }
  /** The attempts are used up. A remote server is still tried now and then: `retryAt` says when next. */
  | { readonly kind: 'failed'; readonly attempt: number; readonly cause: RuntimeError; readonly retryAt?: number }
  | { readonly kind: 'closed' };

export type ConnectionInput =
  /** The fleet starts it. */
  | { readonly kind: 'wake' }
  /** A call needs it. `restMs`: how long it must be left alone, because it was started too often of late. */
  | { readonly kind: 'call'; readonly at: number; readonly restMs: number }
  | { readonly kind: 'opened'; readonly at: number }
  /** An attempt failed, or a ready session ended. `proved`: it had answered a call, so its loss is a new story. */
  | {
      readonly kind: 'lost';
      readonly at: number;
      readonly cause: RuntimeError;
      readonly hasServed: boolean;
      readonly restMs: number;
    }
  /** The retry timer ran out. */
  | { readonly kind: 'retry' }
  /** What blocked it is gone: it was trusted, logged in, or its configuration changed. */
  | { readonly kind: 'unblock' }
  /** A person asks for a fresh start, whatever the state. */
  | { readonly kind: 'reconnect' }
  | { readonly kind: 'idle-stop' }
  | { readonly kind: 'close' };

export type ConnectionEffect =
  | { readonly kind: 'open' }
  | { readonly kind: 'schedule-retry'; readonly at: number }
  /** Ends whatever is open or under way, and its timer. */
  | { readonly kind: 'release' };

export type Step = readonly [ConnectionState, ...ConnectionEffect[]];

type Kind = ConnectionState['kind'];
type Variant<Union extends { kind: string }, K extends string> = Extract<Union, { kind: K }>;

/** One arrow of the drawing. Of those that start in the same state with the same input the first that holds is taken. */
interface Arrow<From extends Kind, On extends ConnectionInput['kind'], To extends Kind> {
  readonly from: readonly From[];
  readonly on: On;
  readonly to: To;
  /** What must hold, in words; an arrow without it always does. */
  readonly when?: string;
  readonly take: (
    state: Variant<ConnectionState, From>,
    input: Variant<ConnectionInput, On>,
    recovery: Recovery,
  ) => readonly [Variant<ConnectionState, To>, ...ConnectionEffect[]] | undefined;
}

/** Typed where it is written, plain in the table. */
function arrow<From extends Kind, On extends ConnectionInput['kind'], To extends Kind>(
  each: Arrow<From, On, To>,
): Arrow<Kind, ConnectionInput['kind'], Kind> {
  return each as unknown as Arrow<Kind, ConnectionInput['kind'], Kind>;
}

const release: ConnectionEffect = { kind: 'release' };
const open: ConnectionEffect = { kind: 'open' };
const retryAt = (at: number): ConnectionEffect => ({ kind: 'schedule-retry', at });
const connecting = (attempt: number, hurried = false) => ({ kind: 'connecting', attempt, hurried }) as const;

const alive = ['idle', 'connecting', 'ready', 'waiting', 'blocked', 'failed'] as const;
const up = ['connecting', 'ready'] as const;

export const arrows = [
  arrow({ from: ['idle'], on: 'wake', to: 'connecting', take: () => [connecting(1), open] }),
  arrow({ from: ['idle'], on: 'call', to: 'connecting', take: () => [connecting(1), open] }),
  arrow({
    from: ['connecting'],
    on: 'opened',
    to: 'ready',
    take: ({ attempt }, { at }) => [{ kind: 'ready', since: at, attempt }],
  }),
  arrow({
    from: up,
    on: 'lost',
    to: 'blocked',
    when: 'waiting does not cure it',
    take: (_, { cause }) => (cause.reconnect ? undefined : [{ kind: 'blocked', cause }, release]),
  }),
  arrow({
    from: up,
    on: 'lost',
    to: 'waiting',
    when: 'attempts are left',
    take: (state, { cause, ...input }, recovery) => {
      const { at, restMs } = input;
      const attempt = attemptsUsed(state, input);
      const delay = attempt < limits.attemptsInAll ? recovery.delayFor(attempt) : undefined;
      if (delay === undefined) return undefined;
      const next = at + Math.max(delay, restMs);
      const hurried = state.kind === 'connecting' && state.hurried;
      return [{ kind: 'waiting', attempt, retryAt: next, cause, hurried }, release, retryAt(next)];
    },
  }),
  arrow({
    from: up,
    on: 'lost',
    to: 'failed',
    when: 'the attempts are used up',
    take: (state, { cause, ...input }, recovery) => {
      const { at } = input;
      const attempt = attemptsUsed(state, input);
      const delay = attempt < limits.attemptsInAll ? recovery.backgroundDelayFor(attempt) : undefined;
      if (delay === undefined) return [{ kind: 'failed', attempt, cause }, release];
      return [{ kind: 'failed', attempt, cause, retryAt: at + delay }, release, retryAt(at + delay)];
    },
  }),
  arrow({
    from: ['waiting', 'failed'],
    on: 'retry',
    to: 'connecting',
    take: (state) => [connecting(state.attempt + 1, 'hurried' in state && state.hurried), open],
  }),
  arrow({
    from: ['waiting'],
    on: 'call',
    to: 'connecting',
    when: 'no call has hurried this outage yet, and it was not started too often of late',
    take: (state, { restMs }) =>
      state.hurried || restMs > 0 ? undefined : [connecting(state.attempt + 1, true), release, open],
  }),
  arrow({
    from: ['failed'],
    on: 'call',
    to: 'connecting',
    when: 'its schedule has attempts at all, and it was not started too often of late',
    take: ({ attempt }, { restMs }, { retriesOnCall: obeysCalls }) =>
      restMs > 0 || !obeysCalls ? undefined : [connecting(attempt, true), release, open],
  }),
  arrow({
    from: ['failed'],
    on: 'call',
    to: 'waiting',
    when: 'its schedule has attempts at all, and it was started too often of late',
    take: ({ attempt, cause }, { at, restMs }, { retriesOnCall: obeysCalls }) =>
      obeysCalls
        ? [{ kind: 'waiting', attempt, retryAt: at + restMs, cause, hurried: true }, release, retryAt(at + restMs)]
        : undefined,
  }),
  arrow({ from: ['blocked'], on: 'unblock', to: 'connecting', take: () => [connecting(1), open] }),
  arrow({ from: ['ready'], on: 'idle-stop', to: 'idle', take: () => [{ kind: 'idle' }, release] }),
  arrow({ from: alive, on: 'reconnect', to: 'connecting', take: () => [connecting(1), release, open] }),
  arrow({ from: alive, on: 'close', to: 'closed', take: () => [{ kind: 'closed' }, release] }),
];

export function step(state: ConnectionState, input: ConnectionInput, recovery: Recovery): Step {
  for (const each of arrows) {
    if (each.on !== input.kind || !each.from.includes(state.kind)) continue;
    const taken = each.take(state, input, recovery);
    if (taken) return taken;
  }
  return [state];
}

/** How many attempts this loss has used up: a session that was stable, or did its work, starts them anew. */
function attemptsUsed(
  state: Variant<ConnectionState, 'connecting' | 'ready'>,
  { at, hasServed }: Pick<Variant<ConnectionInput, 'lost'>, 'at' | 'hasServed'>,
): number {
  return state.kind === 'ready' && (hasServed || at - state.since >= limits.stableMs) ? 1 : state.attempt;
}
