// Owns the two tools of a served agent: one begins a conversation, the other replies in it. What a client may ask for, what it is told
// meanwhile, and how an answer or a failure is worded.

import type { CancelTimer, Clock } from '../kernel/clock.ts';
import type { JsonObject } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { type HostRule, hostRules } from '../policy/host-rules.ts';
import type { OwnTool, ServedCall } from '../serving/door.ts';
import type { ServedTerms } from './journal.ts';
import { endWords } from './loop.ts';
import type { AgentEvent, RunResult } from './run-events.ts';
import { type ConversationLease, ownerOf, type ServedConversations } from './served-conversations.ts';
import type { Folders } from './served-folders.ts';

export interface ChangedConversation {
  readonly id: string;
  readonly owner: string;
  readonly isNew: boolean;
}

export interface ToolDeps {
  readonly name: string;
  readonly cwd: string;
  readonly clock: Clock;
  readonly folders: Folders;
  readonly conversations: ServedConversations;
  readonly changed: (change: ChangedConversation) => void;
  /** The names of the models that a client may ask for. */
  readonly models: readonly string[];
  readonly hasFolders: boolean;
}

/** A conversation may change whatever its tools can reach. */
const annotations = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };

const sessionId = { type: 'string', description: 'The conversation; needed for a reply.' };
const response = { type: 'string', description: "The agent's answer." };

export function createTools(deps: ToolDeps): { readonly [name: string]: OwnTool } {
  const { name, cwd, folders, conversations } = deps;
  return {
    [name]: {
      title: 'Begin a conversation',
      description: 'Gives a task to an agent that has tools of its own, and returns its answer when it is done.',
      inputSchema: beginSchema(deps),
      outputSchema: objectOf({ session_id: sessionId, response }, ['session_id', 'response']),
      annotations,
      run: (args, call) =>
        withProgress(call, deps.clock, async (tell) => {
          const asked = args as BeginArguments;
          const terms = termsOf(asked, ownerOf(name, call.peer));
          const lease = await conversations.begin(folders.find(asked.cwd ?? cwd), terms);
          return converse(lease, { prompt: asked.prompt, call, tell, isNew: true, deps });
        }),
    },
    [`${name}-reply`]: {
      title: 'Reply in a conversation',
      description: `Goes on with a conversation that "${name}" began.`,
      inputSchema: objectOf(
        {
          session_id: { type: 'string', description: `The session_id that "${name}" returned.` },
          message: { type: 'string', minLength: 1, description: 'The next message to the agent.' },
        },
        ['session_id', 'message'],
      ),
      outputSchema: objectOf({ response }, ['response']),
      annotations,
      run: (args, call) =>
        withProgress(call, deps.clock, async (tell) => {
          const { session_id: id, message: prompt } = args as ReplyArguments;
          const lease = await conversations.resume(id, ownerOf(name, call.peer));
          return converse(lease, { prompt, call, tell, isNew: false, deps });
        }),
    },
  };
}

/** As the input schemas say. */
type BeginArguments = JsonObject & {
  readonly prompt: string;
  readonly model?: string;
  readonly cwd?: string;
  readonly permissions?: readonly HostRule[];
  readonly sandbox?: 'read-only' | 'workspace-write';
  readonly max_steps?: number;
};

type ReplyArguments = JsonObject & { readonly session_id: string; readonly message: string };

const objectOf = (properties: JsonObject, required: readonly string[]): JsonObject => ({
  ...{ type: 'object', properties, required, additionalProperties: false },
});

