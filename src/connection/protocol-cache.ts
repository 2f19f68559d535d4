// Owns the cache of negotiated protocols: each server's era, and its transport if the entry leaves that open. It only saves
// the probing at the next start: nothing is lost if it cannot be read or written.

import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { isObject, type JsonObject, parseJson, sameJson } from '../kernel/json.ts';
import type { Store } from '../kernel/store.ts';
import { limits } from '../model/limits.ts';
import type { Seal } from '../trust/account.ts';
import type { Era } from './session.ts';

export interface NegotiatedProtocol {
  readonly era?: Era;
  readonly negotiatedTransport?: 'http' | 'sse';
}

export interface ProtocolCache {
  recall(key: string): Promise<NegotiatedProtocol>;
  /** Recalled at once, but written later together with others, since many servers start at the same time. */
  remember(key: string, protocol: NegotiatedProtocol): void;
  forget(key: string): void;
  /** Writes pending changes. */
  flush(): Promise<void>;
}

/** All servers share one stored value: a write for each would cost more than its start. */
const KEY = 'protocols';

const nothing: NegotiatedProtocol = {};

export interface ProtocolCacheDeps {
  readonly store: Pick<Store, 'get' | 'set'>;
  /** Keys are stored sealed: they are hashes of entries, which may hold secrets. */
  readonly seal: Seal;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

export function createProtocolCache({ store, seal, clock, onError }: ProtocolCacheDeps): ProtocolCache {
  /** Changes since the store was read; null for a forgotten server. */
  const changes = new Map<string, JsonObject | null>();
  /** Protocols that were found in the store. */
  const recalled = new Map<string, JsonObject>();
  let stored: Promise<JsonObject> | undefined;
  let written: Promise<void> = Promise.resolve();
  let cancelWrite: CancelTimer | undefined;

  const isFresh = (value: unknown, forMs = limits.protocolCacheMs): value is JsonObject =>
    isObject(value) && typeof value['at'] === 'number' && value['at'] + forMs > clock.now();
  const read = async (): Promise<JsonObject> => {
    const text = await store.get(KEY).catch((error: unknown) => onError(error));
    const parsed = parseJson(text ?? '{}');
    return parsed.ok && isObject(parsed.value) ? parsed.value : {};
  };
  const unknown = (error: unknown) => {
    onError(error);
    return '';
  };
  /** An empty store needs no seal: a first start makes no key. */
  const find = async (key: string, all: JsonObject) =>
    Object.keys(all).length === 0 ? undefined : all[await seal(key).catch(unknown)];
  /** Reads again before writing: another process may have written meanwhile. */
  const write = async () => {
    const changed = await Promise.all([...changes].map(async ([key, value]) => [await seal(key), value] as const));
    const all = { ...(await read()), ...Object.fromEntries(changed) };
    const text = JSON.stringify(Object.fromEntries(Object.entries(all).filter(([, value]) => isFresh(value))));
    await store.set(KEY, text, limits.protocolCacheMs);
  };
  const flush = () => {
    if (cancelWrite === undefined) return written;
    cancelWrite();
    cancelWrite = undefined;
    written = written.then(write).catch(onError);
    return written;
  };
  const note = (key: string, value: JsonObject | null) => {
    changes.set(key, value);
    cancelWrite ??= clock.after(limits.cacheWriteMs, () => void flush(), 'background');
  };

  return {
    async recall(key) {
      stored ??= read();
      const value = changes.has(key) ? changes.get(key) : await find(key, await stored);
      if (!isFresh(value)) return nothing;
      recalled.set(key, value);
      return protocolOf(value);
    },
    remember(key, protocol) {
      const before = recalled.get(key);
      // A protocol that is stored already is written again only so that it does not expire.
      if (isFresh(before, limits.protocolCacheMs / 2) && sameJson(protocolOf(before), withoutGaps(protocol))) return;
      const { era, negotiatedTransport } = protocol;
      note(key, { ...(era && { era }), ...(negotiatedTransport && { spoken: negotiatedTransport }), at: clock.now() });
    },
    forget(key) {
      recalled.delete(key);
      note(key, null);
    },
    flush,
  };
}

const withoutGaps = ({ era, negotiatedTransport }: NegotiatedProtocol): NegotiatedProtocol => ({
  ...(era && { era }),
  ...(negotiatedTransport && { negotiatedTransport }),
});

/** The stored form, in which the negotiated transport is called `spoken`. */
function protocolOf(value: unknown): NegotiatedProtocol {
  const { era, spoken } = isObject(value) ? value : {};
  return {
    ...((era === 'legacy' || era === 'modern') && { era }),
    ...((spoken === 'http' || spoken === 'sse') && { negotiatedTransport: spoken }),
  };
}
