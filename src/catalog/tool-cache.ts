// Owns the tool lists that are kept on disk from one start to the next, so that a model has its tools before a server is up:
// under which key a list is stored, how it is written and read back, and for which servers it may be used. How long a list is kept is
// `limits.toolCache`.

import { createHash } from 'node:crypto';
import type { Clock } from '../kernel/clock.ts';
import { isObject, parseJson } from '../kernel/json.ts';
import { settleWithin } from '../kernel/settle.ts';
import type { Store } from '../kernel/store.ts';
import { RuntimeError } from '../model/errors.ts';
import { newestProtocol } from '../model/identity.ts';
import { limits } from '../model/limits.ts';
import type { ServerDefinition } from '../model/server.ts';
import type { AccountOf, Seal } from '../trust/account.ts';
import { definitionHash } from '../trust/fingerprint.ts';
import type { Gate } from '../trust/gate.ts';
import { digestOf } from './definition/digest.ts';
import { healthyTools, listCapabilities, type ToolListing } from './listing.ts';

export interface ToolCache {
  /** The lists that could be read within `limits.toolCache.readMs`; `onLate` gets each list that a slower disk delivers. */
  read(
    definitions: readonly ServerDefinition[],
    onLate: (definition: ServerDefinition, cached: CachedTools) => void,
  ): Promise<ReadonlyMap<ServerDefinition, CachedTools>>;
  /** Forgets the lists of these servers. */
  clear(definitions: readonly ServerDefinition[]): Promise<void>;
  /** Writes a list that has changed. A full disk costs the cache and nothing else. */
  write(definition: ServerDefinition, listing: ToolListing): Promise<void>;
}

export interface CachedTools {
  readonly listing: ToolListing;
  /** Only the repository's file names the server; no person approved it. */
  readonly isUnapprovedWorkspaceServer: boolean;
}

