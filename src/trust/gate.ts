// Owns whether a server definition may start, and which of the user's variables it may read: by the scope it comes from, and by
// the user's stored approvals. Asking the user is left to others.

import type { Clock } from '../kernel/clock.ts';
import { isObject, parseJson } from '../kernel/json.ts';
import type { Store } from '../kernel/store.ts';
import type { ServerName } from '../model/names.ts';
import type { Scope, ServerDefinition } from '../model/server.ts';
import { differences, isFromFile, type LaunchIdentity, trustFingerprint } from './fingerprint.ts';

export type Judgement =
  /** From the user's own configuration: the server starts and may read every variable its entry names. */
  | { readonly kind: 'own' }
  /** Approved exactly as it is: the server starts and may read the user's variables granted with the approval. */
  | { readonly kind: 'approved'; readonly grants: readonly string[] }
  /** Not approved, but it runs no process from the workspace: the server may be used, with none of the user's variables. */
  | { readonly kind: 'restricted' }
  | { readonly kind: 'asks'; readonly changes: readonly string[]; readonly identity: LaunchIdentity };

/** One stored approval. The launch identity is kept so that a changed entry can be compared with it. */
export interface Approval {
  readonly fingerprint: string;
  readonly name: ServerName;
  readonly identity: LaunchIdentity;
  /** The user's variables that the server may read. */
  readonly grants: readonly string[];
  readonly file?: string;
  /** ISO 8601. */
  readonly approvedAt: string;
}

export interface Gate {
  /** Identifies what would run, as opposed to other servers of the same name. */
  fingerprint(definition: ServerDefinition): Promise<string>;
  judge(definition: ServerDefinition): Promise<Judgement>;
  /** Binds the approval to `judged`, which is what the user was shown; without it, to the definition as it would run now. */
  approve(definition: ServerDefinition, grants?: readonly string[], judged?: LaunchIdentity): Promise<void>;
  /**
   * Deletes approvals of that name. With a definition: those that would let it start, whichever file defined it then, and those
   * given to its own file. Without one: all. Returns whether there were any.
   */
  revoke(name: ServerName, definition?: ServerDefinition): Promise<boolean>;
  /** The approvals of that name, newest last. */
  approvals(name: ServerName): Promise<readonly Approval[]>;
}

export interface GateOptions {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  readonly isOwnScope: (scope: Scope) => boolean;
  readonly identityOf: (definition: ServerDefinition) => Promise<LaunchIdentity>;
}

export function createTrustGate({ store, clock, isOwnScope, identityOf }: GateOptions): Gate {
  const approvals = async (name: ServerName) => parseApprovals(await store.get(keyOf(name)));

  return {
    approvals,
    fingerprint: async (definition) => trustFingerprint(await identityOf(definition)),
    async judge(definition) {
      const { name, launch, provenance } = definition;
      if (isOwnScope(provenance.scope)) return { kind: 'own' };
      const stored = await approvals(name);
      const isUsableUnapproved = launch.kind !== 'stdio' || !provenance.inWorkspace;
      if (stored.length === 0 && isUsableUnapproved) return { kind: 'restricted' };
      const identity = await identityOf(definition);
      const fingerprint = trustFingerprint(identity);
      const approval = stored.find((each) => each.fingerprint === fingerprint && isFromFile(each, definition));
      if (approval) return { kind: 'approved', grants: approval.grants };
      if (isUsableUnapproved) return { kind: 'restricted' };
      // A server of the same name from another file is a different server, so it is new and not a changed one.
      const before = stored.findLast((each) => each.file === provenance.file);
      return { kind: 'asks', changes: before ? differences(before.identity, identity) : [], identity };
    },
    async approve(definition, grants = [], judged) {
      const identity = judged ?? (await identityOf(definition));
      const approval = approvalOf(definition, identity, grants, clock.now());
      const key = keyOf(definition.name);
      for (let written = false; !written; ) {
        const before = await store.get(key);
        const isSame = (each: Approval) => each.fingerprint === approval.fingerprint && isFromFile(each, definition);
        const others = parseApprovals(before).filter((each) => !isSame(each));
        written = await store.compareAndSet(key, before, formatApprovals([...others, approval].slice(-MOST_APPROVALS)));
      }
    },
    async revoke(name, definition) {
      const file = definition?.provenance.file;
      const fingerprint = definition && trustFingerprint(await identityOf(definition));
      const isRevoked = (each: Approval) =>
        definition === undefined ||
        each.file === file ||
        (each.fingerprint === fingerprint && isFromFile(each, definition));
      for (;;) {
        const before = await store.get(keyOf(name));
        if (before === undefined) return false;
        const stored = parseApprovals(before);
        const others = stored.filter((each) => !isRevoked(each));
        if (await store.compareAndSet(keyOf(name), before, formatApprovals(others)))
          return others.length < stored.length;
      }
    },
  };
}

/** Per server name, over all folders: the file of an entry that changes daily must not grow for ever. */
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

/** An approval as it is written in the store, where the launch identity is called `essence`. */
type StoredApproval = Omit<Approval, 'identity'> & { readonly essence: LaunchIdentity };

const formatApprovals = (approvals: readonly Approval[]) =>
  JSON.stringify(approvals.map(({ identity, ...rest }): StoredApproval => ({ ...rest, essence: identity })));

/** An entry that cannot be read approves nothing. */
function parseApprovals(text: string | undefined): readonly Approval[] {
  const parsed = parseJson(text ?? '[]');
  const stored = parsed.ok && Array.isArray(parsed.value) ? parsed.value.filter(isStoredApproval) : [];
  return stored.map(({ essence, ...rest }) => ({ ...rest, identity: essence }));
}

function isStoredApproval(value: unknown): value is StoredApproval {
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
