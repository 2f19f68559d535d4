// Owns the user's approval of a workspace file's exact content: the rules of an approved file may also allow, which otherwise
// only the user's own files may.

import { createHash } from 'node:crypto';
import type { Store } from '../kernel/store.ts';

export interface PolicyTrust {
  isApproved(file: string, text: string): Promise<boolean>;
  /** Binds the approval to this content: any change needs a new one. */
  approve(file: string, text: string): Promise<void>;
  revoke(file: string): Promise<void>;
}

export function createPolicyTrust(store: Store): PolicyTrust {
  return {
    isApproved: async (file, text) => (await store.get(keyOf(file))) === hash(text),
    approve: (file, text) => store.set(keyOf(file), hash(text)),
    revoke: (file) => store.delete(keyOf(file)),
  };
}

const keyOf = (file: string) => `policies/${file}`;
const hash = (text: string) => createHash('sha256').update(text).digest('hex');
