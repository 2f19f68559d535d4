// Owns the state machine of one connection as pure data: which state follows which input, and with which effects.
// `connection.ts` runs the effects and feeds back what happened. docs/lifecycle.md shows the same table, and a test keeps the
// two equal. Users read `waiting` as "reconnecting" (`status.ts`); which errors block is `reconnect` in `model/errors.ts`.

import type { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Recovery } from './recovery.ts';

export type ConnectionState =
  | { readonly kind: 'idle' }
  /** `hurried`: a call brought an attempt forward; that happens once in an outage. */
  | { readonly kind: 'connecting'; readonly attempt: number; readonly hurried: boolean }
  /** `attempt`: the one that succeeded. A server that dies soon afterwards does not get a fresh set of attempts. */
  | { readonly kind: 'ready'; readonly since: number; readonly attempt: number }
  | {
      readonly kind: 'waiting';
      readonly attempt: number;
      readonly retryAt: number;
      readonly cause: RuntimeError;
      readonly hurried: boolean;
    }
  | { readonly kind: 'blocked'; readonly cause: RuntimeError }
  /** The schedule is used up. A remote server is still retried in the background, next at `retryAt`. */
  | { readonly kind: 'failed'; readonly attempt: number; readonly cause: RuntimeError; readonly retryAt?: number }
  | { readonly kind: 'closed' };

export type ConnectionInput =
  /** The runtime starts the server. */
  | { readonly kind: 'wake' }
  /** A call needs the session. `restMs`: how long no restart is allowed, because there were too many of late. */
  | { readonly kind: 'call'; readonly at: number; readonly restMs: number }
  | { readonly kind: 'opened'; readonly at: number }
  /** An attempt failed, or a ready session ended. `hasServed`: the session had answered a call, so its attempts count anew. */
  | {
      readonly kind: 'lost';
      readonly at: number;
      readonly cause: RuntimeError;
      readonly hasServed: boolean;
      readonly restMs: number;
    }
  /** The retry timer ran out. */
  | { readonly kind: 'retry' }
  /** The reason for the block may be gone: the server was approved, a person logged in, or its configuration changed. */
  | { readonly kind: 'unblock' }
  /** A person asks for a fresh start, from any state. */
  | { readonly kind: 'reconnect' }
  /** The entry changed in something that decides the process or the connection, or its server was approved. */
  | { readonly kind: 'restart' }
  /** The connection is not needed any more; its calls may finish. */
  | { readonly kind: 'retire' }
  | { readonly kind: 'idle-stop' }
  | { readonly kind: 'close' };

export type ConnectionEffect =
  | { readonly kind: 'open' }
  | { readonly kind: 'schedule-retry'; readonly at: number }
  /** Ends the open session at once, the attempt in progress and the retry timer; a former session that still drains, too. */
  | { readonly kind: 'release' }
  /** The same, except that calls in flight may finish, for a while: the session ends after them. */
  | { readonly kind: 'drain' };

export type Step = readonly [ConnectionState, ...ConnectionEffect[]];

type Kind = ConnectionState['kind'];
type Variant<Union extends { kind: string }, K extends string> = Extract<Union, { kind: K }>;

/** One transition. If several match the same state and input, the first whose `take` returns a state is taken. */
interface Arrow<From extends Kind, On extends ConnectionInput['kind'], To extends Kind> {
  readonly from: readonly From[];
  readonly on: On;
  readonly to: To;
  /** The condition in words, for the documentation; absent if there is none. */
  readonly when?: string;
  readonly take: (
    state: Variant<ConnectionState, From>,
    input: Variant<ConnectionInput, On>,
    recovery: Recovery,
  ) => readonly [Variant<ConnectionState, To>, ...ConnectionEffect[]] | undefined;
}

/** Checks the types of each arrow by its own states; the table holds them all as one type. */
function arrow<From extends Kind, On extends ConnectionInput['kind'], To extends Kind>(
  each: Arrow<From, On, To>,
): Arrow<Kind, ConnectionInput['kind'], Kind> {
  return each as unknown as Arrow<Kind, ConnectionInput['kind'], Kind>;
}

const release: ConnectionEffect = { kind: 'release' };
const drain: ConnectionEffect = { kind: 'drain' };
const open: ConnectionEffect = { kind: 'open' };
const retryAt = (at: number): ConnectionEffect => ({ kind: 'schedule-retry', at });
const connecting = (attempt: number, hurried = false) => ({ kind: 'connecting', attempt, hurried }) as const;

const alive = ['idle', 'connecting', 'ready', 'waiting', 'blocked', 'failed'] as const;
const up = ['connecting', 'ready'] as const;
const begun = ['connecting', 'ready', 'waiting', 'blocked', 'failed'] as const;

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
  arrow({ from: begun, on: 'restart', to: 'connecting', take: () => [connecting(1), drain, open] }),
  arrow({ from: alive, on: 'retire', to: 'closed', take: () => [{ kind: 'closed' }, drain] }),
  arrow({ from: alive, on: 'close', to: 'closed', take: () => [{ kind: 'closed' }, release] }),
];

export function step(state: ConnectionState, input: ConnectionInput, recovery: Recovery): Step {
  for (const each of arrows) {
    if (each.on !== input.kind || !each.from.includes(state.kind)) continue;
    const next = each.take(state, input, recovery);
    if (next) return next;
  }
  return [state];
}

/** How many attempts are used up after this loss. A session that was stable, or had answered a call, resets the count. */
function attemptsUsed(
  state: Variant<ConnectionState, 'connecting' | 'ready'>,
  { at, hasServed }: Pick<Variant<ConnectionInput, 'lost'>, 'at' | 'hasServed'>,
): number {
  return state.kind === 'ready' && (hasServed || at - state.since >= limits.stableMs) ? 1 : state.attempt;
}
