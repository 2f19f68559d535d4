// Owns the one recheck of a call after any wait: for a person, for its turn, or for its server. Meanwhile a rule may have been
// added, another server may have taken the name, or the tool's definition may have changed.

import { RuntimeError, toolChanged, toolReplaced } from '../../model/errors.ts';
import type { ServerName } from '../../model/names.ts';
import type { Tool } from '../../model/tool.ts';
import type { LockedTools } from '../../trust/locked-tools.ts';
import { toolHash } from '../../trust/tool-pin.ts';
import { type ToolCall, toolOf } from '../pipeline.ts';
import type { Decider, DeciderDeps } from './decide.ts';

export interface RecheckDeps extends Pick<DeciderDeps, 'registry' | 'currentDefinition'> {
  readonly decider: Pick<Decider, 'decideNow'>;
  readonly lock: Pick<LockedTools, 'notListed'>;
  /** Whether the server has listed its tools in its current session. */
  readonly isListed: (server: ServerName) => boolean;
}

export interface Recheck {
  /** Throws where the call may no longer be made: after waiting for a person or for its turn. */
  recheckPermission(call: ToolCall): void;
  /** The same after waiting for the server; a call that is bound to a definition also needs the server's current list. */
  recheckDefinition(call: ToolCall): void;
}

export function createRecheck({ registry, decider, currentDefinition, lock, isListed }: RecheckDeps): Recheck {
  const requireSameServer = (call: ToolCall, tool: Tool): void => {
    const { server } = tool.id;
    const because = registry.whyNotCalled(server);
    if (because !== undefined) throw new RuntimeError('SERVER_DENIED', { server, because });
    // A builtin tool is not listed by the server it reaches; its call remembers which server that was.
    const isReplaced = call.builtin
      ? (call.permit?.server ?? registry.identity(server)) !== registry.identity(server)
      : registry.isReplaced(tool) || registry.isHidden(tool.id);
    if (isReplaced) throw toolReplaced(tool);
  };
  const recheckPermission = (call: ToolCall): void => {
    const tool = toolOf(call);
    requireSameServer(call, tool);
    const { verdict, because } = decider.decideNow(call);
    if (verdict === 'deny') throw new RuntimeError('CALL_DENIED', { ...tool.id, because });
    const passedWithoutQuestion = call.permit?.isAllowed ?? true;
    if (verdict === 'allow' && passedWithoutQuestion) return;
    if (passedWithoutQuestion) throw new RuntimeError('APPROVAL_REFUSED', { ...tool.id, name: tool.name, because });
    // A person or the host's permission system said yes to this one definition.
    if (toolHash(currentDefinition(tool)) !== call.permit?.toolHash) throw toolChanged(tool);
  };
  return {
    recheckPermission,
    recheckDefinition(call) {
      recheckPermission(call);
      // A cached definition does not count where the call is bound to the definition.
      if (call.permit?.toolHash === undefined || call.builtin || isListed(toolOf(call).id.server)) return;
      throw lock.notListed(toolOf(call));
    },
  };
}
