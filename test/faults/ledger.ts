// Owns the account of all calls: each one begins, ends in one of four ways, and a write that was made is made once.
// Knows no test framework, and keeps nothing of what was answered: the soak uses it for millions of calls.

import { RuntimeError } from '../../src/model/errors.ts';
import type { ToolOutcome } from '../../src/model/tool.ts';

export type Ending =
  | { readonly kind: 'answered'; readonly outcome: ToolOutcome }
  | { readonly kind: 'failed' | 'unknown'; readonly error: RuntimeError }
  | { readonly kind: 'aborted' };

export interface Counts {
  readonly started: number;
  readonly answered: number;
  readonly failed: number;
  readonly unknown: number;
  readonly aborted: number;
}

/** What a call may have been thought of while it ran: its effect, and how the caller may have ended it. */
export interface CallTraits {
  readonly what: string;
  /** The text of a write, by which its effects are found. */
  readonly effect?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** After these nobody may say whether there was an effect. */
const uncertain = new Set(['OUTCOME_UNKNOWN', 'CALL_TIMEOUT', 'CALL_CANCELLED']);
/** This comes after an answer that was too large to be read: it was done, and says so. */
const done = 'MESSAGE_TOO_LARGE';
/** These come after an answer that could not be used: there may well have been an effect. */
const unusable = new Set(['RESULT_BROKEN', 'PROTOCOL_BROKEN']);

/** What the caller was told of a write: made, not made, or anything may be. */
type Claim = 'made' | 'not made' | 'anything';

export class Ledger {
  readonly #counts = { started: 0, answered: 0, failed: 0, unknown: 0, aborted: 0 };
  readonly #open = new Set<string>();
  readonly #claims = new Map<string, { readonly what: string; readonly claim: Claim; readonly code: string }>();
  readonly #codes = new Map<string, number>();
  readonly #problems: string[] = [];

  /** Never rejects but with what is a problem in itself: what a call came to is a value. */
  async record(traits: CallTraits, work: Promise<ToolOutcome>): Promise<Ending> {
    const key = `${traits.what} #${++this.#counts.started}`;
    this.#open.add(key);
    const ending = await work.then(
      (outcome): Ending => ({ kind: 'answered', outcome }),
      (error: unknown) => this.#failure(traits, error),
    );
    this.#open.delete(key);
    this.#counts[ending.kind] += 1;
    const code = 'error' in ending ? ending.error.code : ending.kind;
    this.#codes.set(code, (this.#codes.get(code) ?? 0) + 1);
    if (traits.effect !== undefined)
      this.#claims.set(traits.effect, { what: traits.what, claim: claimOf(ending), code });
    return ending;
  }

  get counts(): Counts {
    return { ...this.#counts };
  }

  /** How often calls ended in which way, most frequent first. */
  get codes(): Record<string, number> {
    return Object.fromEntries([...this.#codes].sort(([, one], [, other]) => other - one));
  }

  /** What is wrong with the account, given every effect that really happened. */
  problems(effects: readonly string[]): string[] {
    const times = new Map<string, number>();
    for (const effect of effects) times.set(effect, (times.get(effect) ?? 0) + 1);
    const wrong = [...this.#claims].flatMap(([effect, { what, claim, code }]) => {
      const count = times.get(effect) ?? 0;
      if (count > 1) return [`${what} took effect ${count} times (${code})`];
      if (claim === 'made' && count === 0) return [`${what} was answered but never took effect`];
      return claim === 'not made' && count === 1 ? [`${what} took effect although ${code} says it was not done`] : [];
    });
    return [...this.#problems, ...[...this.#open].map((key) => `${key} never settled`), ...wrong];
  }

  #failure({ what, signal }: CallTraits, error: unknown): Ending {
    if (signal?.aborted && error === signal.reason) return { kind: 'aborted' };
    if (!(error instanceof RuntimeError)) {
      this.#problems.push(`${what} ended in what is no RuntimeError: ${error instanceof Error ? error.stack : error}`);
      throw error;
    }
    if (error.remedy === 'report-bug') this.#problems.push(`${what} ended in our own bug: ${error.message}`);
    if (error.message === '' || !error.remedy) this.#problems.push(`${what} failed without a remedy: ${error.code}`);
    return { kind: uncertain.has(error.code) ? 'unknown' : 'failed', error };
  }
}

function claimOf(ending: Ending): Claim {
  if (ending.kind === 'answered') return ending.outcome.isError ? 'anything' : 'made';
  if (ending.kind === 'failed' && ending.error.code === done) return 'made';
  return ending.kind === 'failed' && !unusable.has(ending.error.code) ? 'not made' : 'anything';
}
