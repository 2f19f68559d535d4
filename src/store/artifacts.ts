// Owns what is too long or too binary for a model, as files for its owner's eyes only: whole results and blobs, kept for a while.
// It is a convenience: whatever the disk does, no call fails or waits for long because of it.

import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs';
import { chmod, lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Clock } from '../kernel/clock.ts';
import { makeFolder } from '../kernel/make-folder.ts';
import { isSystemError, reasonOf } from '../kernel/replace-file.ts';
import { settleWithin } from '../kernel/settle.ts';
import { limits } from '../model/limits.ts';

export interface Artifact {
  /** A readable beginning of the file's name. */
  readonly name: string;
  readonly extension: string;
  /** Bytes go to the disk as they are, a text without its secrets. */
  readonly data: string | Uint8Array;
}

/** Where it lies, or why it could not be kept, to complete "it could not be kept: …". */
export type Kept = { readonly file: string } | { readonly problem: string };

export interface Artifacts {
  /** The file is whole when this resolves, within a few seconds. Never rejects. */
  keep(artifact: Artifact): Promise<Kept>;
  /** Resolves when nothing is being written or cleared away any more. */
  settled(): Promise<void>;
}

export interface ArtifactDeps {
  readonly folder: string;
  readonly clock: Clock;
  readonly redact: (text: string) => string;
}

export function createArtifacts(deps: ArtifactDeps): Artifacts {
  return new Folder(deps);
}

class Folder implements Artifacts {
  readonly #deps: ArtifactDeps;
  readonly #busy = new Set<Promise<unknown>>();
  /** Since the folder was last looked through; the first file of a process begins with that. */
  #files: number = limits.artifacts.sweepFiles;
  #bytes = 0;
  #sweeping = false;
  #isPrivate = false;
  /** How many, and how much, may be written at this moment. */
  #allowance: number = limits.artifacts.burst;
  #allowedBytes: number = limits.artifacts.burstBytes;
  #countedAt = 0;

  constructor(deps: ArtifactDeps) {
    this.#deps = deps;
  }

  async keep({ name, extension, data }: Artifact): Promise<Kept> {
    const { folder, clock } = this.#deps;
    if (!this.#mayKeep(data.length)) return { problem: 'there are too many at once' };
    const file = join(folder, `${safeName(name)}-${randomBytes(16).toString('hex')}.${extension}`);
    let kept: Kept = { problem: 'it was not written in time' };
    const writing = this.#track(
      this.#write(file, data).then((done) => {
        kept = done;
      }),
    );
    const inTime = await settleWithin([writing], { limitMs: limits.artifacts.writeMs, clock });
    // Nobody will ever know its name.
    if (!inTime) void this.#track(writing.then(() => discard(file)));
    this.#count(data.length);
    return kept;
  }

  /** Nobody reads a flood: it would only keep us and the disk busy, and push out what somebody still wants. */
  #mayKeep(bytes: number): boolean {
    const now = this.#deps.clock.now();
    const { burst, perSecond, burstBytes, bytesPerSecond } = limits.artifacts;
    const seconds = Math.max(0, now - this.#countedAt) / 1_000;
    this.#allowance = Math.min(burst, this.#allowance + seconds * perSecond);
    this.#allowedBytes = Math.min(burstBytes, this.#allowedBytes + seconds * bytesPerSecond);
    this.#countedAt = now;
    if (this.#allowance < 1 || this.#allowedBytes <= 0) return false;
    this.#allowance -= 1;
    // One may be more than all: those after it wait the longer.
    this.#allowedBytes -= bytes;
    return true;
  }

  async settled(): Promise<void> {
    while (this.#busy.size > 0) await Promise.allSettled(this.#busy);
  }

  /** Under a name that nobody knows before it is whole: it needs no second one to be renamed from. */
  async #write(file: string, data: string | Uint8Array): Promise<Kept> {
    const { folder, redact } = this.#deps;
    const safe = typeof data === 'string' ? redact(data) : data;
    try {
      if (!this.#isPrivate && !(await makePrivate(folder))) return { problem: 'its folder is a link or a file' };
      this.#isPrivate = true;
      await put(file, safe).catch(async (error: unknown) => {
        // Somebody has cleared it away.
        if (!isSystemError(error) || error.code !== 'ENOENT') throw error;
        await makePrivate(folder);
        await put(file, safe);
      });
      return { file };
    } catch (error) {
      await discard(file);
      if (isSystemError(error)) return { problem: reasonOf(error) };
      throw error;
    }
  }

  #count(bytes: number): void {
    this.#files += 1;
    this.#bytes += bytes;
    const { sweepFiles, sweepBytes } = limits.artifacts;
    if (this.#sweeping || !this.#isPrivate || (this.#files <= sweepFiles && this.#bytes <= sweepBytes)) return;
    this.#files = 0;
    this.#bytes = 0;
    this.#sweeping = true;
    const { folder, clock } = this.#deps;
    void this.#track(
      sweep(folder, clock.now()).finally(() => {
        this.#sweeping = false;
      }),
    );
  }

  #track<Value>(work: Promise<Value>): Promise<Value> {
    this.#busy.add(work);
    const done = () => this.#busy.delete(work);
    work.then(done, done);
    return work;
  }
}

const safeName = (name: string) => name.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 60);

/** One that was there before may be open to others. What a link leads to is not ours, to be closed or cleared away. */
async function makePrivate(folder: string): Promise<boolean> {
  await makeFolder(folder, { mode: 0o700 });
  if (!(await lstat(folder)).isDirectory()) return false;
  await chmod(folder, 0o700);
  return true;
}

/** In bytes, and by the older of the two ways: each halves what a file costs. */
const writeBytes = promisify(writeFile);
const put = (file: string, data: string | Uint8Array) =>
  writeBytes(file, typeof data === 'string' ? Buffer.from(data) : data, { flag: 'wx', mode: 0o600 });

/** What is left of a file that could not be written is cleared away with the old ones, if not now. */
async function discard(file: string): Promise<void> {
  await rm(file, { force: true }).catch(systemOnly);
}

/** What is too old goes, then the oldest, until the rest is few and small enough. Other processes may do the same. */
async function sweep(folder: string, now: number): Promise<void> {
  const { keptMs, files: most, bytes: mostBytes } = limits.artifacts;
  const names = await readdir(folder).catch(systemOnly);
  const ours = (names ?? []).filter((name) => ourName.test(name));
  const found = (await Promise.all(ours.map((name) => about(join(folder, name))))).flatMap((each) => each ?? []);
  found.sort((a, b) => b.changedAt - a.changedAt);
  let bytes = 0;
  const gone = found.filter(({ size, changedAt }, at) => {
    bytes += size;
    return at >= most || bytes > mostBytes || now - changedAt > keptMs;
  });
  await Promise.all(gone.map(({ file }) => discard(file)));
}

/** As `keep` makes them: whatever else somebody put there is theirs. */
const ourName = /-[0-9a-f]{32}\.[a-z0-9]+$/;

interface Found {
  readonly file: string;
  readonly size: number;
  readonly changedAt: number;
}

async function about(file: string): Promise<Found | undefined> {
  const found = await lstat(file).catch(systemOnly);
  return found?.isFile() ? { file, size: found.size, changedAt: found.mtimeMs } : undefined;
}

function systemOnly(error: unknown): undefined {
  if (!isSystemError(error)) throw error;
  return undefined;
}
