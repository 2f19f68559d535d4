// Owns the agent as others see it over MCP: a tool that begins a conversation, one that replies to it, and the conversations as
// resources. How conversations are kept, opened and asked about is left to the files beside it.

import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { Emitter } from '../kernel/emitter.ts';
import type { JsonObject } from '../kernel/json.ts';
import { isFailure, RuntimeError } from '../model/errors.ts';
import { identity } from '../model/identity.ts';
import { limits } from '../model/limits.ts';
import { type HostRule, hostRules } from '../policy/host-rules.ts';
import {
  createMcpServer,
  createOwnService,
  type McpServer,
  type McpServerOptions,
  type OwnTool,
  type Peer,
  type Principal,
  resourceNotFound,
  type ServedCall,
  type Service,
} from '../serving/door.ts';
import type { ChatModel } from './chat-model.ts';
import type { ConversationOptions } from './conversation.ts';
import type { Conversations } from './conversations.ts';
import type { ServedTerms } from './journal.ts';
import { endWords } from './loop.ts';
import type { AgentEvent, RunResult } from './run-events.ts';
import { type ConversationLease, createServedConversations, type ServedConversations } from './served-conversations.ts';
import { createFolders, type Folders, type ServedFolders } from './served-folders.ts';
import { SANDBOX_CAPABILITY, SANDBOX_METHOD, SandboxStates } from './served-sandbox.ts';

export interface ServeOptions extends Pick<McpServerOptions, 'limits' | 'onError'> {
  /** The name of the first tool; the second is `<name>-reply`. Conversations of another name are not seen. Default: `plexus`. */
  readonly name?: string;
  /** Models that a client may ask for beside the agent's own. */
  readonly models?: readonly ChatModel[];
  /** Folders that a client may ask for beside the agent's own. */
  readonly folders?: ServedFolders;
}

export interface ServedDeps {
  readonly kept: Conversations;
  readonly clock: Clock;
}

export const isServedName = (name: string): boolean =>
  /^[A-Za-z0-9_-]+$/.test(name) && name.length <= limits.servedAgent.nameChars;

export function serveAgent(
  agent: ConversationOptions & { readonly cwd: string },
  { kept, clock }: ServedDeps,
  { name = identity.name, models = [], folders: served, ...serving }: ServeOptions = {},
): McpServer {
  if (!isServedName(name))
    throw new TypeError(
      `The name of a served agent has letters, digits, "_" and "-", at most ${limits.servedAgent.nameChars}`,
    );
  const { cwd, ...options } = agent;
  const { onError: report = () => undefined } = serving;
  const sandboxes = new SandboxStates();
  const folders = createFolders({ cwd, runtime: options.runtime, served });
  const conversations = createServedConversations({ options, kept, models, folders, sandboxes, clock, report });
  const changes = new Emitter<ChangedConversation>(report);
  const tools = createTools({
    ...{ name, cwd, clock, folders, conversations, changed: changes.emit },
    models: models.map((model) => model.name),
    hasFolders: served !== undefined,
  });
  const server = createMcpServer(createService({ name, kept, sandboxes, tools }), { clock, ...serving });
  changes.on(({ id, owner, isNew }) => {
    const isMeant = (peer: Peer) => ownerOf(name, peer) === owner;
    if (isNew) server.listChanged('resources', isMeant);
    server.resourceUpdated(uriOf(name, id), isMeant);
  });
  return {
    ...server,
    stdio: (pipes, { principal = LOCAL } = {}) => server.stdio(pipes, { principal }),
    close: async (closing) => {
      await server.close(closing);
      await conversations.close();
    },
  };
}

interface ChangedConversation {
  readonly id: string;
  readonly owner: string;
  readonly isNew: boolean;
}

/** Over stdio the client is the program that started this one: a conversation belongs to the state folder and the name. */
const LOCAL: Principal = Object.freeze({ id: 'local' });

const ownerOf = (name: string, { principal }: Peer): string => `${name}/${principal.id}`;

const uriOf = (name: string, id: string) => `conversation://${name}/${id}`;

interface ServiceDeps {
  readonly name: string;
  readonly kept: Conversations;
  readonly sandboxes: SandboxStates;
  readonly tools: { readonly [name: string]: OwnTool };
}

function createService({ name, kept, sandboxes, tools }: ServiceDeps): Service {
  const ownedBy = (peer: Peer) => kept.ownedBy(ownerOf(name, peer));
  const template = uriOf(name, '{id}');
  const own = createOwnService({
    ...{ name, title: identity.title, version: identity.version, tools, prompts: {} },
    instructions: `An agent with tools of its own. Begin a conversation with "${name}", and go on with "${name}-reply" and the session_id of its answer.`,
    experimental: { [SANDBOX_CAPABILITY]: {} },
    templates: {
      [template]: {
        name: 'conversation',
        description: 'A conversation with the agent: everything that was said, with calls and results.',
        mimeType: 'application/json',
        list: async ({ peer }) =>
          (await ownedBy(peer)).map(({ id, prompt, changedAt }) => ({
            ...{ uri: uriOf(name, id), name: id, title: titleOf(prompt), mimeType: 'application/json' },
            annotations: { lastModified: new Date(changedAt).toISOString() },
          })),
        read: ({ id = '' }, { peer }) =>
          readConversation(kept, id, { owner: ownerOf(name, peer), uri: uriOf(name, id) }),
      },
    },
    complete: async ({ ref, argument }, { peer }) => {
      const begun = String(Object(argument).value ?? '');
      if (Object(ref).uri !== template) return [];
      return (await ownedBy(peer)).map(({ id }) => id).filter((id) => id.startsWith(begun));
    },
  });
  return {
    ...own,
    methods: {
      ...own.methods,
      [SANDBOX_METHOD]: ({ params, peer }) => {
        sandboxes.accept(params, peer);
        return {};
      },
    },
    onNotification: (method, params, peer) => {
      if (method === SANDBOX_METHOD) sandboxes.accept(params, peer);
    },
    onSessionClosed: (peer) => sandboxes.forget(peer),
  };
}

const titleOf = (prompt: string) => prompt.split('\n', 1)[0] || 'A conversation';

interface AskedResource {
  readonly owner: string;
  readonly uri: string;
}

/** The conversation of another client is not there. */
async function readConversation(kept: Conversations, id: string, { owner, uri }: AskedResource): Promise<string> {
  try {
    const { head, messages } = await kept.read(id);
    if (head.terms?.owner !== owner) throw resourceNotFound(uri);
    const createdAt = new Date(head.createdAt).toISOString();
    return JSON.stringify({ session_id: id, created_at: createdAt, cwd: head.cwd, messages });
  } catch (error) {
    if (isFailure(error, 'CONVERSATION_UNKNOWN')) throw resourceNotFound(uri);
    throw error;
  }
}

interface ToolDeps {
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

function createTools(deps: ToolDeps): { readonly [name: string]: OwnTool } {
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
