// Owns the file of one conversation: one line for its head, one for each message. What was synced is never lost; a line that a dying
// process left half written is dropped. A disk that is full loses nothing of what is in memory: the next write brings it all.

import { type FileHandle, open } from 'node:fs/promises';
import { isObject, type JsonObject, parseJson } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import type { HostRule } from '../policy/host-rules.ts';
import { unwritable } from '../store/disk.ts';
import type { ChatMessage, RequestedCall } from './chat-model.ts';

export const JOURNAL_VERSION = 1;

export interface JournalHead {
  readonly id: string;
  readonly createdAt: number;
  /** The folder that the conversation is about. */
  readonly cwd: string;
  /** Given for a conversation of a served agent. */
  readonly terms?: ServedTerms;
}

/** The terms on which a client opened a conversation: they hold for all of it, also after a restart. */
export interface ServedTerms {
  /** The client that it belongs to. */
  readonly owner: string;
  /** The name of a model other than the agent's own. */
  readonly model?: string;
  /** Rules that only tighten. */
  readonly permissions?: readonly HostRule[];
  /** Only tools that are known to only read may be called. */
  readonly isReadOnly?: boolean;
  readonly maxSteps?: number;
}

export interface ReadJournal {
  readonly head: JournalHead;
  readonly messages: readonly ChatMessage[];
  /** How many bytes hold whole lines. */
  readonly bytes: number;
  /** How many bytes the file had, with a half-written last line. */
  readonly fileBytes: number;
  /** The last line was half written, and dropped. */
  readonly isTorn: boolean;
}

/** Throws `CONVERSATION_UNUSABLE` for a file of a newer version, and for one that is no journal. */
export function parseJournal(contents: Buffer, id: string): ReadJournal {
  const bytes = contents.lastIndexOf(0x0a) + 1;
  const [first = '', ...rest] = contents.toString('utf8', 0, bytes).split('\n').slice(0, -1);
  const headLine = parseJson(first);
  if (!headLine.ok || !isObject(headLine.value)) throw unusable(id, 'damaged');
  const { version, createdAt, cwd, terms } = headLine.value;
  if (typeof version === 'number' && version > JOURNAL_VERSION) throw unusable(id, 'newer');
  if (version !== JOURNAL_VERSION || typeof createdAt !== 'number' || typeof cwd !== 'string' || !areTerms(terms))
    throw unusable(id, 'damaged');
  const messages = rest.map((line) => {
    const message = messageIn(line);
    if (message === undefined) throw unusable(id, 'damaged');
    return message;
  });
  return {
    head: { id, createdAt, cwd, ...(terms && { terms }) },
    messages,
    bytes,
    fileBytes: contents.length,
    isTorn: bytes < contents.length,
  };
}

/** Terms that cannot be read must not count as none. */
function areTerms(value: unknown): value is ServedTerms | undefined {
  if (value === undefined) return true;
  if (!isObject(value)) return false;
  const { owner, model, permissions, isReadOnly, maxSteps } = value;
  return (
    typeof owner === 'string' &&
    ['undefined', 'string'].includes(typeof model) &&
    (permissions === undefined || Array.isArray(permissions)) &&
    ['undefined', 'boolean'].includes(typeof isReadOnly) &&
    ['undefined', 'number'].includes(typeof maxSteps)
  );
}

const unusable = (id: string, problem: 'damaged' | 'newer') =>
  new RuntimeError('CONVERSATION_UNUSABLE', { conversation: id, problem });

function messageIn(line: string): ChatMessage | undefined {
  const parsed = parseJson(line);
  if (!parsed.ok || !isObject(parsed.value)) return undefined;
  const { role, text, calls, callId, name, isError } = parsed.value;
  if (typeof text !== 'string') return undefined;
  if (role === 'user') return { role, text };
  if (role === 'assistant' && Array.isArray(calls) && calls.every(isCall)) return { role, text, calls };
  if (role !== 'tool' || typeof callId !== 'string' || typeof name !== 'string') return undefined;
  return { role, callId, name, text, isError: isError === true };
}

const isCall = (value: unknown): value is RequestedCall =>
  isObject(value) && ['id', 'name', 'arguments'].every((key) => typeof value[key] === 'string');

export interface Journal {
  /** Adds a message to what is written next. */
  add(message: ChatMessage): void;
  /** Writes everything that is not written yet; `sync` waits until it is on the disk. Rejects with `STORE_UNWRITABLE`. */
  write(sync: 'sync' | 'later'): Promise<void>;
  close(): Promise<void>;
}

export interface JournalOptions {
  readonly file: string;
  readonly folder: string;
  /** The whole lines that the file already has, and all of it, as it was read. Absent for a new conversation. */
  readonly found?: { readonly bytes: number; readonly fileBytes: number };
  /** Given for a new conversation. */
  readonly head?: JournalHead;
  /** Called before each write; rejects where this process must not write to a file that should have this size. */
  readonly claim: (size: number | undefined) => Promise<void>;
  readonly redact: <Value>(value: Value) => Value;
}

export function createJournal({ file, folder, found, head, claim, redact }: JournalOptions): Journal {
  const lineOf = (value: JsonObject) => `${JSON.stringify(redact(value))}\n`;
  let waiting = head === undefined ? '' : lineOf({ version: JOURNAL_VERSION, ...head });
  let end = found?.bytes ?? 0;
  /** The size that this process gave the file; not known after a write that failed. */
  let size = found?.fileBytes;
  let handle: FileHandle | undefined;
  let isUnsynced = false;
  let writing: Promise<unknown> = Promise.resolve();

  /** At the end of the last whole line: what a failed write left behind it is overwritten. */
  const writeNow = async (sync: 'sync' | 'later') => {
    await claim(size);
    handle ??= await open(file, end === 0 ? 'wx+' : 'r+', 0o600);
    if (waiting !== '') {
      const lines = Buffer.from(waiting);
      const { length } = waiting;
      size = undefined;
      await writeWhole(handle, lines, end);
      end += lines.length;
      waiting = waiting.slice(length);
      isUnsynced = true;
      await handle.truncate(end);
      size = end;
    }
    if (sync === 'sync' && isUnsynced) {
      await handle.sync();
      isUnsynced = false;
    }
  };
  return {
    add(message) {
      const { images: _, ...kept } = { images: undefined, ...message };
      waiting += lineOf(kept);
    },
    write(sync) {
      const written = writing.then(() => writeNow(sync));
      writing = Promise.allSettled([written]);
      return written.catch((error: unknown) => {
        throw unwritable(error, folder);
      });
    },
    close: async () => {
      await writing;
      await handle?.close();
      handle = undefined;
    },
  };
}

async function writeWhole(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}
