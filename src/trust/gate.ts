// Owns whether a definition may start at all, and what of the person's it may see: by who wrote it, and by what a person
// approved. Asking the person is not its work.

import type { Clock } from '../kernel/clock.ts';
import { isObject, parseJson } from '../kernel/json.ts';
import type { Store } from '../kernel/store.ts';
import type { ServerName } from '../model/names.ts';
import type { Scope, ServerDefinition } from '../model/server.ts';
import { differences, type LaunchIdentity, trustFingerprint } from './fingerprint.ts';

export type Judgement =
  /** The person's own: it starts, and sees what its entry names. */
  | { readonly kind: 'own' }
  /** Approved as it is: it starts, and sees of the person's variables those that were given with the approval. */
  | { readonly kind: 'approved'; readonly grants: readonly string[] }
  /** It starts nothing on this machine, or the person brought it: it may be reached, with nothing of the person's. */
  | { readonly kind: 'restricted' }
  | { readonly kind: 'asks'; readonly changes: readonly string[]; readonly identity: LaunchIdentity };

/** What was approved, kept so that a later version of the entry can be shown beside it. */
export interface Approval {
  readonly fingerprint: string;
  readonly name: ServerName;
  readonly identity: LaunchIdentity;
  /** The person's variables that it may read. */
  readonly grants: readonly string[];
  readonly file?: string;
  /** ISO 8601. */
  readonly approvedAt: string;
}

export interface Gate {
  /** Tells what would run from everything else that may bear its name. */
  fingerprint(definition: ServerDefinition): Promise<string>;
  judge(definition: ServerDefinition): Promise<Judgement>;
  /** Binds the approval to what was judged, which is what the person was shown; otherwise to the definition as it would run now. */
  approve(definition: ServerDefinition, grants?: readonly string[], judged?: LaunchIdentity): Promise<void>;
  /**
   * Forgets what was approved under that name: of a definition, all that would let it start, whichever file defined it then, and
   * all that its own file had approved; without one, everything. Says whether there was anything.
   */
  revoke(name: ServerName, definition?: ServerDefinition): Promise<boolean>;
  /** What was approved under that name, newest last. */
  approvals(name: ServerName): Promise<readonly Approval[]>;
}

export interface GateOptions {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  readonly isOwnScope: (scope: Scope) => boolean;
  readonly identityOf: (definition: ServerDefinition) => Promise<LaunchIdentity>;
}

export function createGate({ store, clock, isOwnScope, identityOf }: GateOptions): Gate {
  const approvals = async (name: ServerName) => parseApprovals(await store.get(keyOf(name)));

  return {
    approvals,
    fingerprint: async (definition) => trustFingerprint(await identityOf(definition)),
    async judge(definition) {
      const { name, launch, provenance } = definition;
      if (isOwnScope(provenance.scope)) return { kind: 'own' };
      const remembered = await approvals(name);
      const mayGoOn = launch.kind !== 'stdio' || !provenance.inWorkspace;
      if (remembered.length === 0 && mayGoOn) return { kind: 'restricted' };
      const identity = await identityOf(definition);
      const present = trustFingerprint(identity);
      const approval = remembered.find((each) => each.fingerprint === present);
      if (approval) return { kind: 'approved', grants: approval.grants };
      if (mayGoOn) return { kind: 'restricted' };
      // Another workspace's server of the same name is another server: it has not changed, it is new.
      const before = remembered.findLast((each) => each.file === provenance.file);
      return { kind: 'asks', changes: before ? differences(before.identity, identity) : [], identity };
    },
    async approve(definition, grants = [], judged) {
      const identity = judged ?? (await identityOf(definition));
      const approval = approvalOf(definition, identity, grants, clock.now());
      const key = keyOf(definition.name);
      for (let written = false; !written; ) {
        const before = await store.get(key);
        const others = parseApprovals(before).filter((each) => each.fingerprint !== approval.fingerprint);
        written = await store.compareAndSet(key, before, JSON.stringify([...others, approval].slice(-MOST_APPROVALS)));
      }
    },
    async revoke(name, definition) {
      const file = definition?.provenance.file;
      const present = definition && trustFingerprint(await identityOf(definition));
      const isMeant = (each: Approval) => file === undefined || each.file === file || each.fingerprint === present;
      for (;;) {
        const before = await store.get(keyOf(name));
        if (before === undefined) return false;
        const known = parseApprovals(before);
        const others = known.filter((each) => !isMeant(each));
        if (await store.compareAndSet(keyOf(name), before, JSON.stringify(others))) return others.length < known.length;
      }
    },
  };
}

/** Of one name, in all folders; an entry that changes daily must not grow its file for ever. */
const MOST_APPROVALS = 100;

const keyOf = (name: ServerName) => `approvals/${name}`;

function approvalOf(
  { name, provenance }: ServerDefinition,
  identity: LaunchIdentity,
  grants: readonly string[],
  now: number,
): Approval {
  return {
    fingerprint: trustFingerprint(identity),
    name,
    identity,
    grants,
    ...(provenance.file === undefined ? {} : { file: provenance.file }),
    approvedAt: new Date(now).toISOString(),
  };
}

/** What cannot be read approves nothing. */
function parseApprovals(text: string | undefined): readonly Approval[] {
  const parsed = parseJson(text ?? '[]');
  return parsed.ok && Array.isArray(parsed.value) ? parsed.value.filter(isApproval) : [];
}

function isApproval(value: unknown): value is Approval {
  return (
    isObject(value) &&
    typeof value['fingerprint'] === 'string' &&
    isObject(value['essence']) &&
    Object.values(value['essence']).every(isText) &&
    Array.isArray(value['grants']) &&
    value['grants'].every(isText)
  );
}

const isText = (value: unknown) => typeof value === 'string';
