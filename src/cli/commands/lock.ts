// Owns `plexus lock`: records in plexus.lock how each tool is defined now, for reviews, or checks the tools against it.

import { readFileSync } from 'node:fs';
import type { Runtime } from '../../api.ts';
import { namesOf } from '../../catalog/flagged-sentences.ts';
import { signalsOf } from '../../catalog/flagged-text.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { ClientHandlers } from '../../connection/client-handlers.ts';
import { fullness, isSystemError, reasonOf, replaceFile } from '../../kernel/replace-file.ts';
import { RuntimeError } from '../../model/errors.ts';
import type { ServerName, ToolId } from '../../model/names.ts';
import { compareLocks, formatLock, LOCK_FILE, type Lock, type LockChange } from '../../trust/lock.ts';
import { editedLines } from '../../trust/lock-lines.ts';
import { pinOf } from '../../trust/tool-pin.ts';
import type { LoadedLock } from '../../trust/tool-pins.ts';
import type { Command, CommandResult, Context } from '../command.ts';
import { environmentOf, loadConfigFor } from '../load-config.ts';
import { checkEnd, counted, lockDifferencesText } from '../render/lock.ts';
import { indent, printable } from '../render/text.ts';
import { unknownServer } from '../unknown-server.ts';
import {
  type NotReadyServer,
  serversWithoutTools,
  warnOfDiagnostics,
  warnOfNotReady,
  withRuntime,
} from '../with-runtime.ts';

export const lock: Command = {
  usage: 'lock [SERVER …] [--check]',
  options: { check: { type: 'boolean' }, frozen: { type: 'boolean' } },
  help: {
    check: 'write nothing; exit with 3 if a tool differs from plexus.lock, or a line of the file from its tool',
    frozen: 'the same as --check',
  },
  examples: ['lock', 'lock files', 'lock --check'],
  async run(context) {
    const config = await loadConfigFor(context);
    const servers = serversToLock(context, config);
    // Fail before a server starts: an unreadable lock must not be replaced, since it may hold other servers' tools.
    const { cwd: folder } = environmentOf(context);
    await usableLock(folder);
    return withRuntime(
      context,
      { only: servers, required: 'report', ...decliningHandlers },
      async (runtime, diagnostics) => {
        warnOfDiagnostics(diagnostics, context);
        const notReady = serversWithoutTools(runtime).filter(({ server }) => servers.includes(server));
        warnOfNotReady(notReady, context);
        const loaded = await usableLock(folder);
        const before: Lock = loaded.kind === 'lock' ? loaded.lock : new Map();
        const kept = context.positionals.length > 0 ? before : stillConfigured(before, config);
        const now = new Map([...kept, ...pinsOf(runtime, servers, notReady)]);
        warnOfInstructions(runtime, compareLocks(before, now), context);
        return writeOrCompare(context, { loaded, before, now, notReady });
      },
    );
  },
};

/**
 * Some servers have tools only for clients that can be asked, so a lock from a terminal would differ from one of CI. Every capability
 * is offered, and every request declined: writing down tools needs no answers.
 */
const decliningHandlers: ClientHandlers = {
  elicit: async () => ({ action: 'decline' }),
  sample: async () => {
    throw Object.assign(new Error('plexus lock only lists tools'), { code: REFUSED });
  },
  roots: async () => [],
};

/** The code that the protocol gives to a person's refusal to sample. */
const REFUSED = -1;

/** The named servers, or all that start by themselves. The lock keeps its entries of the others. */
function serversToLock(context: Context, config: LoadedConfig): readonly ServerName[] {
  const { positionals } = context;
  const names = config.definitions.map(({ name }) => name);
  const unknown = positionals.find((name) => !names.includes(name));
  if (unknown !== undefined) throw unknownServer(unknown, config, context);
  if (positionals.length > 0) return positionals;
  return config.definitions
    .filter(({ name, settings }) => settings.enabled && settings.lifecycle !== 'manual' && !config.refused.has(name))
    .map(({ name }) => name);
}