function beginSchema({ models, hasFolders }: ToolDeps): JsonObject {
  const rule = objectOf(
    {
      tool: {
        type: 'string',
        minLength: 1,
        description: 'A qualified name such as mcp__files__write, where * stands for anything.',
      },
      action: { enum: ['allow', 'ask', 'deny'] },
      args: { type: 'object', description: 'Conditions on arguments.' },
    },
    ['tool', 'action'],
  );
  return objectOf(
    {
      prompt: { type: 'string', minLength: 1, description: 'The task for the agent.' },
      ...(models.length > 0 && { model: { enum: models, description: 'A model other than the usual one.' } }),
      ...(hasFolders && {
        cwd: { type: 'string', minLength: 1, description: 'The folder to work in, if not the usual one.' },
      }),
      permissions: {
        type: 'array',
        items: rule,
        maxItems: limits.servedAgent.rules,
        description:
          'Rules for the calls of this conversation. They only tighten: an allow makes an exception from the other rules given here.',
      },
      sandbox: {
        enum: ['read-only', 'workspace-write'],
        description: 'read-only: only tools that are known to only read. workspace-write: as configured.',
      },
      max_steps: { type: 'integer', minimum: 1, description: 'How often the model may answer at most for one prompt.' },
    },
    ['prompt'],
  );
}

/** Throws for rules that cannot be read, or kept. */
function termsOf({ model, permissions, sandbox, max_steps }: BeginArguments, owner: string): ServedTerms {
  if (permissions !== undefined) hostRules(permissions);
  if (JSON.stringify(permissions ?? []).length > limits.servedAgent.ruleChars)
    throw new Error(`The permissions are too long: at most ${limits.servedAgent.ruleChars} characters are kept.`);
  return {
    owner,
    ...(model !== undefined && { model }),
    ...(permissions !== undefined && { permissions }),
    ...(sandbox === 'read-only' && { isReadOnly: true }),
    ...(max_steps !== undefined && { maxSteps: max_steps }),
  };
}

type TellProgress = (message: string) => void;

/** Tells the client at least every few seconds that the call goes on, and what it does. */
async function withProgress<Value>(
  call: ServedCall,
  clock: Clock,
  work: (tell: TellProgress) => Promise<Value>,
): Promise<Value> {
  let progress = 0;
  let stopTimer: CancelTimer | undefined;
  const tell = (message: string) => {
    stopTimer?.();
    call.progress({ progress: ++progress, message });
    stopTimer = clock.after(limits.servedAgent.progressMs, () => tell(message), 'background');
  };
  try {
    tell('opening the conversation');
    return await work(tell);
  } finally {
    stopTimer?.();
  }
}

interface Prompted {
  readonly prompt: string;
  readonly call: ServedCall;
  readonly tell: TellProgress;
  readonly isNew: boolean;
  readonly deps: Pick<ToolDeps, 'name' | 'changed'>;
}

async function converse(lease: ConversationLease, { prompt, call, tell, isNew, deps }: Prompted): Promise<JsonObject> {
  const { id } = lease;
  const named = isNew ? [textBlock(`session_id: ${id}`)] : [];
  try {
    const reply = await lease.run(prompt, call, (event) => {
      const message = progressOf(event);
      if (message !== undefined) tell(message);
    });
    const text = responseOf(reply);
    return {
      content: [textBlock(text), ...named],
      structuredContent: { ...(isNew && { session_id: id }), response: text },
    };
  } catch (error) {
    // The conversation is there all the same, and its client can go on with it.
    if (!(error instanceof RuntimeError) || call.signal.aborted) throw error;
    return { isError: true, content: [textBlock(error.message), ...named] };
  } finally {
    lease.release();
    deps.changed({ id, owner: ownerOf(deps.name, call.peer), isNew });
  }
}

const textBlock = (text: string): JsonObject => ({ type: 'text', text });

/** An answer that a budget cut short says so. */
function responseOf({ text, end }: RunResult): string {
  if (end === 'replied') return text;
  return [text, `[The agent stopped: ${endWords[end]}.]`].filter((part) => part !== '').join('\n\n');
}

function progressOf(event: AgentEvent): string | undefined {
  switch (event.type) {
    case 'conversation.started':
      return 'the model answers';
    case 'call.requested':
      return `calling ${event.name}`;
    case 'call.answered':
      return `${event.name} ${event.isError ? 'failed' : 'answered'}`;
    case 'model.delayed':
      return `the model is asked again in ${Math.ceil(event.waitMs / 1_000)} s: ${event.reason}`;
    default:
      return undefined;
  }
}
