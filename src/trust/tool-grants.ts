// Owns what a person allowed for good: this tool, defined so, of this very server. Kept in the person's own store, never in a
// repository. Whether anybody is asked is not its work.

import type { Clock } from '../kernel/clock.ts';
import { isObject, parseJson } from '../kernel/json.ts';
import type { Store } from '../kernel/store.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { ServerDefinition } from '../model/server.ts';
import type { ToolDefinition } from '../model/tool.ts';
import { describeChanges } from './tool-changes.ts';
import { faultOfPin, pinOf, type ToolPin, toolHash } from './tool-pin.ts';

export type GrantState =
  | { readonly kind: 'granted' }
  | { readonly kind: 'unknown' }
  /** Granted before, in another form. */
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
  /** Another server under the same name has nothing; a tool that has changed has nothing, and what changed is told. */
  judge(server: ServerDefinition, tool: ToolDefinition): Promise<GrantState>;
  /** From now on this form of the tool is the granted one. */
  grant(server: ServerDefinition, tool: ToolDefinition): Promise<void>;
  /** Forgets what was granted to servers of that name, or to one tool of them, or to one of these servers; says how many. */
  revoke(server: ServerName, of?: RevokedGrants): Promise<number>;
  /** What was granted under that name, newest last. */
  list(server: ServerName): Promise<readonly ToolGrant[]>;
}

export interface RevokedGrants {
  readonly tool?: string;
  /** All that would be found granted to it, whichever file defined it then, and all that was granted where its file defines it. */
  readonly definition?: ServerDefinition;
}

export interface ToolGrantsOptions {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  /** Tells what would run from everything else that may bear its name. */
  readonly fingerprint: (definition: ServerDefinition) => Promise<string>;
}

/** As it is kept. */
interface StoredGrant extends ToolGrant {
  readonly fingerprint: string;
  readonly pin: ToolPin;
}

/** What was found in the store for one server, by tool. */
interface CachedGrants {
  readonly at: number;
  readonly grants: ReadonlyMap<string, StoredGrant>;
}

export function createToolGrants({ store, clock, fingerprint }: ToolGrantsOptions): ToolGrants {
  // Definitions are frozen values: another file, another object. What this process writes ends what it remembers.
  let known = new WeakMap<ServerDefinition, CachedGrants>();
  let reading = new WeakMap<ServerDefinition, Promise<CachedGrants>>();
  const forget = () => {
    known = new WeakMap();
    reading = new WeakMap();
  };

  const read = async (server: ServerDefinition): Promise<CachedGrants> => {
    const at = clock.now();
    const [mine, kept] = await Promise.all([fingerprint(server), store.get(keyOf(server.name))]);
    const grants = parseGrants(kept).filter((each) => each.fingerprint === mine);
    return { at, grants: new Map(grants.map((each) => [each.tool, each])) };
  };
  /** Many calls at once share one look at the disk. */
  const look = (server: ServerDefinition): Promise<CachedGrants> => {
    const begun = reading.get(server);
    if (begun) return begun;
    const [into, among] = [known, reading];
    const looking = read(server)
      .then((found) => {
        into.set(server, found);
        return found;
      })
      .finally(() => among.delete(server));
    among.set(server, looking);
    return looking;
  };
  const change = async (
    server: ServerName,
    edit: (kept: readonly StoredGrant[]) => readonly StoredGrant[],
  ): Promise<number> => {
    try {
      return await writeThrough(store, keyOf(server), edit);
    } finally {
      forget();
    }
  };

  return {
    async judge(server, tool) {
      const remembered = known.get(server);
      const isFresh = remembered !== undefined && clock.now() - remembered.at < limits.grants.freshMs;
      // Only a yes is taken from memory: whoever would be asked may have been asked elsewhere meanwhile.
      if (isFresh && remembered.grants.get(tool.name)?.pin.hash === toolHash(tool)) return granted;
      const grant = (await look(server)).grants.get(tool.name);
      if (grant === undefined) return { kind: 'unknown' };
      if (grant.pin.hash === toolHash(tool)) return granted;
      return { kind: 'changed', changes: describeChanges(grant.pin, pinOf(tool)) };
    },
    async grant(server, tool) {
      const { name, provenance } = server;
      const fresh: StoredGrant = {
        ...{ server: name, tool: tool.name, fingerprint: await fingerprint(server), pin: pinOf(tool) },
        ...(provenance.file === undefined ? {} : { file: provenance.file }),
        grantedAt: new Date(clock.now()).toISOString(),
      };
      const isSame = (each: StoredGrant) => each.fingerprint === fresh.fingerprint && each.tool === fresh.tool;
      await change(name, (kept) => [...kept.filter((each) => !isSame(each)), fresh].slice(-limits.grants.most));
    },
    async revoke(server, { tool, definition } = {}) {
      const file = definition?.provenance.file;
      const mine = definition && (await fingerprint(definition));
      const isMeant = (each: StoredGrant) =>
        (tool === undefined || each.tool === tool) &&
        (file === undefined || each.file === file || each.fingerprint === mine);
      return change(server, (kept) => kept.filter((each) => !isMeant(each)));
    },
    async list(server) {
      const kept = parseGrants(await store.get(keyOf(server)));
      return kept.map(({ fingerprint: _, pin: __, ...grant }) => grant);
    },
  };
}

const granted: GrantState = { kind: 'granted' };

const keyOf = (server: ServerName) => `grants/${server}`;

/** Says how many there are fewer. Who loses a race has seen somebody else win it, so that few tries are enough. */
async function writeThrough(
  store: Store,
  key: string,
  edit: (kept: readonly StoredGrant[]) => readonly StoredGrant[],
): Promise<number> {
  for (let tries = 0; tries < limits.grants.tries; tries++) {
    const before = await store.get(key);
    const kept = parseGrants(before);
    const edited = edit(kept);
    if (before === undefined && edited.length === 0) return 0;
    if (await store.compareAndSet(key, before, JSON.stringify(edited))) return kept.length - edited.length;
  }
  throw new RuntimeError('INTERNAL', { problem: `${key} is changed by others all the time` });
}

/** What cannot be read grants nothing. */
function parseGrants(text: string | undefined): readonly StoredGrant[] {
  const parsed = parseJson(text ?? '[]');
  return parsed.ok && Array.isArray(parsed.value) ? parsed.value.filter(isStoredGrant) : [];
}

function isStoredGrant(value: unknown): value is StoredGrant {
  return (
    isObject(value) &&
    ['server', 'tool', 'fingerprint', 'grantedAt'].every((field) => typeof value[field] === 'string') &&
    ['string', 'undefined'].includes(typeof value['file']) &&
    faultOfPin(value['pin']) === undefined
  );
}
