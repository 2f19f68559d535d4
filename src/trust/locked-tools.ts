// Owns `plexus.lock` of one workspace at run time: reads it with the configuration and says of each tool whether it is still what
// the lock holds.

import { join } from 'node:path';
import { readText } from '../config/read-text.ts';
import { parseJson } from '../config/sources/json.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ToolId } from '../model/names.ts';
import type { Tool, ToolDefinition } from '../model/tool.ts';
import { LOCK_FILE, readLock } from './lock.ts';
import { createToolPins, type LoadedLock, type ToolPins } from './tool-pins.ts';

export interface Pinned {
  readonly isPinned: boolean;
  /** How the tool differs from its pin, in words for a person. */
  readonly changes?: readonly string[] | undefined;
}

export const UNPINNED: Pinned = { isPinned: false };

export interface LockedToolsOptions {
  /** Without a folder there is no lock, and no file is looked for. */
  readonly folder?: string | undefined;
  /** Refuse every tool that is not exactly as the lock holds it. */
  readonly isFrozen?: boolean | undefined;
  readonly onError: (error: unknown) => void;
}

export class LockedTools {
  readonly #options: LockedToolsOptions;
  #pins: ToolPins = createToolPins({ kind: 'absent', file: LOCK_FILE });

  constructor(options: LockedToolsOptions) {
    this.#options = options;
  }

  async read(): Promise<void> {
    const { folder, onError } = this.#options;
    if (folder === undefined) return;
    const loaded = await loadLock(folder);
    if (loaded.kind === 'broken') onError(loaded.error);
    this.#pins = createToolPins(loaded);
  }

  /** The lock file, whether or not it exists: creating it changes what is pinned. */
  watched(): readonly string[] {
    const { folder } = this.#options;
    return folder === undefined ? [] : [join(folder, LOCK_FILE)];
  }

  /** The pin of a tool. Throws `TOOL_DRIFTED` where the lock is frozen and the tool differs from it. */
  pinOf(id: ToolId, definition: ToolDefinition): Pinned {
    const { isFrozen = false } = this.#options;
    const changes = this.#pins.drift(id, definition, isFrozen);
    if (changes && isFrozen) throw new RuntimeError('TOOL_DRIFTED', { ...id, changes });
    const isPinned = this.#pins.check(id, definition).kind !== 'none';
    return isPinned || changes ? { isPinned, changes } : UNPINNED;
  }

  /** The failure of a call whose server has not listed its tools yet, so that nobody can have approved the current definition. */
  notListed({ id, name }: Tool): RuntimeError {
    const because = `server "${id.server}" has not said what its tools are now`;
    if (this.#options.isFrozen) return new RuntimeError('TOOL_DRIFTED', { ...id, changes: [because] });
    return new RuntimeError('TOOL_UNKNOWN', { name, nearest: [], because });
  }
}

/** The lock lies in the folder that Plexus is started in, beside the files that define the workspace's servers. */
export async function loadLock(folder: string): Promise<LoadedLock> {
  const file = join(folder, LOCK_FILE);
  const read = await readText(file);
  if (read.kind === 'absent') return { kind: 'absent', file };
  if (read.kind === 'text') return parseLock(file, read.text);
  const { problem } = read;
  const line = read.kind === 'not-text' ? read.position?.line : undefined;
  return brokenLock(file, problem, line, read.kind === 'unreadable' ? read.cause : undefined);
}

export async function parseLock(file: string, text: string): Promise<LoadedLock> {
  // Plexus writes strict JSON, and only that is parsed fast: a repository's large lock must not keep the host busy.
  const parsed = await parseJson(text, { isStrict: text.length > limits.workspaceFile.bytes });
  if (!parsed.ok) return brokenLock(file, parsed.problem.message, parsed.problem.line);
  const { document } = parsed;
  // A merge of two branches may list a tool twice; only a person can say which pin counts.
  const [twice] = await document.repeated();
  if (twice) return brokenLock(file, `it holds ${twice.join(' → ')} twice`, (await document.locate(twice))?.line);
  const found = readLock(document.value);
  if (found.kind === 'lock') return { ...found, file };
  const { path, problem } = found.fault;
  const place = path.length > 0 ? `${problem} (${path.join(' → ')})` : problem;
  return brokenLock(file, place, (await document.locate(path))?.line);
}

function brokenLock(file: string, problem: string, line: number | undefined, cause?: unknown): LoadedLock {
  const data = { file, problem, ...(line !== undefined && { line }) };
  return { kind: 'broken', file, error: new RuntimeError('LOCK_INVALID', data, { cause }) };
}
