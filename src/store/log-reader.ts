// Owns reading a server's log while other processes write it: its last lines, and then new lines as they come.

import { type FileHandle, open } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import type { Clock } from '../kernel/clock.ts';
import { isSystemError } from '../kernel/replace-file.ts';
import { limits } from '../model/limits.ts';
import { readIfThere } from './disk.ts';
import { olderLogOf } from './server-log.ts';

export class LogReader {
  readonly file: string;
  /** Which file was read, and how far: the writer may rename it to the older log in between. */
  #inode: number | undefined;
  #offset = 0;
  #decoder = new StringDecoder('utf8');
  #partial = '';

  constructor(file: string) {
    this.file = file;
  }

  /** The last `count` lines; `undefined` if there is no log. */
  async last(count: number): Promise<readonly string[] | undefined> {
    const newer = await this.#newLines();
    if (newer.length >= count) return newer.slice(-count);
    const older = await readIfThere(olderLogOf(this.file));
    if (older === undefined && this.#inode === undefined) return undefined;
    return [...(older ?? '').split('\n').slice(0, -1), ...newer].slice(-count);
  }

  /** Yields new lines as they are written; ends when the signal aborts. */
  async *follow(clock: Clock, signal: AbortSignal): AsyncGenerator<readonly string[]> {
    while (await pause(clock, signal)) {
      const lines = await this.#newLines();
      if (lines.length > 0) yield lines;
    }
  }

  async #newLines(): Promise<string[]> {
    const lines = (this.#partial + (await this.#read())).split('\n');
    this.#partial = lines.pop() ?? '';
    return lines;
  }

  async #read(): Promise<string> {
    return withFile(this.file, async (handle) => {
      const { ino, size } = await handle.stat();
      const ending = this.#inode === undefined || ino === this.#inode ? '' : await this.#readEnding();
      // A file that shrank was emptied by hand.
      if (ino !== this.#inode || size < this.#offset) this.#offset = 0;
      this.#inode = ino;
      return ending + (await this.#readFrom(handle, size));
    });
  }

  /** Reads the lines that were added to the known file before it was renamed. */
  #readEnding(): Promise<string> {
    return withFile(olderLogOf(this.file), async (handle) => {
      const { ino, size } = await handle.stat();
      return ino === this.#inode && size > this.#offset ? this.#readFrom(handle, size) : '';
    });
  }

  async #readFrom(handle: FileHandle, size: number): Promise<string> {
    if (size === this.#offset) return '';
    const { buffer, bytesRead } = await handle.read({
      buffer: Buffer.alloc(size - this.#offset),
      position: this.#offset,
    });
    this.#offset += bytesRead;
    return this.#decoder.write(buffer.subarray(0, bytesRead));
  }
}

/** A file that cannot be read counts as empty. */
async function withFile(file: string, use: (handle: FileHandle) => Promise<string>): Promise<string> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, 'r');
    return await use(handle);
  } catch (error) {
    if (isSystemError(error)) return '';
    throw error;
  } finally {
    await handle?.close();
  }
}

/** Waits for the next look at the file; `false` when the signal aborts. */
async function pause(clock: Clock, signal: AbortSignal): Promise<boolean> {
  try {
    await clock.sleep(limits.logView.lookMs, signal);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}
