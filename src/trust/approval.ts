// Owns asking a person: the port a host supplies, and what its silence, its errors and its odd answers mean – no.

import { Cancellation } from '../kernel/cancellation.ts';
import type { Clock } from '../kernel/clock.ts';
import { createDeferred } from '../kernel/deferred.ts';
import type { JsonObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { QualifiedName, ServerName, ToolId } from '../model/names.ts';
import type { ToolAnnotations } from '../model/tool.ts';

export type ApprovalRequest =
  | {
      readonly kind: 'tool';
      readonly tool: ToolId;
      readonly name: QualifiedName;
      /** Where its server comes from. */
      readonly source: string;
      /** Without secrets, and no more of them than somebody would read. */
      readonly arguments: JsonObject;
      /** What the tool says of itself. */
      readonly annotations: ToolAnnotations;
      /** The rule that asks, or that there is none; what else makes the call worth a question. */
      readonly because: string;
      /** Somebody wants to be asked about it; otherwise nobody has said anything. */
      readonly byRule: boolean;
      /** Somebody wants to be asked each time: whatever is answered counts for this call alone. */
      readonly isEveryTime?: true;
      /** It was approved before, in another form: what is different now. */
      readonly changes?: readonly string[];
    }
  | {
      readonly kind: 'server';
      readonly server: ServerName;
      readonly file?: string;
      /** Everything that decides what runs: variables, command, arguments, folder. */
      readonly command: string;
      /** It was approved before, in another form: what is different now. */
      readonly changes?: readonly string[];
      /** The person's own file that defines another server of this name, which is not used now. */
      readonly displaces?: string;
      /** The person's variables that it reads; a yes gives it exactly these. */
      readonly variables: readonly string[];
    };

export type ApprovalAnswer = 'no' | 'once' | 'session' | 'always';

/** Supplied by the host. The default says no. */
export type Approve = (request: ApprovalRequest) => Promise<ApprovalAnswer>;

export const approveNothing: Approve = async () => 'no';

const yes: readonly string[] = ['once', 'session', 'always'] satisfies ApprovalAnswer[];

export interface Asking {
  readonly approve: Approve;
  readonly clock: Clock;
  /** Rejects with its reason when the call that asks is cancelled. */
  readonly cancellation?: Cancellation;
  /** Told what the host's function threw, or answered instead of a word it knows. */
  readonly onError: (error: unknown) => void;
}

/** Never hangs, and rejects only when cancelled: a host that throws, answers nonsense or nothing has not said yes. */
export async function askFor(request: ApprovalRequest, asking: Asking): Promise<ApprovalAnswer> {
  const { approve, clock, onError, cancellation = new Cancellation() } = asking;
  const silence = createDeferred<ApprovalAnswer>();
  const cancelTimer = clock.after(limits.approvalMs, () => silence.resolve('no'));
  const answered = Promise.resolve()
    .then(() => approve(request))
    .then(
      (answer): ApprovalAnswer => {
        if (yes.includes(answer)) return answer;
        if (answer !== 'no')
          onError(
            new TypeError(
              `approve must answer no, once, session or always, not ${typeof answer === 'string' ? answer : typeof answer}`,
            ),
          );
        return 'no';
      },
      (error: unknown): ApprovalAnswer => {
        onError(error);
        return 'no';
      },
    );
  try {
    return await cancellation.race(Promise.race([answered, silence.promise]));
  } finally {
    cancelTimer();
  }
}
