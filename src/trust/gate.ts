// Owns whether a server definition may start, and which of the user's variables it may read: by the scope it comes from, and by
// the user's stored approvals. Asking the user is left to others.

import type { Clock } from '../kernel/clock.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import type { Store } from '../kernel/store.ts';
import type { ServerName } from '../model/names.ts';
import type { Scope, ServerDefinition } from '../model/server.ts';
import { createSeal } from './account.ts';
import { isFromFile, type LaunchIdentity, trustFingerprint } from './fingerprint.ts';
import { differences, type LaunchValues, partsOfVersion1, type StoredParts, storedPartsOf } from './launch-parts.ts';
import { createStoredList } from './stored-list.ts';

export type Judgement =
  /** From the user's own configuration: the server starts and may read every variable its entry names. */
  | { readonly kind: 'own' }
  /** Approved exactly as it is: the server starts and may read the user's variables granted with the approval. */
  | { readonly kind: 'approved'; readonly grants: readonly string[]; readonly isPinned?: true }
  /**
   * Not approved, but it runs no process from the workspace: the server may be used, with none of the user's variables. A remote
   * one of the workspace is only looked at: it is offered nothing, and has no place in any turn.
   */
  | { readonly kind: 'restricted' }
  | {
      readonly kind: 'asks';
      readonly changes: readonly string[];
      readonly identity: LaunchIdentity;
      /** The file of the workspace that an entry of the user's own runs. */
      readonly workspaceFile?: string;
      /** The address of a remote entry leads to this machine or to the network around it. */
      readonly isLocal?: true;
    };

/** One stored approval. The parts of the launch are kept so that a changed entry can be compared with them. */
export interface Approval {
  /** Sealed. */
  readonly fingerprint: string;
  readonly name: ServerName;
  readonly parts: StoredParts;
  /** The user's variables that the server may read. */
  readonly grants: readonly string[];
  readonly file?: string;
  /** The contents of the workspace files that the entry names, where the approval covers them. */
  readonly pins?: StoredParts;
  /** ISO 8601. */
  readonly approvedAt: string;
}

export interface ApproveOptions {
  /** The approval also covers the contents of the workspace files that the entry names. It stays so when it is renewed. */
  readonly pinsFiles?: boolean | undefined;
}

/** Facts about a server that only connecting to it shows. */
export interface FoundOut {
  /** The name in its address leads to this machine or to the network around it. */
  readonly isLocal?: boolean;
}

export interface Gate {
  /** Identifies what would run, as opposed to other servers of the same name. */
  fingerprint(definition: ServerDefinition): Promise<string>;
  judge(definition: ServerDefinition, found?: FoundOut): Promise<Judgement>;
  /**
   * Binds the approval to `judged`, which is what the user was shown; without it, to the definition as it would run now. Returns
   * the files whose contents it covers, as paths in the workspace; `undefined` where it covers none.
   */
  approve(
    definition: ServerDefinition,
    grants?: readonly string[],
    judged?: LaunchIdentity,
    options?: ApproveOptions,
  ): Promise<readonly string[] | undefined>;
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
  /** The file of the workspace that a server from elsewhere runs: another one in each workspace, so each is approved. */
  readonly workspaceFileOf?: (definition: ServerDefinition) => string | undefined;
  /** Whether a remote entry, as it is without an approval, leads to this machine or to the network around it. */
  readonly isLocal?: (definition: ServerDefinition) => boolean;
  readonly identityOf: (definition: ServerDefinition) => Promise<LaunchIdentity>;
  /** The workspace files that the entry names, with a digest of what they hold. */
  readonly filesOf?: (definition: ServerDefinition, identity: LaunchIdentity) => Promise<LaunchValues>;
  /** Approvals of an earlier version were rewritten. */
  readonly onRewritten?: (server: ServerName, count: number) => void;
  readonly onError?: (error: unknown) => void;
}

