// Owns asking a person for approval: the `Approve` port that a host supplies. Silence, an error and an unknown answer all mean no.

import type { AnsweredInput } from '../config/preview.ts';
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
      /** The id of the call, as in its events. */
      readonly callId: string;
      readonly tool: ToolId;
      readonly name: QualifiedName;
      /** Where the tool's server comes from, as a label. */
      readonly source: string;
      /** Without secrets, shortened for a person to read. */
      readonly arguments: JsonObject;
      /** The tool's annotations, as its server sent them. */
      readonly annotations: ToolAnnotations;
      /** Why the call is asked about: a rule, no rule at all, or what the agent has read. */
      readonly because: string;
      /** A rule or setting demands the question; false where no rule matches. */
      readonly byRule: boolean;
      /** The question is asked for every call: the answer counts for this call alone. */
      readonly isEveryTime?: true;
      /** How it differs from what was approved before. */
      readonly changes?: readonly string[];
    }
  | {
      readonly kind: 'server';
      readonly server: ServerName;
      readonly file?: string;
      /** The launch that would run: variables, command, arguments, folder. */
      readonly command: string;
      /** The same with folders and answered inputs filled in, where that makes a difference. */
      readonly filled?: string;
      /** The inputs that the entry reads, and who answered them. */
      readonly inputs?: readonly AnsweredInput[];
      /** How it differs from what was approved before. */
      readonly changes?: readonly string[];
      /** The file of the workspace that the user's own entry runs, as the entry names it. */
      readonly workspaceFile?: string;
      /** The server is remote, and its address leads to this machine or to the network around it. */
      readonly isLocal?: true;
      /** The user's variables that the server reads; a yes gives it exactly these. */
      readonly variables: readonly string[];
    };

export type ApprovalAnswer = 'no' | 'once' | 'session' | 'always';

export interface QuestionOptions {
  /** Aborts when no answer is wanted any more: the call was cancelled, the time for an answer is over, or the runtime closes. */
  readonly signal: AbortSignal;
}

/** Supplied by the host; the default says no. A host that shows a prompt closes it when the signal aborts. */
export type Approve = (request: ApprovalRequest, options: QuestionOptions) => Promise<ApprovalAnswer>;

export const approveNothing: Approve = async () => 'no';

const answers: readonly ApprovalAnswer[] = ['no', 'once', 'session', 'always'];

/** Both have to agree, and the weaker answer counts. `parent` is asked only where `child` agrees. */
export function approveBoth(parent: Approve, child: Approve): Approve {
  return async (request, options) => {
    const first = await child(request, options);
    // An answer that is none of these is left to `askFor`, which takes it for a no.
    if (first === 'no' || !answers.includes(first)) return first;
    const second = await parent(request, options);
    return answers.indexOf(second) < answers.indexOf(first) ? second : first;
  };
}

const yes: readonly string[] = ['once', 'session', 'always'] satisfies ApprovalAnswer[];

export interface ApprovalOptions {
  readonly approve: Approve;
  readonly clock: Clock;
  /** Cancelling it rejects the question with its reason. */
  readonly cancellation?: Cancellation;
  /** Receives what `approve` threw, and an error for an unknown answer. */
  readonly onError: (error: unknown) => void;
}

/** Never hangs, and rejects only when cancelled: a host that throws, answers nonsense or does not answer has said no. */
export async function askFor(request: ApprovalRequest, options: ApprovalOptions): Promise<ApprovalAnswer> {
  const { approve, clock, onError, cancellation = new Cancellation() } = options;
  const silence = createDeferred<ApprovalAnswer>();
  const cancelTimer = clock.after(limits.approvalMs, () => silence.resolve('no'));
  const withdrawn = new AbortController();
  const answered = Promise.resolve()
    .then(() => approve(request, { signal: withdrawn.signal }))
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
    withdrawn.abort(cancellation.reason);
  }
}
