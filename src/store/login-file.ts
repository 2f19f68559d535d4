// Owns the outer form of the file of logins, as far as it can be read without the key: its version, where the key lies, and for
// which servers there is a login. So a server without one is opened without loading anything that decrypts.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Clock } from '../kernel/clock.ts';
import { isObject, parseJson } from '../kernel/json.ts';
import { readNow } from './disk.ts';
import { Watcher } from './watcher.ts';

export type KeyPlace = 'keychain' | 'file';

export interface LoginFile {
  readonly version: 1;
  /** Decided once, when the file is made. */
  readonly key: KeyPlace;
  /** Hashes of the addresses that there is a login for. */
  readonly servers: readonly string[];
  readonly sealed: string;
}

export type ReadLoginFile = LoginFile | 'torn' | { readonly newer: number };

export function parseLoginFile(text: string): ReadLoginFile {
  const parsed = parseJson(text);
  if (!parsed.ok || !isObject(parsed.value)) return 'torn';
  const { version, key, servers, sealed } = parsed.value;
  if (typeof version === 'number' && version > 1) return { newer: version };
  if (version !== 1 || (key !== 'keychain' && key !== 'file') || typeof sealed !== 'string') return 'torn';
  if (!Array.isArray(servers)) return 'torn';
  return { version, key, servers, sealed };
}

/** Origin and path of a server's address, by which its logins are found. `undefined` for what is no address. */
export function serverUrlOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, host, pathname } = new URL(address);
  // A WebSocket and an HTTP endpoint of one address are the same server.
  return `${protocol.replace(/^ws/, 'http')}//${host}${pathname}`;
}

export const serverHash = (serverUrl: string): string =>
  createHash('sha256').update(serverUrl).digest('hex').slice(0, 16);

/** Whether a login for the address may be stored: certainly not is the common answer, and costs one look at the disk. */
export function mayHaveLogin(file: string, serverUrl: string): boolean {
  const text = readNow(file);
  // A file that is there and cannot be read or understood is opened all the same, so that its own sentence is told.
  if (text === undefined) return existsSync(file);
  const read = parseLoginFile(text);
  return typeof read !== 'object' || 'newer' in read || read.servers.includes(serverHash(serverUrl));
}

/** Where the key of the logins lies; `undefined` before the first login, and for a file that cannot be read. */
export function keyPlaceOf(file: string): KeyPlace | undefined {
  const text = readNow(file);
  const read = text === undefined ? undefined : parseLoginFile(text);
  return typeof read === 'object' && 'key' in read ? read.key : undefined;
}

/** Calls back after each change of the file, by any process. Returns how to stop. */
export function watchLoginFile(file: string, clock: Clock, changed: () => void): () => void {
  const watcher = new Watcher(readNow(file), async () => readNow(file), changed);
  watcher.start(clock);
  return () => watcher.stop();
}
