// Owns what a call is held against before it is made: the rules and modes in effect, what a person granted, what a lock pins,
// and what the agent has read. Joins what policy, trust and the configuration know for the stage that asks.

import { join } from 'node:path';
import { type AuthorizeDeps, authorize } from './call/authorize.ts';
import { cautionFor } from './call/caution.ts';
import { decideNow, type PermissionDeps, type Pinned, permit } from './call/permission.ts';
import { type Stage, type ToolCall, toolOf } from './call/pipeline.ts';
import { changed } from './call/resolve.ts';
import { toolSettingsOf } from './catalog/filter.ts';
import { RuntimeError } from './model/errors.ts';
import type { ServerName, ToolId } from './model/names.ts';
import type { ApprovalMode, ToolSettings } from './model/server.ts';
import type { Tool, ToolDefinition } from './model/tool.ts';
import { strictest } from './policy/approval-mode.ts';
import { createGate, type PermissionGate } from './policy/gate.ts';
import type { Standing } from './standing.ts';
import { LOCK_FILE } from './trust/lock.ts';
import type { GrantState, ToolGrants } from './trust/tool-grants.ts';
import { toolHash } from './trust/tool-pin.ts';
import { createToolPins, type ToolPins } from './trust/tool-pins.ts';
import { loadLock } from './trusting.ts';

export interface PermittingDeps
  extends Pick<AuthorizeDeps, 'approve' | 'redact' | 'clock' | 'emit' | 'onError' | 'closing'> {
  readonly standing: Standing;
  readonly grants: ToolGrants;
  readonly pins: Pins;
  readonly trustsAnnotations: (tool: Tool) => boolean;
  /** What its server says of the tool now; a turn may be older. */
  readonly present: (tool: Tool) => ToolDefinition;
  readonly gate: PermissionGate | undefined;
}

/** The stage of a call at which it is allowed, asked about, or refused. */
export function createPermitting(deps: PermittingDeps): Stage {
  const { standing, grants, pins, trustsAnnotations, present, gate, ...asking } = deps;
  const { clock, onError } = asking;
  const closing = asking.closing && { closing: asking.closing };
  const deciding = decidingParts({ standing, pins, trustsAnnotations, present, gate, clock, onError, ...closing });
  return authorize({
    ...asking,
    present,
    refusal: standing.refusal,
    identity: standing.identity,
    formOf: (tool) => toolHash(present(tool)),
    decide: permit(deciding),
    decideNow: (call) => decideNow(deciding, call),
    caution: (call) =>
      cautionFor(call, {
        settings: () => standing.config().settings,
        toolSettings: (id) => toolSettingsIn(standing, id),
        present,
        isReadOnly: (tool) => trustsAnnotations(tool) && isReadOnly(present(tool)),
      }),
    grants: {
      judge: async (tool) => {
        const server = standing.definition(tool.id.server);
        return server === undefined ? UNKNOWN : grants.judge(server, present(tool));
      },
      grant: async (tool) => {
        const server = standing.definition(tool.id.server);
        // Code of a host is known by a name alone, which another host may use for something else.
        if (server === undefined || server.launch.kind === 'in-process') return false;
        await grants.grant(server, present(tool));
        return true;
      },
    },
  });
}

export interface Recheck {
  /** For a call that waited for others: it may be made still. */
  readonly requirePermitted: (call: ToolCall) => void;
  /** For one that waited for its server: that is there now, and the tool is what was agreed to. */
  readonly requireSame: (call: ToolCall) => void;
}

/** What was judged when a call began, once more, for one that had to wait: nobody agreed to what it may be by now. */
export function createRecheck(deps: DecidingDeps & { readonly isListed: (server: ServerName) => boolean }): Recheck {
  const { standing, present, isListed } = deps;
  const deciding = decidingParts(deps);
  const requirePermitted = (call: ToolCall): void => {
    const tool = toolOf(call);
    const { id } = tool;
    standing.requireStill(tool);
    if (call.builtin) return;
    const { verdict, because } = decideNow(deciding, call);
    if (verdict === 'deny') throw new RuntimeError('CALL_DENIED', { ...id, because });
    if (verdict === 'allow') return;
    if (call.permit?.isAllowed ?? true) throw new RuntimeError('APPROVAL_REFUSED', { ...id, name: tool.name, because });
    if (toolHash(present(tool)) !== call.permit?.form) throw changed(tool);
  };
  return {
    requirePermitted,
    requireSame: (call) => {
      requirePermitted(call);
      // Where its form counts, a form that is only remembered is none.
      if (call.permit?.form === undefined || call.builtin || isListed(toolOf(call).id.server)) return;
      throw deps.pins.unseen(toolOf(call));
    },
  };
}