export interface ToolCacheDeps {
  readonly store: Pick<Store, 'get' | 'set' | 'delete'>;
  readonly gate: Pick<Gate, 'judge'>;
  readonly accountOf: AccountOf;
  readonly seal: Seal;
  /** The client capabilities that the server is told of, as one word: many servers have tools only for clients that can be asked. */
  readonly offerTo: (definition: ServerDefinition) => string;
  /** Every word that `offerTo` may return, in this process or another. */
  readonly offers: readonly string[];
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

export function createToolCache({ store, gate, clock, onError, ...deps }: ToolCacheDeps): ToolCache {
  const lists = createStoredLists(store);
  /** The entry as written, the account, the newest protocol version and the offer: each of them decides which tools a server lists. */
  const keysOf = async (definition: ServerDefinition) => {
    const account = await deps.accountOf(definition);
    const entry = [newestProtocol, await deps.seal(definitionHash(definition)), account].join(':');
    return (offer: string) => `${entry}:${offer}`;
  };
  /** The list for this offer. Where there is none, the newest for another one: a terminal and a script show each other's tools. */
  const listOf = async (definition: ServerDefinition) => {
    const keyFor = await keysOf(definition);
    const offer = deps.offerTo(definition);
    const own = await lists.read(keyFor(offer));
    if (own !== undefined) return own;
    const others = deps.offers.filter((each) => each !== offer).map((each) => lists.read(keyFor(each)));
    const found = (await Promise.all(others)).filter((each) => each !== undefined);
    const listings = found.filter((each) => each !== 'unreadable');
    return listings.sort((a, b) => b.listedAt - a.listedAt)[0] ?? found[0];
  };
  return {
    async read(definitions, onLate) {
      const cached = new Map<ServerDefinition, CachedTools>();
      let isLate = false;
      const readOne = async (definition: ServerDefinition) => {
        const listing = await listOf(definition);
        if (listing === undefined) return;
        if (listing === 'unreadable')
          return onError(new RuntimeError('STORE_UNREADABLE', { what: `the tools of server "${definition.name}"` }));
        const { kind } = await gate.judge(definition);
        const isUnapprovedWorkspaceServer = kind === 'restricted' && definition.provenance.inWorkspace === true;
        // Tools of a server that needs an approval again are not shown to a model, even though they are cached.
        if (kind === 'asks') return;
        if (isLate) onLate(definition, { listing, isUnapprovedWorkspaceServer });
        else cached.set(definition, { listing, isUnapprovedWorkspaceServer });
      };
      const reading = definitions.filter(isCached).map((definition) => readOne(definition).catch(onError));
      isLate = !(await settleWithin(reading, { limitMs: limits.toolCache.readMs, clock }));
      return cached;
    },
    async clear(definitions) {
      const cleared = definitions.filter(isCached).map(async (definition) => {
        const keyFor = await keysOf(definition);
        await Promise.all(deps.offers.map((offer) => lists.delete(keyFor(offer))));
      });
      await Promise.all(cleared);
    },
    async write(definition, listing) {
      if (!isCached(definition)) return;
      await keysOf(definition)
        .then((keyFor) => lists.write(keyFor(deps.offerTo(definition)), listing))
        .catch(onError);
    },
  };
}

/** In-process servers are up at once and may differ from start to start: their list is cached only where they start later. */
const isCached = ({ launch, settings: { cacheable, lifecycle } }: ServerDefinition) =>
  cacheable && (launch.kind !== 'in-process' || lifecycle !== 'eager');

export interface StoredLists {
  /** `undefined` where the list was never stored or has expired. A list that cannot be read is deleted. */
  read(key: string): Promise<ToolListing | 'unreadable' | undefined>;
  delete(key: string): Promise<void>;
  /** Writes only when the list differs from the stored one, or the stored one is a day old. */
  write(key: string, listing: ToolListing): Promise<void>;
}

/** Raised whenever the stored form changes: lists of another version are not read. */
const VERSION = 1;

export function createStoredLists(store: Pick<Store, 'get' | 'set' | 'delete'>): StoredLists {
  const stored = new Map<string, ToolListing>();
  const storeKey = (key: string) => `tools:${key}`;
  return {
    async read(key) {
      const text = await store.get(storeKey(key));
      if (text === undefined) return undefined;
      const listing = parseListing(text);
      if (listing) stored.set(key, listing);
      else await store.delete(storeKey(key));
      return listing ?? 'unreadable';
    },
    async delete(key) {
      stored.delete(key);
      await store.delete(storeKey(key));
    },
    async write(key, listing) {
      if (isStored(listing, stored.get(key))) return;
      const { tools, instructions, capabilities, listedAt } = listing;
      const problems = storedProblems(listing.problems);
      const text = JSON.stringify({
        version: VERSION,
        listedAt,
        instructions,
        offers: capabilities,
        problems,
        tools,
      });
      stored.set(key, listing);
      try {
        await store.set(storeKey(key), text, limits.toolCache.keptMs);
      } catch (error) {
        stored.delete(key);
        throw error;
      }
    },
  };
}

/** Compares lists when one is written, not when it is read: a start has no time for it. */
function isStored(listing: ToolListing, before: ToolListing | undefined): boolean {
  if (before === undefined || listing.listedAt - before.listedAt >= limits.toolCache.writeAgainMs) return false;
  return summaryOf(listing) === summaryOf(before);
}

/** A list from the disk is checked as carefully as one from a server. */
function parseListing(text: string): ToolListing | undefined {
  const read = parseJson(text);
  if (!read.ok || !isObject(read.value)) return undefined;
  const { version, tools, listedAt, instructions, offers, problems } = read.value;
  if (version !== VERSION || !Array.isArray(tools) || typeof listedAt !== 'number') return undefined;
  const healthy = healthyTools(tools.slice(0, limits.toolList.items));
  return {
    tools: healthy.tools,
    problems: storedProblems([...(Array.isArray(problems) ? problems : []), ...healthy.problems]),
    listedAt,
    ...(typeof instructions === 'string' && { instructions }),
    ...(Array.isArray(offers) && { capabilities: listCapabilities.filter((each) => offers.includes(each)) }),
  };
}

/** Problems are stored too, because a user asks why a tool is missing long after the list came. */
function storedProblems(problems: readonly unknown[]): readonly string[] {
  const texts = problems.filter((problem) => typeof problem === 'string');
  return texts.slice(0, limits.listProblems + 2).map((text) => text.slice(0, limits.toolCache.problemChars));
}

function summaryOf({ tools, instructions = '', capabilities = [], problems }: ToolListing): string {
  return createHash('sha256')
    .update([...capabilities, instructions, ...storedProblems(problems), ...tools.map(digestOf)].join('\n'))
    .digest('base64');
}
