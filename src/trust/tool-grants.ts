// Owns the tools that the user has allowed for good, each bound to the tool's definition and to what its server runs. Stored with
// the user's own data, never in a repository. Asking the user is left to others.

import type { Clock } from '../kernel/clock.ts';
import { isObject } from '../kernel/json.ts';
import type { Store } from '../kernel/store.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { ServerDefinition } from '../model/server.ts';
import type { ToolDefinition } from '../model/tool.ts';
import { createSeal } from './account.ts';
import { isFromFile } from './fingerprint.ts';
import { createStoredList, type StoredList } from './stored-list.ts';
import { describeChanges } from './tool-changes.ts';
import { faultOfPin, pinOf, type ToolPin, toolHash } from './tool-pin.ts';

export type GrantState =
  | { readonly kind: 'granted' }
  | { readonly kind: 'unknown' }
  /** Granted before, with another definition. */
  | { readonly kind: 'changed'; readonly changes: readonly string[] };

export interface ToolGrant {
  readonly server: ServerName;
  readonly tool: string;
  /** ISO 8601. */
  readonly grantedAt: string;
  /** The file that defined the server. */
  readonly file?: string;
}

export interface ToolGrants {
  /** A grant does not hold for another server of the same name, nor for a changed tool; the changes are returned. */
  judge(server: ServerDefinition, tool: ToolDefinition): Promise<GrantState>;
  /** Grants this definition of the tool; an earlier one is no longer granted. */
  grant(server: ServerDefinition, tool: ToolDefinition): Promise<void>;
  /** Deletes the grants of servers of that name, of one tool, or of one definition; returns how many. */
  revoke(server: ServerName, only?: RevokedGrants): Promise<number>;
  /** The grants of servers of that name, newest last. */
  list(server: ServerName): Promise<readonly ToolGrant[]>;
}

export interface RevokedGrants {
  readonly tool?: string;
  /** The grants that hold for it, whichever file defined it then, and those given while its file defined it. */
  readonly definition?: ServerDefinition;
}

export interface ToolGrantsOptions {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  /** Identifies what would run, as opposed to other servers of the same name. */
  readonly fingerprint: (definition: ServerDefinition) => Promise<string>;
  /** Grants of an earlier version were rewritten. */
  readonly onRewritten?: (server: ServerName, count: number) => void;
  readonly onError?: (error: unknown) => void;
}

/** As it is stored. */
interface StoredGrant extends ToolGrant {
  /** Sealed; version 1 kept it as it is. */
  readonly fingerprint: string;
  readonly pin: ToolPin;
}

/** The stored grants of one server, by tool, with the time they were read. */
interface CachedGrants {
  readonly at: number;
  readonly grants: ReadonlyMap<string, StoredGrant>;
}