export function createTrustGate(options: GateOptions): Gate {
  const { store, clock, isOwnScope, workspaceFileOf, isLocal = () => false, identityOf, filesOf = noFiles } = options;
  const { onRewritten = ignore, onError = ignore } = options;
  const seal = createSeal(store);
  const list = createStoredList<Approval, ApprovalOfVersion1>({
    store,
    isItem: isApproval,
    isOld: isApprovalOfVersion1,
    renew: async ({ essence, fingerprint, ...rest }) => ({
      ...rest,
      fingerprint: await seal(fingerprint),
      parts: await partsOfVersion1(essence, seal),
    }),
    onRewritten: (key, items) => onRewritten(key.slice(keyOf('').length), items.length),
    onError,
  });
  const approvals = (name: ServerName) => list.read(keyOf(name));
  const pinsOf = async (definition: ServerDefinition, identity: LaunchIdentity) =>
    storedPartsOf(await filesOf(definition, identity), seal);
  const sealedFingerprint = (identity: LaunchIdentity) => seal(trustFingerprint(identity));

  return {
    approvals,
    fingerprint: async (definition) => trustFingerprint(await identityOf(definition)),
    async judge(definition, found = {}) {
      const { name, launch, provenance } = definition;
      const workspaceFile = workspaceFileOf?.(definition);
      if (isOwnScope(provenance.scope) && workspaceFile === undefined) return { kind: 'own' };
      const stored = await approvals(name);
      const isLocalRemote = provenance.inWorkspace === true && (found.isLocal === true || isLocal(definition));
      const asksFirst = provenance.inWorkspace === true && (launch.kind === 'stdio' || isLocalRemote);
      const isUsableUnapproved = !asksFirst && workspaceFile === undefined;
      if (stored.length === 0 && isUsableUnapproved) return { kind: 'restricted' };
      const identity = await identityOf(definition);
      // Nothing is sealed, and so no key is made, before the user approved anything.
      const asked = {
        ...(workspaceFile !== undefined && { workspaceFile }),
        ...(isLocalRemote && { isLocal: true as const }),
      };
      if (stored.length === 0) return { kind: 'asks', changes: [], identity, ...asked };
      const fingerprint = await sealedFingerprint(identity);
      const approval = stored.find((each) => each.fingerprint === fingerprint && isFromFile(each, definition));
      if (approval) {
        const { grants, pins } = approval;
        const changes = pins ? differences(pins, await pinsOf(definition, identity)) : [];
        if (changes.length > 0) return { kind: 'asks', changes, identity, ...asked };
        return { kind: 'approved', grants, ...(pins && { isPinned: true }) };
      }
      if (isUsableUnapproved) return { kind: 'restricted' };
      // A server of the same name from another file is a different server, so it is new and not a changed one.
      const before = stored.findLast((each) => each.file === provenance.file);
      const isChanged = before !== undefined && workspaceFile === undefined;
      const changes = isChanged ? differences(before.parts, await storedPartsOf(identity, seal)) : [];
      return { kind: 'asks', changes, identity, ...asked };
    },
    async approve(definition, grants = [], judged, { pinsFiles = false } = {}) {
      const identity = judged ?? (await identityOf(definition));
      const { name, provenance } = definition;
      const former = (await approvals(name)).findLast((each) => each.file === provenance.file);
      const pins = pinsFiles || former?.pins ? await pinsOf(definition, identity) : undefined;
      const approval: Approval = {
        fingerprint: await sealedFingerprint(identity),
        name,
        parts: await storedPartsOf(identity, seal),
        grants,
        ...(provenance.file === undefined ? {} : { file: provenance.file }),
        ...(pins && { pins }),
        approvedAt: new Date(clock.now()).toISOString(),
      };
      const key = keyOf(name);
      for (let written = false; !written; ) {
        const before = await store.get(key);
        const isSame = (each: Approval) => each.fingerprint === approval.fingerprint && isFromFile(each, definition);
        const others = (await list.parse(before)).filter((each) => !isSame(each));
        written = await store.compareAndSet(key, before, list.format([...others, approval].slice(-MOST_APPROVALS)));
      }
      return pins && Object.keys(pins).map((part) => part.slice('file '.length));
    },
    async revoke(name, definition) {
      const file = definition?.provenance.file;
      const fingerprint = definition && (await sealedFingerprint(await identityOf(definition)));
      const isRevoked = (each: Approval) =>
        definition === undefined ||
        each.file === file ||
        (each.fingerprint === fingerprint && isFromFile(each, definition));
      for (;;) {
        const before = await store.get(keyOf(name));
        if (before === undefined) return false;
        const stored = await list.parse(before);
        const others = stored.filter((each) => !isRevoked(each));
        if (await store.compareAndSet(keyOf(name), before, list.format(others))) return others.length < stored.length;
      }
    },
  };
}

/** Per server name, over all folders: the file of an entry that changes daily must not grow for ever. */
const MOST_APPROVALS = 100;

const keyOf = (name: ServerName) => `approvals/${name}`;

const ignore = () => undefined;
const noFiles = async () => ({});

interface ApprovalOfVersion1 extends Omit<Approval, 'parts'> {
  readonly essence: LaunchIdentity;
}

function isApproval(value: unknown): value is Approval {
  return isRecord(value) && areParts(value['parts']) && (value['pins'] === undefined || areParts(value['pins']));
}

function isApprovalOfVersion1(value: unknown): value is ApprovalOfVersion1 {
  return isRecord(value) && isObject(value['essence']) && Object.values(value['essence']).every(isText);
}

function isRecord(value: unknown): value is JsonObject {
  return (
    isObject(value) && isText(value['fingerprint']) && Array.isArray(value['grants']) && value['grants'].every(isText)
  );
}

const areParts = (value: unknown) => isObject(value) && Object.values(value).every(isPart);
const isPart = (value: unknown) => isObject(value) && isText(value['text']) && isText(value['seal']);
const isText = (value: unknown) => typeof value === 'string';