async function usableLock(folder: string): Promise<LoadedLock> {
  const { loadLock } = await import('../../trust/locked-tools.ts');
  const loaded = await loadLock(folder);
  if (loaded.kind === 'broken') throw loaded.error;
  return loaded;
}

function stillConfigured(before: Lock, { definitions, invalid, suppressed }: LoadedConfig): Lock {
  const names = new Set([...definitions, ...invalid, ...suppressed].map(({ name }) => name));
  return new Map([...before].filter(([server]) => names.has(server)));
}

function pinsOf(runtime: Runtime, servers: readonly ServerName[], notReady: readonly NotReadyServer[]): Lock {
  const reached = servers.filter((name) => !notReady.some(({ server }) => server === name));
  const tools = runtime.getTools().filter(({ freshness }) => freshness === 'live');
  return new Map(
    reached.map((server) => {
      const own = tools.filter(({ id }) => id.server === server);
      return [server, new Map(own.map(({ id, definition }) => [id.tool, pinOf(definition)]))];
    }),
  );
}

/** Others will trust what the lock holds, so text in it that looks like instructions to a model is reported. */
function warnOfInstructions(runtime: Runtime, changes: readonly LockChange[], context: Context): void {
  const isNews = ({ server, tool }: ToolId) => changes.some((each) => each.server === server && each.tool === tool);
  const lines = runtime.getTools().flatMap(({ id, definition }) => {
    const signals = isNews(id) ? namesOf(signalsOf(definition)) : [];
    return signals.length > 0 ? [`${id.tool} of server "${id.server}" (${signals.join(', ')})`] : [];
  });
  if (lines.length === 0) return;
  const text = `CAREFUL: the definitions of these tools hold text that looks like instructions to a model:\n${indent(lines.join('\n'))}`;
  context.warn((paint) => paint.yellow(printable(text)));
}

interface LockComparison {
  readonly loaded: LoadedLock;
  readonly before: Lock;
  readonly now: Lock;
  readonly notReady: readonly NotReadyServer[];
}

async function writeOrCompare(
  context: Context,
  { loaded, before, now, notReady }: LockComparison,
): Promise<CommandResult> {
  const { file } = loaded;
  const isCheck = context.values['check'] === true || context.values['frozen'] === true;
  const changes = compareLocks(before, now);
  const olderVersion = loaded.kind === 'lock' ? loaded.olderVersion : undefined;
  const edited = loaded.kind === 'lock' ? editedLines(readNow(file) ?? '', before, now, olderVersion) : [];
  const result = { file, changes, edited, isOlder: olderVersion !== undefined };
  const differs = changes.length > 0 || edited.length > 0 || loaded.kind === 'absent';
  const written = !isCheck && (await write(file, formatLock(now)));
  const toolCount = [...now.values()].reduce((sum, tools) => sum + tools.size, 0);
  const end = isCheck
    ? checkEnd(result, { isAbsent: loaded.kind === 'absent', isComplete: notReady.length === 0 })
    : `${LOCK_FILE} records ${counted(toolCount, 'tool')} of ${counted(now.size, 'server')}.`;
  return {
    data: { ...result, written, servers: now.size, tools: toolCount, notReady },
    text: (paint) => [...lockDifferencesText(result, paint), end].join('\n\n'),
    exitCode: isCheck && differs ? 3 : notReady.length > 0 ? 4 : 0,
  };
}

/** Replaces a symbolic link instead of following it: the repository decides where it leads. */
async function write(file: string, text: string): Promise<boolean> {
  try {
    return readNow(file) !== text && (await replaceFile(file, text, { mode: 0o644 }));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new RuntimeError(
      'OUTPUT_UNWRITABLE',
      { file, problem: reasonOf(error), ...fullness(error) },
      { cause: error },
    );
  }
}

function readNow(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
