// Owns the mark around what a server said: untrusted text, in a wrapper its author could not have known.

import { randomFillSync } from 'node:crypto';
import type { ToolId } from '../model/names.ts';

const TAG = 'mcp_tool_output';
const anyTag = new RegExp(TAG, 'i');
/** However much space and however many slashes a lenient reader would overlook. */
const tagStart = new RegExp(`<([\\s/]*${TAG})`, 'gi');

/** Wrap last, so that no limit can remove the closing mark; the body can neither close the wrapper nor open one. */
export function wrap(body: string, { server, tool }: ToolId, nonce: string): string {
  const safe = anyTag.test(body) ? body.replace(tagStart, '&lt;$1') : body;
  return `<${TAG} server="${attribute(server)}" tool="${attribute(tool)}" trust="untrusted" nonce="${nonce}">\n${safe}\n</${TAG}>`;
}

/** Names come from files and servers: everything that could end an attribute is replaced. */
function attribute(name: string): string {
  return name.replace(/[^a-zA-Z0-9._-]/g, '_');
}

const pool = Buffer.alloc(4096);
let used = pool.length;

/** 64 random bits a call; drawn in bulk, because a draw of eight bytes costs as much as one of four thousand. */
export function createNonce(): string {
  if (used + 8 > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const nonce = pool.toString('hex', used, used + 8);
  used += 8;
  return nonce;
}
