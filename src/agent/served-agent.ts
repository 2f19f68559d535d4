// Owns the agent as others see it over MCP: its tools, and its conversations as resources. `served-tools.ts` owns what the tools do;
// how conversations are kept, opened and asked about is left to the files beside it.

import type { Clock } from '../kernel/clock.ts';
import { Emitter } from '../kernel/emitter.ts';
import { isFailure } from '../model/errors.ts';
import { identity } from '../model/identity.ts';
import { limits } from '../model/limits.ts';
import {
  createMcpServer,
  createOwnService,
  type McpServer,
  type McpServerOptions,
  type OwnTool,
  type Peer,
  type Principal,
  resourceNotFound,
  type Service,
} from '../serving/door.ts';
import type { ChatModel } from './chat-model.ts';
import type { ConversationOptions } from './conversation.ts';
import type { Conversations } from './conversations.ts';
import { createServedConversations, ownerOf } from './served-conversations.ts';
import { createFolders, type ServedFolders } from './served-folders.ts';
import { SANDBOX_CAPABILITY, SANDBOX_METHOD, SandboxStates } from './served-sandbox.ts';
import { type ChangedConversation, createTools } from './served-tools.ts';

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

/** Over stdio the client is the program that started this one: a conversation belongs to the state folder and the name. */
const LOCAL: Principal = Object.freeze({ id: 'local' });

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
