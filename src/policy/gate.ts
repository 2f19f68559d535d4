// Owns what decides about every call: the rules, and where none speaks, the mode of the tool. A host may put its own in front.

import type { JsonObject } from '../kernel/json.ts';
import type { QualifiedName, ToolId } from '../model/names.ts';
import type { ApprovalMode } from '../model/server.ts';
import type { ToolAnnotations } from '../model/tool.ts';
import { judgeByMode } from './approval-mode.ts';
import { type Decision, strictestFirst } from './decision.ts';
import type { Judge } from './judge.ts';

export interface GatedCall {
  readonly tool: ToolId;
  /** The canonical one, whatever style is in force. */
  readonly name: QualifiedName;
  readonly arguments: JsonObject;
  /** The server's own word. */
  readonly annotations: ToolAnnotations;
  /** Whether that word is believed: its hints are trusted, and it says so now. */
  readonly trustsAnnotations: boolean;
}

/** The permission system that all calls go through, whichever it is. */
export interface PermissionGate {
  decide(call: GatedCall): GateAnswer | Promise<GateAnswer>;
}

/** A verdict is enough; without a word for people they read that it was the host. */
export type GateAnswer = Pick<Decision, 'verdict'> & Partial<Decision>;

export interface GateDeps {
  /** By the rules of this moment. */
  readonly judge: () => Judge;
  /** The stricter of what its server's entry says, and of what that says of the tool. */
  readonly modeOf: (id: ToolId) => ApprovalMode;
}

export function createGate({ judge, modeOf }: GateDeps): { decide(call: GatedCall): Decision } {
  return {
    decide({ tool, name, arguments: args, annotations, trustsAnnotations }) {
      const decision = judge().judge(tool, name, args);
      const mode = decision.verdict === 'ask' ? modeOf(tool) : undefined;
      if (!decision.byRule && mode !== undefined) return judgeByMode(mode, annotations, trustsAnnotations);
      // A file of the workspace may say "ask" as well: that must not take away that somebody wants to be asked each time.
      return mode === 'prompt' ? { ...decision, isEveryTime: true } : decision;
    },
  };
}

/** The host answers what is left to ask, and may forbid what is allowed; what a rule denies stays denied. */
export function answeredBy(own: Decision, host: GateAnswer): Decision {
  if (own.verdict === 'deny') return own;
  if (!strictestFirst.includes(host.verdict))
    return { verdict: 'ask', because: "the host's own permissions gave no answer", byRule: true };
  const { because, byRule = true } = host;
  const said = { ...host, because: because || "the host's own permissions say so", byRule };
  return own.isEveryTime && host.verdict === 'ask' ? { ...said, isEveryTime: true } : said;
}
