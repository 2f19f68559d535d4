// Owns `plexus lock`: records in plexus.lock how each tool is defined now, for reviews, or checks the tools against it.

import { readFileSync } from 'node:fs';
import type { Runtime } from '../../api.ts';
import { namesOf, signalsOf } from '../../catalog/flagged-text.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { isSystemError, reasonOf, replaceFile } from '../../kernel/replace-file.ts';
import { RuntimeError } from '../../model/errors.ts';
import type { ServerName, ToolId } from '../../model/names.ts';
import { compareLocks, formatLock, LOCK_FILE, type Lock, type LockChange } from '../../trust/lock.ts';
import { pinOf } from '../../trust/tool-pin.ts';
import type { LoadedLock } from '../../trust/tool-pins.ts';
import type { Command, CommandResult, Context, Paint } from '../command.ts';
import { environmentOf, loadConfigFor } from '../load-config.ts';
import { type Cell, indent, printable, table } from '../render/text.ts';
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
    check: 'write nothing; exit with 3 if a tool differs from plexus.lock',
    frozen: 'the same as --check',
  },
  examples: ['lock', 'lock files', 'lock --check'],
  async run(context) {
    const config = await loadConfigFor(context);
    const servers = serversToLock(context, config);
    // Fail before a server starts: an unreadable lock must not be replaced, since it may hold other servers' tools.
    const { cwd: folder } = environmentOf(context);
    await usableLock(folder);
    return withRuntime(context, { only: servers, required: 'report' }, async (runtime, diagnostics) => {
      warnOfDiagnostics(diagnostics, context);
      const notReady = serversWithoutTools(runtime).filter(({ server }) => servers.includes(server));
      warnOfNotReady(notReady, context);
      const loaded = await usableLock(folder);
      const before: Lock = loaded.kind === 'lock' ? loaded.lock : new Map();
      const kept = context.positionals.length > 0 ? before : stillConfigured(before, config);
      const now = new Map([...kept, ...pinsOf(runtime, servers, notReady)]);
      warnOfInstructions(runtime, compareLocks(before, now), context);
      return writeOrCompare(context, { loaded, before, now, notReady });
    });
  },
};

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
  const differs = changes.length > 0 || loaded.kind === 'absent';
  const written = !isCheck && (await write(file, formatLock(now)));
  const toolCount = [...now.values()].reduce((sum, tools) => sum + tools.size, 0);
  const end = isCheck
    ? differs
      ? `${loaded.kind === 'absent' ? `There is no ${LOCK_FILE}` : `The tools differ from ${LOCK_FILE}`}. Review them, then run: plexus lock`
      : `${notReady.length > 0 ? 'All reachable tools are' : 'All tools are'} as ${LOCK_FILE} records them.`
    : `${LOCK_FILE} records ${counted(toolCount, 'tool')} of ${counted(now.size, 'server')}.`;
  return {
    data: { file, written, changes, servers: now.size, tools: toolCount, notReady },
    text: (paint) => (changes.length > 0 ? `${changesText(changes, paint)}\n\n${end}` : end),
    exitCode: isCheck && differs ? 3 : notReady.length > 0 ? 4 : 0,
  };
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

function changesText(changes: readonly LockChange[], paint: Paint): string {
  const colors = { added: paint.green, removed: paint.red, changed: paint.yellow };
  const rows = changes.flatMap(({ server, tool = '(no tools)', change, changes: [first = '', ...more] = [] }) => {
    const row: Cell[] = [{ text: server }, { text: tool, paint: paint.bold }, { text: change, paint: colors[change] }];
    const further = more.map((text): Cell[] => [{ text: '' }, { text: '' }, { text: '' }, { text }]);
    return [[...row, { text: first }], ...further];
  });
  return table(['SERVER', 'TOOL', 'CHANGE', 'WHAT'], rows, paint);
}

/** Replaces a symbolic link instead of following it: the repository decides where it leads. */
async function write(file: string, text: string): Promise<boolean> {
  try {
    return readNow(file) !== text && (await replaceFile(file, text, { mode: 0o644 }));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new RuntimeError('OUTPUT_UNWRITABLE', { file, problem: reasonOf(error) }, { cause: error });
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
