// Owns whether a definition may start at all: by who wrote it, and by what a person approved. Asking the person is not its work.

import type { Clock } from '../kernel/clock.ts';
import { isObject, parseJson } from '../kernel/json.ts';
import type { Store } from '../kernel/store.ts';
import type { ServerName } from '../model/names.ts';
import type { Scope, ServerDefinition } from '../model/server.ts';

export type Judgement = 'trusted' | 'asks';

/** What was approved, kept so that a later version of the entry can be shown beside it. */
export interface Approval {
  readonly fingerprint: string;
  readonly name: ServerName;
  /** As written, with its placeholders. */
  readonly commandLine: readonly string[];
  readonly file?: string;
  /** ISO 8601. */
  readonly approvedAt: string;
}

export interface Gate {
  judge(definition: ServerDefinition): Promise<Judgement>;
  /** Binds the approval to the definition as it would run now. */
  approve(definition: ServerDefinition): Promise<void>;
  /** Forgets every approval of that name. */
  revoke(name: ServerName): Promise<void>;
  /** What was approved under that name, newest last. */
  approvals(name: ServerName): Promise<readonly Approval[]>;
}

export interface GateOptions {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  readonly isWorkspaceScope: (scope: Scope) => boolean;
  readonly fingerprint: (definition: ServerDefinition) => Promise<string>;
}

export function createGate({ store, clock, isWorkspaceScope, fingerprint }: GateOptions): Gate {
  const approvals = async (name: ServerName) => parseApprovals(await store.get(keyOf(name)));

  return {
    approvals,
    async judge(definition) {
      if (!isWorkspaceScope(definition.provenance.scope)) return 'trusted';
      // Only a process runs with the person's rights; what is reached over the network gets no secret instead.
      if (definition.launch.kind !== 'stdio') return 'trusted';
      const remembered = await approvals(definition.name);
      if (remembered.length === 0) return 'asks';
      const present = await fingerprint(definition);
      return remembered.some((each) => each.fingerprint === present) ? 'trusted' : 'asks';
    },
    async approve(definition) {
      const approval = approvalOf(definition, await fingerprint(definition), clock.now());
      const key = keyOf(definition.name);
      for (let written = false; !written; ) {
        const before = await store.get(key);
        const others = parseApprovals(before).filter((each) => each.fingerprint !== approval.fingerprint);
        written = await store.compareAndSet(key, before, JSON.stringify([...others, approval]));
      }
    },
    revoke: (name) => store.delete(keyOf(name)),
  };
}

const keyOf = (name: ServerName) => `approvals/${name}`;

function approvalOf({ name, launch, provenance }: ServerDefinition, fingerprint: string, now: number): Approval {
  return {
    fingerprint,
    name,
    commandLine: launch.kind === 'stdio' ? [launch.command, ...launch.args] : [],
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
  return isObject(value) && typeof value['fingerprint'] === 'string';
}
