// Owns asking a person: the port a host supplies, and what its silence, its errors and its odd answers mean – no.

import type { Clock } from '../kernel/clock.ts';
import type { JsonObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { QualifiedName, ServerName, ToolId } from '../model/names.ts';
import type { ToolAnnotations } from '../model/tool.ts';

export type ApprovalRequest =
  | {
      readonly kind: 'tool';
      readonly tool: ToolId;
      readonly name: QualifiedName;
      readonly arguments: JsonObject;
      readonly annotations: ToolAnnotations;
      /** The rule that asks, or that there is none. */
      readonly because: string;
      readonly byRule: boolean;
    }
  | { readonly kind: 'server'; readonly server: ServerName; readonly file?: string; readonly command: string };

export type ApprovalAnswer = 'no' | 'once' | 'session' | 'always';

/** Supplied by the host. The default says no. */
export type Approve = (request: ApprovalRequest) => Promise<ApprovalAnswer>;

export const approveNothing: Approve = async () => 'no';

const yes: readonly string[] = ['once', 'session', 'always'] satisfies ApprovalAnswer[];

/** Never rejects and never hangs: a host that throws, answers nonsense or nothing has not said yes. */
export async function askFor(approve: Approve, request: ApprovalRequest, clock: Clock): Promise<ApprovalAnswer> {
  return new Promise((resolve) => {
    const cancel = clock.after(limits.approvalMs, () => resolve('no'));
    const settle = (answer: ApprovalAnswer) => {
      cancel();
      resolve(answer);
    };
    Promise.resolve()
      .then(() => approve(request))
      .then(
        (answer) => settle(yes.includes(answer) ? answer : 'no'),
        () => settle('no'),
      );
  });
}
