// Owns what is remembered of a fleet's tools from one start to the next: whose, under which key, and who may be shown from it.

import { createKnownTools } from './catalog/known-tools.ts';
import type { Listing } from './catalog/listing.ts';
import type { Clock } from './kernel/clock.ts';
import { settleWithin } from './kernel/settle.ts';
import type { Store } from './kernel/store.ts';
import { RuntimeError } from './model/errors.ts';
import { newestProtocol } from './model/identity.ts';
import type { ServerDefinition } from './model/server.ts';
import { definitionHash } from './trust/fingerprint.ts';
import type { Gate } from './trust/gate.ts';

export interface Memory {
  /** What is there within the time: a disk that is slow costs the memory, not the start. */
  recall(definitions: readonly ServerDefinition[], withinMs: number): Promise<ReadonlyMap<ServerDefinition, Recalled>>;
  /** A disk that is full costs the memory, and nothing else. */
  remember(definition: ServerDefinition, listing: Listing): Promise<void>;
}

export interface Recalled {
  readonly listing: Listing;
  /** Nobody knows the server but the repository that names it. */
  readonly isUnapprovedWorkspaceServer: boolean;
}

export interface MemoryDeps {
  readonly store: Pick<Store, 'get' | 'set' | 'delete'>;
  readonly gate: Pick<Gate, 'judge'>;
  /** Which account a server would see. */
  readonly accountOf: (definition: ServerDefinition) => Promise<string>;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

export function createMemory({ store, gate, accountOf, clock, onError }: MemoryDeps): Memory {
  const knownTools = createKnownTools(store);
  /** The entry as written, the account and the protocol that is spoken: all of it decides what a server answers. */
  const keyOf = async (definition: ServerDefinition) =>
    [newestProtocol, definitionHash(definition), await accountOf(definition)].join(':');
  return {
    async recall(definitions, withinMs) {
      const known = new Map<ServerDefinition, Recalled>();
      const recall = async (definition: ServerDefinition) => {
        const listing = await knownTools.recall(await keyOf(definition));
        if (listing === undefined) return;
        if (listing === 'unreadable')
          return onError(new RuntimeError('STORE_UNREADABLE', { what: toolsOf(definition) }));
        const { kind } = await gate.judge(definition);
        const isUnapprovedWorkspaceServer = kind === 'restricted' && definition.provenance.inWorkspace === true;
        // What nobody vouches for any more is not shown to a model, however well it is remembered.
        if (kind !== 'asks') known.set(definition, { listing, isUnapprovedWorkspaceServer });
      };
      const recalled = definitions.filter(isKept).map((definition) => recall(definition).catch(onError));
      await settleWithin(recalled, { limitMs: withinMs, clock });
      return new Map(known);
    },
    async remember(definition, listing) {
      if (!isKept(definition)) return;
      await keyOf(definition)
        .then((key) => knownTools.remember(key, listing))
        .catch(onError);
    },
  };
}

const toolsOf = ({ name }: ServerDefinition) => `the tools of server "${name}"`;

/** Code of the host is there at once, and may be another one with each start; only where it is to rest is its list needed. */
const isKept = ({ launch, settings: { cacheable, lifecycle } }: ServerDefinition) =>
  cacheable && (launch.kind !== 'in-process' || lifecycle !== 'eager');
