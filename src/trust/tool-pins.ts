// Owns the comparison of a tool with its pin in `plexus.lock`. A lock only tightens: being pinned does not allow a tool.

import type { RuntimeError } from '../model/errors.ts';
import type { ToolId } from '../model/names.ts';
import type { ToolDefinition } from '../model/tool.ts';
import type { Lock } from './lock.ts';
import { describeChanges } from './tool-changes.ts';
import { pinOf, toolHash } from './tool-pin.ts';

export type LoadedLock =
  | { readonly kind: 'absent'; readonly file: string }
  | {
      readonly kind: 'lock';
      readonly file: string;
      readonly lock: Lock;
      /** Set where an older Plexus wrote the lock. */
      readonly olderVersion?: number;
    }
  | { readonly kind: 'broken'; readonly file: string; readonly error: RuntimeError<'LOCK_INVALID'> };

export type PinCheck =
  /** There is no lock, or the server is not in it. */
  | { readonly kind: 'none' }
  | { readonly kind: 'pinned' }
  /** The server is in the lock, but not this tool. */
  | { readonly kind: 'new' }
  | { readonly kind: 'changed'; readonly changes: readonly string[] };

export interface ToolPins {
  /** Runs before every call, so the result is cached per definition. */
  check(id: ToolId, tool: ToolDefinition): PinCheck;
  /** How the tool differs, in words. With `isFrozen`, a tool whose server is not in the lock differs as well. */
  drift(id: ToolId, tool: ToolDefinition, isFrozen?: boolean): readonly string[] | undefined;
  readonly file: string;
}

/**
 * A lock that cannot be read must not count as no lock, because the project wants its tools pinned. Every tool then counts as
 * changed: the user is asked, and a runtime without a user to ask refuses.
 */
export function createToolPins(loaded: LoadedLock): ToolPins {
  const checked = new WeakMap<ToolDefinition, { readonly server: string; readonly check: PinCheck }>();
  const compare = ({ server, tool }: ToolId, definition: ToolDefinition): PinCheck => {
    if (loaded.kind === 'absent') return none;
    if (loaded.kind === 'broken') return { kind: 'changed', changes: [unreadable(loaded.file)] };
    const tools = loaded.lock.get(server);
    if (tools === undefined) return none;
    const pin = tools.get(tool);
    if (pin === undefined) return { kind: 'new' };
    if (pin.hash === toolHash(definition)) return { kind: 'pinned' };
    return { kind: 'changed', changes: describeChanges(pin, pinOf(definition)) };
  };
  const check: ToolPins['check'] = (id, definition) => {
    const cached = checked.get(definition);
    // The tool's name is part of its definition, so only the server needs to be compared.
    if (cached?.server === id.server) return cached.check;
    const result = compare(id, definition);
    if (Object.isFrozen(definition)) checked.set(definition, { server: id.server, check: result });
    return result;
  };
  return {
    file: loaded.file,
    check,
    drift(id, definition, isFrozen = false) {
      const result = check(id, definition);
      if (result.kind === 'changed') return result.changes;
      if (result.kind === 'new') return ['it is not in plexus.lock, which holds its server'];
      if (result.kind === 'pinned' || !isFrozen) return undefined;
      return [loaded.kind === 'absent' ? `there is no ${loaded.file}` : 'plexus.lock does not hold its server'];
    },
  };
}

const none: PinCheck = { kind: 'none' };
const unreadable = (file: string) => `${file} cannot be read, so this tool cannot be compared with it`;
