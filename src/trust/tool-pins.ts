// Owns whether a tool is still as `plexus.lock` holds it. A lock only ever tightens: what it holds is allowed to nobody by that.

import type { RuntimeError } from '../model/errors.ts';
import type { ToolId } from '../model/names.ts';
import type { ToolDefinition } from '../model/tool.ts';
import type { Lock } from './lock.ts';
import { describeChanges } from './tool-changes.ts';
import { pinOf, toolHash } from './tool-pin.ts';

export type LoadedLock =
  | { readonly kind: 'absent'; readonly file: string }
  | { readonly kind: 'lock'; readonly file: string; readonly lock: Lock }
  | { readonly kind: 'broken'; readonly file: string; readonly error: RuntimeError<'LOCK_INVALID'> };

export type PinCheck =
  /** There is no lock, or it does not speak of the server. */
  | { readonly kind: 'none' }
  | { readonly kind: 'pinned' }
  /** The lock holds the server, and not this tool. */
  | { readonly kind: 'new' }
  | { readonly kind: 'changed'; readonly changes: readonly string[] };

export interface ToolPins {
  /** For every call: the same definition is looked at once. */
  check(id: ToolId, tool: ToolDefinition): PinCheck;
  /** How the tool differs, in words for a person. Where all is frozen, what the lock does not speak of differs as well. */
  drift(id: ToolId, tool: ToolDefinition, isFrozen?: boolean): readonly string[] | undefined;
  readonly file: string;
}

/**
 * Somebody wanted the pins: a lock that cannot be read must not be as good as none. Every tool then counts as changed, so that
 * a person is asked, and a runtime that has nobody to ask refuses.
 */
export function createToolPins(loaded: LoadedLock): ToolPins {
  const known = new WeakMap<ToolDefinition, { readonly server: string; readonly check: PinCheck }>();
  const look = ({ server, tool }: ToolId, definition: ToolDefinition): PinCheck => {
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
    const remembered = known.get(definition);
    // The name belongs to the definition; only the server may be another.
    if (remembered?.server === id.server) return remembered.check;
    const found = look(id, definition);
    if (Object.isFrozen(definition)) known.set(definition, { server: id.server, check: found });
    return found;
  };
  return {
    file: loaded.file,
    check,
    drift(id, definition, isFrozen = false) {
      const found = check(id, definition);
      if (found.kind === 'changed') return found.changes;
      if (found.kind === 'new') return ['it is not in plexus.lock, which holds its server'];
      if (found.kind === 'pinned' || !isFrozen) return undefined;
      return [loaded.kind === 'absent' ? `there is no ${loaded.file}` : 'plexus.lock does not hold its server'];
    },
  };
}

const none: PinCheck = { kind: 'none' };
const unreadable = (file: string) => `${file} cannot be read, so nobody knows what it holds of this tool`;
