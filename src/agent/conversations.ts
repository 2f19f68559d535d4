// Owns the folder of conversations: which there are, opening one for this process alone, and removing those that are old or too many.
// `journal.ts` owns the contents of a file.

import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { open as openFile, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../kernel/clock.ts';
import { acquire, type LockOptions, tryAcquire } from '../kernel/file-lock.ts';
import { makeFolder } from '../kernel/make-folder.ts';
import { isSystemError, removeDebris } from '../kernel/replace-file.ts';
import { isFailure, RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { unwritable } from '../store/disk.ts';
import type { ChatMessage } from './chat-model.ts';
import { createJournal, type Journal, parseJournal, type ReadJournal, type ServedTerms } from './journal.ts';

/** Where and how long conversations are kept. */
export interface ConversationFolder {
  readonly folder: string;
  /** Conversations without a reply for this long are removed. Default: 30 days. */
  readonly maxAgeMs?: number;
  /** The oldest beyond this number are removed. Default: 200. */
  readonly maxCount?: number;
}

export interface ConversationFile {
  readonly id: string;
  /** The folder that it is about. */
  readonly cwd: string;
  readonly terms?: ServedTerms;
  /** From before; empty for a new conversation. */
  readonly messages: readonly ChatMessage[];
  /** The last line was half written, and dropped. */
  readonly isTorn: boolean;
  readonly journal: Journal;
  /** Lets other processes open it again. */
  close(): Promise<void>;
}

/** A conversation as lists show it. */
export interface ConversationSummary {
  readonly id: string;
  readonly changedAt: number;
  /** The beginning of its first prompt. */
  readonly prompt: string;
}

export interface Conversations {
  /** A new conversation: its file is made with its first write. */
  create(cwd: string, terms?: ServedTerms): Promise<ConversationFile>;
  /** Rejects with `CONVERSATION_UNKNOWN`, or with `CONVERSATION_UNUSABLE` where another process has it open. */
  open(id: string): Promise<ConversationFile>;
  /** What its file holds, also while a process has it open. Rejects as `open` does. */
  read(id: string): Promise<ReadJournal>;
  /** Those of one client of a served agent, the newest first. */
  ownedBy(owner: string): Promise<readonly ConversationSummary[]>;
  /** The id of the one that was last written, of those about this folder. */
  latest(cwd: string): Promise<string | undefined>;
}

export interface ConversationsDeps {
  readonly clock: Clock;
  readonly redact: <Value>(value: Value) => Value;
}

const ID = /^[0-9a-f]{32}$/;
const fileName = (id: string) => `${id}.jsonl`;

/** 128 random bits: an id is also the right to read the conversation. */
export const newConversationId = (): string => randomBytes(16).toString('hex');

export function createConversations(place: ConversationFolder, deps: ConversationsDeps): Conversations {
  const { folder } = place;
  const { clock, redact } = deps;
  const fileOf = (id: string) => join(folder, fileName(id));
  const unusable = (id: string, problem: 'busy' | 'damaged', cause?: unknown) =>
    new RuntimeError('CONVERSATION_UNUSABLE', { conversation: id, problem }, { cause });

  /** Held as long as the conversation is open; the lock of a process that has ended is broken at once. */
  const lock = async (id: string) => {
    const tooLong = new AbortController();
    const stop = clock.after(limits.conversations.lockWaitMs, () => tooLong.abort());
    try {
      await makeFolder(folder, { mode: 0o700 });
      return await acquire({ ...lockOf(fileOf(id), clock), signal: tooLong.signal });
    } catch (error) {
      if (tooLong.signal.aborted) throw unusable(id, 'busy');
      throw unwritable(error, folder);
    } finally {
      stop();
    }
  };
  const read = async (id: string): Promise<ReadJournal> => {
    if (!ID.test(id) || !(await exists(fileOf(id))))
      throw new RuntimeError('CONVERSATION_UNKNOWN', { conversation: id });
    try {
      return parseJournal(await readFile(fileOf(id)), id);
    } catch (error) {
      throw isSystemError(error) ? unusable(id, 'damaged', error) : error;
    }
  };
  const opened = (
    { head, messages, isTorn }: Pick<ReadJournal, 'head' | 'messages' | 'isTorn'>,
    journal: Journal,
    release: Release,
  ): ConversationFile => ({
    id: head.id,
    cwd: head.cwd,
    ...(head.terms && { terms: head.terms }),
    messages,
    isTorn,
    journal,
    close: async () => {
      await journal.close();
      await release();
    },
  });
  /**
   * A full disk takes no lock; the conversation can be used all the same. Then it is locked before its first write. A lock that was held too
   * long, or that a person removed, may be another process's by now: a file that this process did not leave so is not written.
   */
  const hold = async (id: string): Promise<Hold> => {
    let release = await lock(id).catch((error: unknown): undefined => {
      if (!isFailure(error, 'STORE_UNWRITABLE')) throw error;
    });
    return {
      async claim(size) {
        release ??= await lock(id);
        if (size === undefined || (await sizeOf(fileOf(id))) === size) return;
        await release();
        release = undefined;
        throw unusable(id, 'busy');
      },
      release: async () => release?.(),
    };
  };
  const removeOld = () =>
    removeOldIn(place, clock).catch((error: unknown) => {
      // No folder yet, or one that cannot be written: what is there is used all the same.
      if (!isSystemError(error)) throw error;
    });
  return {
    async create(cwd, terms) {
      const id = newConversationId();
      const head = { id, createdAt: clock.now(), cwd, ...(terms && { terms }) };
      await removeOld();
      const { claim, release } = await hold(id);
      const journal = createJournal({ file: fileOf(id), folder, head, claim, redact });
      return opened({ head, messages: [], isTorn: false }, journal, release);
    },
    async open(id) {
      if (!ID.test(id) || !(await exists(fileOf(id))))
        throw new RuntimeError('CONVERSATION_UNKNOWN', { conversation: id });
      const { claim, release } = await hold(id);
      try {
        const found = await read(id);
        return opened(found, createJournal({ file: fileOf(id), folder, found, claim, redact }), release);
      } catch (error) {
        await release();
        throw error;
      }
    },
    read,
    async ownedBy(owner) {
      await removeOld();
      const all = await Promise.all(
        (await listed(folder)).map(async ({ id, at: changedAt }) => {
          const { head, messages } = (await readStart(fileOf(id), id)) ?? {};
          const prompt = messages?.[0]?.text.slice(0, limits.conversations.titleChars) ?? '';
          return head?.terms?.owner === owner ? [{ id, changedAt, prompt }] : [];
        }),
      );
      return all.flat();
    },
    async latest(cwd) {
      for (const { id } of await listed(folder)) if ((await readStart(fileOf(id), id))?.head.cwd === cwd) return id;
      return undefined;
    },
  };
}

type Release = () => Promise<void>;

interface Hold {
  /** Rejects unless this process alone may write to the file, which has this size if no other process has written to it. */
  claim(size: number | undefined): Promise<void>;
  readonly release: Release;
}

const exists = async (file: string) => (await found(file)) !== undefined;
const changedAt = async (file: string) => (await found(file))?.mtimeMs;
const sizeOf = async (file: string) => (await found(file))?.size;

/** `undefined`: there is no such file. */
async function found(file: string): Promise<Stats | undefined> {
  try {
    return await stat(file);
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

interface ListedConversation {
  readonly id: string;
  readonly at: number;
}

/** The newest first. */
async function listed(folder: string): Promise<readonly ListedConversation[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (isSystemError(error)) return [];
    throw error;
  });
  const found: ListedConversation[] = [];
  for (const name of names) {
    const id = name.replace(/\.jsonl$/, '');
    const at = ID.test(id) && name !== id ? await changedAt(join(folder, name)) : undefined;
    if (at !== undefined) found.push({ id, at });
  }
  return found.sort((one, other) => other.at - one.at);
}

/** Head and first message, without the rest of what may be megabytes. `undefined` for a file that is no conversation. */
async function readStart(file: string, id: string): Promise<ReadJournal | undefined> {
  try {
    const handle = await openFile(file, 'r');
    try {
      const start = Buffer.alloc(limits.conversations.startBytes);
      const { bytesRead } = await handle.read(start, 0, start.length, 0);
      const lines = start.subarray(0, bytesRead).toString('utf8').split('\n').slice(0, -1);
      return parseJournal(
        Buffer.from(
          lines
            .slice(0, 2)
            .map((line) => `${line}\n`)
            .join(''),
        ),
        id,
      );
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

const lockOf = (file: string, clock: Clock): LockOptions => ({
  lock: `${file}.lock`,
  ttlMs: limits.conversations.lockMs,
  clock,
});

/** A conversation that a process has open is left alone; a process that was killed has none open. */
async function removeOldIn(place: ConversationFolder, clock: Clock): Promise<void> {
  const { folder, maxAgeMs = limits.conversations.ageMs, maxCount = limits.conversations.count } = place;
  await removeDebris(folder);
  for (const [at, { id, at: changed }] of (await listed(folder)).entries()) {
    if (at < maxCount && clock.now() - changed <= maxAgeMs) continue;
    const file = join(folder, fileName(id));
    // No lock is made where none is: a disk that is full has no room for it.
    const unlock = (await exists(`${file}.lock`)) ? await lockIfReadable(lockOf(file, clock)) : async () => undefined;
    if (unlock === undefined) continue;
    await rm(file, { force: true });
    await unlock();
  }
}

/** Resolves with what unlocks it. A lock that cannot be read is left alone: the other conversations are removed all the same. */
async function lockIfReadable(lock: LockOptions): Promise<(() => Promise<void>) | undefined> {
  try {
    return await tryAcquire(lock);
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
