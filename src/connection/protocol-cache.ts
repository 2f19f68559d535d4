// Owns remembering what servers speak, with the date it was found out: which era, and which transport where the entry leaves
// it open. It only saves questions: nothing is lost when it cannot be read or written.

import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { isObject, type JsonObject, parseJson } from '../kernel/json.ts';
import type { Store } from '../kernel/store.ts';
import { limits } from '../model/limits.ts';
import type { Era } from './session.ts';

export interface NegotiatedProtocol {
  readonly era?: Era;
  readonly negotiatedTransport?: 'http' | 'sse';
}

export interface ProtocolCache {
  recall(key: string): Promise<NegotiatedProtocol>;
  /** Known at once, and written a little later, together with others: many servers start at the same time. */
  remember(key: string, verdict: NegotiatedProtocol): void;
  forget(key: string): void;
  /** Writes what is not written yet. */
  flush(): Promise<void>;
}

/** All of them are one text: a write for each server would cost more than its start. */
const KEY = 'spoken';

const nothing: NegotiatedProtocol = {};

export function createProtocolCache(
  store: Pick<Store, 'get' | 'set'>,
  clock: Clock,
  onError: (error: unknown) => void,
): ProtocolCache {
  /** Null for what was forgotten. */
  const news = new Map<string, JsonObject | null>();
  let known: Promise<JsonObject> | undefined;
  let written: Promise<void> = Promise.resolve();
  let cancelWrite: CancelTimer | undefined;

  const isFresh = (value: unknown) =>
    isObject(value) && typeof value['at'] === 'number' && value['at'] + limits.verdictMs > clock.now();
  const read = async (): Promise<JsonObject> => {
    const found = await store.get(KEY).catch((error: unknown) => onError(error));
    const parsed = parseJson(found ?? '{}');
    return parsed.ok && isObject(parsed.value) ? parsed.value : {};
  };
  /** Read again: others may have written meanwhile. */
  const write = async () => {
    const all = { ...(await read()), ...Object.fromEntries(news) };
    const text = JSON.stringify(Object.fromEntries(Object.entries(all).filter(([, value]) => isFresh(value))));
    await store.set(KEY, text, limits.verdictMs).catch((error: unknown) => onError(error));
  };
  const flush = () => {
    if (cancelWrite === undefined) return written;
    cancelWrite();
    cancelWrite = undefined;
    written = written.then(write);
    return written;
  };
  const note = (key: string, value: JsonObject | null) => {
    news.set(key, value);
    cancelWrite ??= clock.after(limits.verdictWriteMs, () => void flush(), 'background');
  };

  return {
    async recall(key) {
      known ??= read();
      const value = news.has(key) ? news.get(key) : (await known)[key];
      return isFresh(value) ? verdictOf(value) : nothing;
    },
    remember: (key, verdict) => note(key, { ...verdict, at: clock.now() }),
    forget: (key) => note(key, null),
    flush,
  };
}

function verdictOf(value: unknown): NegotiatedProtocol {
  const { era, negotiatedTransport } = isObject(value) ? value : {};
  return {
    ...((era === 'legacy' || era === 'modern') && { era }),
    ...((negotiatedTransport === 'http' || negotiatedTransport === 'sse') && { negotiatedTransport }),
  };
}