export type DecidingDeps = Pick<
  PermittingDeps,
  'standing' | 'pins' | 'trustsAnnotations' | 'present' | 'gate' | 'clock' | 'onError' | 'closing'
>;

/** What is decided about a call before anybody is asked; whoever only explains it asks the same. */
export function createDeciding(deps: DecidingDeps): ReturnType<typeof permit> {
  return permit(decidingParts(deps));
}

function decidingParts({ standing, pins, ...deps }: DecidingDeps): PermissionDeps {
  const own = createGate({ judge: standing.judge, modeOf: (id) => modeIn(standing, id) });
  return {
    decide: own.decide,
    ...{ judgeOf: standing.judgeOf, isUnapprovedWorkspaceServer: standing.isUnapprovedWorkspaceServer },
    pinOf: (tool) => pins.pinOf(tool.id, deps.present(tool)),
    ...deps,
  };
}

export function modeIn(standing: Standing, id: ToolId): ApprovalMode {
  return strictest(standing.definition(id.server)?.settings.approval, toolSettingsIn(standing, id).approval);
}

function toolSettingsIn(standing: Standing, { server, tool }: ToolId): ToolSettings {
  const settings = standing.definition(server)?.settings;
  return settings === undefined ? {} : toolSettingsOf(tool, settings);
}

const UNKNOWN: GrantState = { kind: 'unknown' };

/** Who says both that it only reads and that it destroys is not believed the better half. */
const isReadOnly = ({ annotations }: ToolDefinition) =>
  annotations?.readOnlyHint === true && annotations.destructiveHint !== true;

export interface PinsOptions {
  readonly folder: string | undefined;
  /** Only what is pinned, exactly so, may be called. */
  readonly isFrozen: boolean;
  readonly onError: (error: unknown) => void;
}

/** The pins of the workspace, read with the configuration. */
export class Pins {
  readonly #folder: string | undefined;
  readonly #isFrozen: boolean;
  readonly #onError: (error: unknown) => void;
  #pins: ToolPins = createToolPins({ kind: 'absent', file: LOCK_FILE });

  /** Without a folder there is no lock, and no file is looked for. */
  constructor({ folder, isFrozen, onError }: PinsOptions) {
    this.#folder = folder;
    this.#isFrozen = isFrozen;
    this.#onError = onError;
  }

  async read(): Promise<void> {
    if (this.#folder === undefined) return;
    const loaded = await loadLock(this.#folder);
    if (loaded.kind === 'broken') this.#onError(loaded.error);
    this.#pins = createToolPins(loaded);
  }

  /** Whose change changes what is pinned, whether or not something is there. */
  watched(): readonly string[] {
    return this.#folder === undefined ? [] : [join(this.#folder, LOCK_FILE)];
  }

  /** Its server does not say what the tool is now: nobody can have agreed to it. */
  unseen({ id, name }: Tool): RuntimeError {
    const because = `server "${id.server}" has not said what its tools are now`;
    if (this.#isFrozen) return new RuntimeError('TOOL_DRIFTED', { ...id, changes: [because] });
    return new RuntimeError('TOOL_UNKNOWN', { name, nearest: [], because });
  }

  /** Where pins are all that counts, whatever is not exactly as pinned is refused. */
  pinOf(id: ToolId, definition: ToolDefinition): Pinned {
    const changes = this.#pins.drift(id, definition, this.#isFrozen);
    if (changes && this.#isFrozen) throw new RuntimeError('TOOL_DRIFTED', { ...id, changes });
    return { isPinned: this.#pins.check(id, definition).kind !== 'none', changes };
  }
}
