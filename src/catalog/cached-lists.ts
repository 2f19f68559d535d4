// Owns which stored list is a server's: the key it is stored under, the servers whose lists are kept, and whether a person's word
// lets it be used. What a stored list looks like is left to `lists`: `tool-cache.ts` reads tools, `list-summary.ts` counts them.

import type { Clock } from '../kernel/clock.ts';
import { settleWithin } from '../kernel/settle.ts';
import { RuntimeError } from '../model/errors.ts';
import { newestProtocol } from '../model/identity.ts';
import { limits } from '../model/limits.ts';
import type { ServerDefinition } from '../model/server.ts';
import type { AccountOf, Seal } from '../trust/account.ts';
import { definitionHash } from '../trust/fingerprint.ts';
import type { Gate } from '../trust/gate.ts';

export interface CachedListsDeps<List> {
  readonly lists: {
    /** `undefined` where nothing is stored under the key, or where it has expired. */
    read(key: string): Promise<List | 'unreadable' | undefined>;
  };
  readonly gate: Pick<Gate, 'judge'>;
  readonly accountOf: AccountOf;
  readonly seal: Seal;
  /** Without a key nothing was sealed: a first start has no list to read, and makes no key. */
  readonly hasKey: () => Promise<boolean>;
  /** The client capabilities that the server is told of, as one word: many servers have tools only for clients that can be asked. */
  readonly offerTo: (definition: ServerDefinition) => string;
  /** Every word that `offerTo` may return, in this process or another. */
  readonly offers: readonly string[];
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

export interface Cached<List> {
  readonly listing: List;
  /** Only the repository's file names the server; no person approved it. */
  readonly isUnapprovedWorkspaceServer: boolean;
}

export interface CachedLists<List> {
  /** The lists that could be read within `limits.toolCache.readMs`; `onLate` gets each list that a slower disk delivers. */
  read(
    definitions: readonly ServerDefinition[],
    onLate: (definition: ServerDefinition, cached: Cached<List>) => void,
  ): Promise<ReadonlyMap<ServerDefinition, Cached<List>>>;
  /** The keys of the server's lists, one for each offer. */
  keysOf(definition: ServerDefinition): Promise<(offer: string) => string>;
}

export function createCachedLists<List extends { readonly listedAt: number }>({
  lists,
  gate,
  clock,
  onError,
  ...deps
}: CachedListsDeps<List>): CachedLists<List> {
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
    const listings = found.filter((each): each is Awaited<List> => each !== 'unreadable');
    return listings.sort((a, b) => b.listedAt - a.listedAt)[0] ?? found[0];
  };
  return {
    keysOf,
    async read(definitions, onLate) {
      const cached = new Map<ServerDefinition, Cached<List>>();
      if (!(await deps.hasKey().catch(onError))) return cached;
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
  };
}

/** In-process servers are up at once and may differ from start to start: their list is cached only where they start later. */
export const isCached = ({ launch, settings: { cacheable, lifecycle } }: ServerDefinition): boolean =>
  cacheable && (launch.kind !== 'in-process' || lifecycle !== 'eager');