export function createToolGrants(options: ToolGrantsOptions): ToolGrants {
  const { store, clock, onRewritten = ignore, onError = ignore } = options;
  const seal = createSeal(store);
  const fingerprint = async (definition: ServerDefinition) => seal(await options.fingerprint(definition));
  const list = createStoredList<StoredGrant, StoredGrant>({
    store,
    isItem: isStoredGrant,
    isOld: isStoredGrant,
    renew: async (grant) => ({ ...grant, fingerprint: await seal(grant.fingerprint) }),
    onRewritten: (key, items) => onRewritten(key.slice(keyOf('').length), items.length),
    onError,
  });
  // Definitions are frozen values, so each keys its own entry. A write of this process empties the cache.
  let cache = new WeakMap<ServerDefinition, CachedGrants>();
  let reading = new WeakMap<ServerDefinition, Promise<CachedGrants>>();
  const forget = () => {
    cache = new WeakMap();
    reading = new WeakMap();
  };

  const read = async (server: ServerDefinition): Promise<CachedGrants> => {
    const at = clock.now();
    const stored = await list.read(keyOf(server.name));
    if (stored.length === 0) return { at, grants: new Map() };
    const current = await fingerprint(server);
    const grants = stored.filter((each) => each.fingerprint === current && isFromFile(each, server));
    return { at, grants: new Map(grants.map((each) => [each.tool, each])) };
  };
  /** Calls at the same time share one read of the store. */
  const readOnce = (server: ServerDefinition): Promise<CachedGrants> => {
    const started = reading.get(server);
    if (started) return started;
    // A write meanwhile replaces both maps: this read then fills only the old ones.
    const [cacheThen, readingThen] = [cache, reading];
    const result = read(server)
      .then((grants) => {
        cacheThen.set(server, grants);
        return grants;
      })
      .finally(() => readingThen.delete(server));
    readingThen.set(server, result);
    return result;
  };
  const change = async (
    server: ServerName,
    edit: (grants: readonly StoredGrant[]) => readonly StoredGrant[],
  ): Promise<number> => {
    try {
      return await writeThrough({ store, list }, keyOf(server), edit);
    } finally {
      forget();
    }
  };

  return {
    async judge(server, tool) {
      const cached = cache.get(server);
      const isFresh = cached !== undefined && isYoung(clock.now() - cached.at);
      // Only a yes is taken from the cache: before the user is asked, another process may have stored an answer.
      if (isFresh && cached.grants.get(tool.name)?.pin.hash === toolHash(tool)) return granted;
      const grant = (await readOnce(server)).grants.get(tool.name);
      if (grant === undefined) return { kind: 'unknown' };
      if (grant.pin.hash === toolHash(tool)) return granted;
      return { kind: 'changed', changes: describeChanges(grant.pin, pinOf(tool)) };
    },
    async grant(server, tool) {
      const { name, provenance } = server;
      const fresh: StoredGrant = {
        server: name,
        tool: tool.name,
        fingerprint: await fingerprint(server),
        pin: pinOf(tool),
        ...(provenance.file === undefined ? {} : { file: provenance.file }),
        grantedAt: new Date(clock.now()).toISOString(),
      };
      const isSame = (each: StoredGrant) =>
        each.fingerprint === fresh.fingerprint && each.tool === fresh.tool && isFromFile(each, server);
      await change(name, (grants) => [...grants.filter((each) => !isSame(each)), fresh].slice(-limits.grants.most));
    },
    async revoke(server, { tool, definition } = {}) {
      const file = definition?.provenance.file;
      const current = definition && (await fingerprint(definition));
      const isRevoked = (each: StoredGrant) =>
        (tool === undefined || each.tool === tool) &&
        (definition === undefined ||
          each.file === file ||
          (each.fingerprint === current && isFromFile(each, definition)));
      return change(server, (grants) => grants.filter((each) => !isRevoked(each)));
    },
    async list(server) {
      const stored = await list.read(keyOf(server));
      return stored.map(({ fingerprint: _, pin: __, ...grant }) => grant);
    },
  };
}

const granted: GrantState = { kind: 'granted' };
const ignore = () => undefined;

/** A negative age is stale: the clock was set back, so nothing is known of the time since. */
const isYoung = (ageMs: number) => ageMs >= 0 && ageMs < limits.grants.freshMs;

const keyOf = (server: ServerName) => `grants/${server}`;

/** Returns how many grants were removed. Each lost race means that another writer succeeded, so a few tries are enough. */
async function writeThrough(
  { store, list }: { readonly store: Store; readonly list: StoredList<StoredGrant> },
  key: string,
  edit: (grants: readonly StoredGrant[]) => readonly StoredGrant[],
): Promise<number> {
  for (let tries = 0; tries < limits.grants.tries; tries++) {
    const before = await store.get(key);
    const stored = await list.parse(before);
    const edited = edit(stored);
    if (before === undefined && edited.length === 0) return 0;
    if (await store.compareAndSet(key, before, list.format(edited))) return stored.length - edited.length;
  }
  throw new RuntimeError('INTERNAL', { problem: `${key} could not be written: other processes keep changing it` });
}

function isStoredGrant(value: unknown): value is StoredGrant {
  return (
    isObject(value) &&
    ['server', 'tool', 'fingerprint', 'grantedAt'].every((field) => typeof value[field] === 'string') &&
    ['string', 'undefined'].includes(typeof value['file']) &&
    faultOfPin(value['pin']) === undefined
  );
}
