// Owns the log of each server on disk: when it started, what it wrote on stderr, why it ended. Small, private to the user,
// shared by all processes. It is a convenience: a full or broken disk disturbs neither the server nor the host.

import { createHash } from 'node:crypto';
import { appendFile, rename, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { acquire } from '../kernel/file-lock.ts';
import { makeFolder } from '../kernel/make-folder.ts';
import { isSystemError, removeDebris } from '../kernel/replace-file.ts';
import { settleWithin } from '../kernel/settle.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { unwritable } from './disk.ts';
import { type LineOptions, LogLines } from './log-lines.ts';

export interface ServerLog {
  /** Adds a dated line of the runtime itself, which may quote others. */
  note(text: string): void;
  /** The same in words of the runtime alone. They hold no secret: a process that logs no others never builds the redactor's tables. */
  noteOwn(words: string): void;
  /** Adds output of the server. Never waits, and keeps only a little in memory. */
  take(chunk: Buffer): void;
  /** Resolves when everything is written or the time for it is up; later output is ignored. */
  close(): Promise<void>;
}

export interface ServerLogs {
  open(server: ServerName, options: LineOptions): ServerLog;
}

/** `onError` is called once for all servers, since they share the disk. */
export function createServerLogs(state: string, clock: Clock, onError: (error: unknown) => void): ServerLogs {
  const folder = logFolder(state);
  let isReported = false;
  const failed = (error: unknown) => {
    if (!isReported) onError(unwritable(error, folder));
    isReported = true;
  };
  return { open: (server, options) => new FileLog(logFileIn(folder, server), clock, new LogLines(options), failed) };
}

const logFolder = (state: string) => join(state, 'logs');
const logFileIn = (folder: string, server: ServerName) => join(folder, `${safeName(server)}.log`);

/** The path of a server's log, whether it exists or not; the older part has a path beside it. */
export const logFileOf = (state: string, server: ServerName) => logFileIn(logFolder(state), server);
export const olderLogOf = (file: string) => `${file}.1`;

/** Device names of Windows, with or without an extension. */
const DEVICES = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/;

/** No two servers share a file, even on a case-insensitive disk: any name but a plain lower-case one gets a hash. */
function safeName(server: ServerName): string {
  if (/^[a-z0-9][a-z0-9._-]{0,63}$/.test(server) && !DEVICES.test(server)) return server;
  const readable = server.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 40);
  return `${readable}-${createHash('sha256').update(server).digest('hex').slice(0, 12)}`;
}

class FileLog implements ServerLog {
  readonly #file: string;
  readonly #clock: Clock;
  readonly #lines: LogLines;
  readonly #failed: (error: unknown) => void;
  /** Notes that were not made lines yet. They came before the chunks that wait. */
  #notes: { readonly at: number; readonly text: string; readonly isOwn: boolean }[] = [];
  /** Output that was not cut into lines yet. */
  #chunks: Buffer[] = [];
  #bytes = 0;
  #lostBytes = 0;
  /** Lines to be written next. */
  #text = '';
  #cancelTimer: CancelTimer | undefined;
  #writing: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #isBegun = false;

  constructor(file: string, clock: Clock, lines: LogLines, failed: (error: unknown) => void) {
    this.#file = file;
    this.#clock = clock;
    this.#lines = lines;
    this.#failed = failed;
  }

  note(text: string): void {
    this.#add(text, false);
  }

  noteOwn(words: string): void {
    this.#add(words, true);
  }

  #add(text: string, isOwn: boolean): void {
    if (this.#closing !== undefined) return;
    if (this.#bytes > 0) this.#read();
    this.#notes.push({ at: this.#clock.now(), text, isOwn });
    this.#wake();
  }

  /** In a flood the newest output is kept; older chunks are dropped unread. */
  take(chunk: Buffer): void {
    if (this.#closing !== undefined) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    while (this.#bytes > limits.logBatch.bytes && this.#chunks.length > 1) {
      const { length = 0 } = this.#chunks.shift() ?? {};
      this.#bytes -= length;
      this.#lostBytes += length;
    }
    this.#wake();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#cancelTimer?.();
    this.#read();
    this.#text += this.#lines.end();
    const last = Promise.resolve(this.#writing).then(() => this.#write());
    await settleWithin([last], { limitMs: limits.logBatch.closeMs, clock: this.#clock });
  }

  #read(): void {
    for (const { at, text, isOwn } of this.#notes) {
      const line = isOwn ? text : this.#lines.line(text);
      this.#text += `${this.#lines.end()}--- ${new Date(at).toISOString()} ${line} ---\n`;
    }
    this.#notes = [];
    if (this.#lostBytes > 0) {
      this.#lines.lose();
      this.#text += `--- ${this.#lostBytes} bytes left out ---\n`;
      this.#lostBytes = 0;
    }
    if (this.#bytes === 0) return;
    this.#text += this.#lines.push(Buffer.concat(this.#chunks));
    this.#chunks = [];
    this.#bytes = 0;
  }

  /**
   * One write at a time, with a pause before each, so that a server that writes byte by byte does not keep the disk busy. The
   * first one waits longer: while servers start, the host has better things to do.
   */
  #wake(): void {
    if (this.#cancelTimer !== undefined || this.#writing !== undefined) return;
    const write = () => {
      this.#cancelTimer = undefined;
      this.#isBegun = true;
      this.#writing = this.#write().finally(() => {
        this.#writing = undefined;
        if (this.#closing === undefined && (this.#bytes > 0 || this.#notes.length > 0)) this.#wake();
      });
    };
    const { ms, firstMs } = limits.logBatch;
    this.#cancelTimer = this.#clock.after(this.#isBegun ? ms : firstMs, write, 'background');
  }

  async #write(): Promise<void> {
    this.#read();
    const text = this.#text;
    this.#text = '';
    try {
      if (text !== '') await append(this.#file, text, this.#clock);
    } catch (error) {
      this.#failed(error);
    }
  }
}

/**
 * Opens the file for each write, so that it can be renamed or deleted in between. Writes complete lines at once, so that lines
 * of other processes stay intact.
 */
async function append(file: string, text: string, clock: Clock): Promise<void> {
  const size = await sizeOf(file);
  const isFull = (now: number) => now > 0 && now + Buffer.byteLength(text) > limits.log.bytes;
  if (size === 0) await makeFolder(dirname(file), { mode: 0o700 });
  else if (isFull(size)) await makeRoom(file, isFull, clock);
  await appendFile(file, text, { mode: 0o600 });
}

/** Under a lock: a second process that renames at the same time would replace the older log with one that has just begun. */
async function makeRoom(file: string, isFull: (size: number) => boolean, clock: Clock): Promise<void> {
  const release = await acquire({ lock: `${file}.lock`, ttlMs: limits.logBatch.closeMs, clock });
  try {
    if (isFull(await sizeOf(file))) await rename(file, olderLogOf(file));
    await removeDebris(dirname(file), basename(file));
  } finally {
    await release();
  }
}

/** 0 where it cannot be told; writing then fails with the reason. */
async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (isSystemError(error)) return 0;
    throw error;
  }
}
