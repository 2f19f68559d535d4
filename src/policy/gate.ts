// Owns the permission gate that every call passes: the rules decide, and where none matches, the tool's approval mode. A host
// may add a permission system of its own.

import type { JsonObject } from '../kernel/json.ts';
import type { QualifiedName, ToolId } from '../model/names.ts';
import type { ApprovalMode } from '../model/server.ts';
import type { ToolAnnotations } from '../model/tool.ts';
import { judgeByMode } from './approval-mode.ts';
import { type Decision, strictestFirst } from './decision.ts';
import type { Judge } from './judge.ts';

export interface GatedCall {
  readonly tool: ToolId;
  /** The canonical name, whatever naming style is in force. */
  readonly name: QualifiedName;
  readonly arguments: JsonObject;
  /** As the server states them. */
  readonly annotations: ToolAnnotations;
  /** Whether they may relax the decision: the server has `trustHints`, and they come from the live server, not from the cache. */
  readonly trustsAnnotations: boolean;
}

/** A permission system that all calls go through: Plexus's own, or the host's. */
export interface PermissionGate {
  decide(call: GatedCall): GateAnswer | Promise<GateAnswer>;
}

/** A verdict is enough. Without `because`, a person reads that the host's own permissions decided. */
export type GateAnswer = Pick<Decision, 'verdict'> & Partial<Decision>;

export interface GateDeps {
  /** The judge with the rules of this moment. */
  readonly judge: () => Judge;
  /** The stricter of the mode in the server's entry and the mode there for this tool. */
  readonly modeOf: (id: ToolId) => ApprovalMode;
}

export function createRuleGate({ judge, modeOf }: GateDeps): { decide(call: GatedCall): Decision } {
  return {
    decide({ tool, name, arguments: args, annotations, trustsAnnotations }) {
      const decision = judge().judge(tool, name, args);
      const mode = decision.verdict === 'ask' ? modeOf(tool) : undefined;
      if (!decision.byRule && mode !== undefined) return judgeByMode(mode, annotations, trustsAnnotations);
      // An "ask" rule, which a workspace file may contain, must not undo the mode `prompt`, which asks before every call.
      return mode === 'prompt' ? { ...decision, isEveryTime: true } : decision;
    },
  };
}

/** The host's own permissions answer an "ask" and may tighten an "allow"; a call that a rule denies stays denied. */
export function answeredBy(own: Decision, host: GateAnswer): Decision {
  if (own.verdict === 'deny') return own;
  if (!strictestFirst.includes(host.verdict))
    return { verdict: 'ask', because: "the host's own permissions gave no answer", byRule: true };
  const { because, byRule = true } = host;
  const answer = { ...host, because: because || "the host's own permissions say so", byRule };
  return own.isEveryTime && host.verdict === 'ask' ? { ...answer, isEveryTime: true } : answer;
}
