// Owns remembering what a server speaks, with the date it was found out: which era, and which transport where the entry leaves
// it open. It only saves questions: nothing is lost when it cannot be read or written.

import type { Clock } from '../kernel/clock.ts';
import { isObject, parseJson } from '../kernel/json.ts';
import type { Store } from '../kernel/store.ts';
import { limits } from '../model/limits.ts';
import type { Era } from './session.ts';

export interface Verdict {
  readonly era?: Era;
  readonly spoken?: 'http' | 'sse';
}

export interface Verdicts {
  recall(key: string): Promise<Verdict>;
  remember(key: string, verdict: Verdict): Promise<void>;
  forget(key: string): Promise<void>;
}

const nothing: Verdict = {};

export function createVerdicts(
  store: Pick<Store, 'get' | 'set' | 'delete'>,
  clock: Clock,
  onError: (error: unknown) => void,
): Verdicts {
  const spokenOf = (key: string) => `spoken:${key}`;
  const harmlessly = (work: Promise<unknown>) => work.then(() => undefined, onError);
  return {
    async recall(key) {
      const found = await store.get(spokenOf(key)).catch((error: unknown) => onError(error));
      const read = parseJson(found ?? '{}');
      return read.ok ? verdictOf(read.value) : nothing;
    },
    remember: (key, verdict) =>
      harmlessly(store.set(spokenOf(key), JSON.stringify({ ...verdict, at: clock.now() }), limits.verdictMs)),
    forget: (key) => harmlessly(store.delete(spokenOf(key))),
  };
}

function verdictOf(value: unknown): Verdict {
  const { era, spoken } = isObject(value) ? value : {};
  return {
    ...((era === 'legacy' || era === 'modern') && { era }),
    ...((spoken === 'http' || spoken === 'sse') && { spoken }),
  };
}
