// Owns the files for whole results and blobs that are too long or too binary for a model: private to the user, kept for a while.
// They are a convenience: whatever the disk does, no tool call fails or waits for long because of it.

import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs';
import { chmod, lstat, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Clock } from '../kernel/clock.ts';
import { makeFolder } from '../kernel/make-folder.ts';
import { isSystemError, reasonOf } from '../kernel/replace-file.ts';
import { settleWithin } from '../kernel/settle.ts';
import { inSlices, type Slices, STEP_UNITS } from '../kernel/slices.ts';
import { limits } from '../model/limits.ts';

export interface Artifact {
  /** The readable first part of the file name. */
  readonly name: string;
  readonly extension: string;
  /** Bytes are written as they are, a text without its secrets. */
  readonly data: string | Uint8Array;
}

/** The path of the file, or the problem that completes the sentence "the whole text could not be kept: …". */
export type Kept = { readonly file: string } | { readonly problem: string };

export interface Artifacts {
  /** Resolves within a few seconds, once the file is complete or could not be written. Never rejects. */
  keep(artifact: Artifact): Promise<Kept>;
  /** Resolves when no file is being written or deleted any more. */
  settled(): Promise<void>;
}

export interface ArtifactDeps {
  readonly folder: string;
  readonly clock: Clock;
  readonly redact: (text: string) => Slices<string>;
}

export function createArtifacts(deps: ArtifactDeps): Artifacts {
  return new ArtifactFolder(deps);
}

class ArtifactFolder implements Artifacts {
  readonly #deps: ArtifactDeps;
  readonly #busy = new Set<Promise<unknown>>();
  /** Files since the last sweep; the initial value makes the first file of a process start a sweep. */
  #files: number = limits.artifacts.sweepFiles;
  #bytes = 0;
  #sweeping = false;
  #isPrivate = false;
  /** How many files, and how many bytes, may be written at this moment. */
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
    const safe = typeof data === 'string' ? await inSlices(this.#deps.redact(data)) : data;
    let kept: Kept = { problem: 'it was not written in time' };
    const writing = this.#track(
      this.#write(file, safe).then((done) => {
        kept = done;
      }),
    );
    const inTime = await settleWithin([writing], { limitMs: limits.artifacts.writeMs, clock });
    // The caller was told that the file was not written, so nobody would ever read it.
    if (!inTime) void this.#track(writing.then(() => discard(file)));
    this.#count(data.length);
    return kept;
  }

  /** Limits a flood of files, which would keep the disk busy and push out files that are still wanted. */
  #mayKeep(bytes: number): boolean {
    const now = this.#deps.clock.now();
    const { burst, perSecond, burstBytes, bytesPerSecond } = limits.artifacts;
    const seconds = Math.max(0, now - this.#countedAt) / 1_000;
    this.#allowance = Math.min(burst, this.#allowance + seconds * perSecond);
    this.#allowedBytes = Math.min(burstBytes, this.#allowedBytes + seconds * bytesPerSecond);
    this.#countedAt = now;
    if (this.#allowance < 1 || this.#allowedBytes <= 0) return false;
    this.#allowance -= 1;
    // One file may exceed the allowance; later files then wait longer.
    this.#allowedBytes -= bytes;
    return true;
  }

  async settled(): Promise<void> {
    while (this.#busy.size > 0) await Promise.allSettled(this.#busy);
  }

  /** Writes in place: nobody knows the random name before the file is complete, so no temporary file is needed. */
  async #write(file: string, safe: string | Uint8Array): Promise<Kept> {
    const { folder } = this.#deps;
    try {
      if (!this.#isPrivate && !(await makePrivate(folder))) return { problem: 'its folder is a link or a file' };
      this.#isPrivate = true;
      await put(file, safe).catch(async (error: unknown) => {
        // The folder was deleted meanwhile.
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

/** An existing folder may be readable by others, so its mode is set. A link is refused: its target may belong to someone else. */
async function makePrivate(folder: string): Promise<boolean> {
  await makeFolder(folder, { mode: 0o700 });
  if (!(await lstat(folder)).isDirectory()) return false;
  await chmod(folder, 0o700);
  return true;
}

/** Bytes instead of text, and the callback API instead of `fs/promises`: each halves the time for a file. */
const writeBytes = promisify(writeFile);

async function put(file: string, data: string | Uint8Array): Promise<void> {
  if (typeof data !== 'string' || data.length <= STEP_UNITS) {
    await writeBytes(file, typeof data === 'string' ? Buffer.from(data) : data, { flag: 'wx', mode: 0o600 });
    return;
  }
  const handle = await open(file, 'wx', 0o600);
  try {
    for (let from = 0; from < data.length; ) {
      const to = from + STEP_UNITS - (isHigh(data.charCodeAt(from + STEP_UNITS - 1)) ? 1 : 0);
      // Waiting for each piece gives the event loop its turn.
      await handle.writeFile(Buffer.from(data.slice(from, to)));
      from = to;
    }
  } finally {
    await handle.close();
  }
}

/** The first half of a pair, which must not be written without the second. */
const isHigh = (code: number) => (code & 0xfc00) === 0xd800;

/** A file that cannot be deleted now is deleted by a later sweep. */
async function discard(file: string): Promise<void> {
  await rm(file, { force: true }).catch(ignoreSystemError);
}

/** Deletes expired files, then the oldest until the rest is within the limits. Other processes may sweep at the same time. */
async function sweep(folder: string, now: number): Promise<void> {
  const { keptMs, files: most, bytes: mostBytes } = limits.artifacts;
  const names = await readdir(folder).catch(ignoreSystemError);
  const artifactNames = (names ?? []).filter((name) => ARTIFACT_NAME.test(name));
  const artifacts = await Promise.all(artifactNames.map((name) => statArtifact(join(folder, name))));
  const found = artifacts.flatMap((each) => each ?? []);
  found.sort((a, b) => b.changedAt - a.changedAt);
  let bytes = 0;
  const surplus = found.filter(({ size, changedAt }, at) => {
    bytes += size;
    return at >= most || bytes > mostBytes || now - changedAt > keptMs;
  });
  await Promise.all(surplus.map(({ file }) => discard(file)));
}

/** The names that `keep` creates. Other files in the folder are not touched. */
const ARTIFACT_NAME = /-[0-9a-f]{32}\.[a-z0-9]+$/;

interface ArtifactFile {
  readonly file: string;
  readonly size: number;
  readonly changedAt: number;
}

async function statArtifact(file: string): Promise<ArtifactFile | undefined> {
  const stats = await lstat(file).catch(ignoreSystemError);
  return stats?.isFile() ? { file, size: stats.size, changedAt: stats.mtimeMs } : undefined;
}

function ignoreSystemError(error: unknown): undefined {
  if (!isSystemError(error)) throw error;
  return undefined;
}
