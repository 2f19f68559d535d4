// Owns the public surface of "plexus/agent": an agent that works with the tools of a runtime until it has an answer.

import { type Clock, systemClock } from '../kernel/clock.ts';
import type { McpServer } from '../serving/door.ts';
import {
  type AgentReply,
  type AgentRunOptions,
  type Conversation,
  type ConversationOptions,
  openConversation,
} from './conversation.ts';
import { type ConversationFolder, createConversations } from './conversations.ts';
import { type ServeOptions, serveAgent } from './served-agent.ts';

export type { ImagePart } from '../adapters/toolset.ts';
export type {
  AnswerOptions,
  ChatAnswer,
  ChatMessage,
  ChatModel,
  ChatModelTool,
  ChatRequest,
  ModelDelay,
  RequestedCall,
  ResultMessage,
  TokenUsage,
} from './chat-model.ts';
export type { AgentReply, AgentRunOptions, Conversation, ConversationOptions } from './conversation.ts';
export type { ConversationFolder } from './conversations.ts';
export type { RunBudget } from './loop.ts';
export { chatCompletionsModel, type ModelOptions } from './models/chat-completions.ts';
export { samplingModel } from './models/client-model.ts';
export { anthropicModel } from './models/messages.ts';
export type { AgentEvent, RunEnd, RunEvent, RunResult } from './run-events.ts';
export type { ServeOptions } from './served-agent.ts';
export type { ServedFolders } from './served-folders.ts';

export interface AgentOptions extends ConversationOptions {
  /** Keeps conversations in files, so that they survive a restart. Absent: a conversation lives as long as it is open. */
  readonly conversations?: ConversationFolder;
  /** The folder that conversations are about. Default: that of the process. */
  readonly cwd?: string;
  readonly clock?: Clock;
}

export interface Agent {
  /** One prompt in a conversation of its own, or as the next of `conversation`. */
  run(prompt: string, options?: AgentRunOptions & { readonly conversation?: string }): Promise<AgentReply>;
  /** A new conversation, or the kept one with this id. It has its own session approvals and found tools. */
  open(id?: string): Promise<Conversation>;
  /** The kept conversation about this folder that was used last. */
  latest(): Promise<string | undefined>;
  /** Serves the agent to other programs over MCP, as two tools; `conversations` must say where to keep what they talk about. */
  serve(options?: ServeOptions): McpServer;
}

/** Closing the runtime is left to the host. */
export function createAgent(options: AgentOptions): Agent {
  const { runtime, clock = systemClock, cwd = process.cwd() } = options;
  const redact = <Value>(value: Value): Value => runtime.redact(value, { atLeast: 'known' });
  const kept = options.conversations && createConversations(options.conversations, { clock, redact });
  const open = async (id?: string): Promise<Conversation> => {
    if (kept === undefined && id !== undefined)
      throw new TypeError('Conversations of an agent without `conversations` are not kept, so none can be opened.');
    const file = await (id === undefined ? kept?.create(cwd) : kept?.open(id));
    return openConversation(options, { file, clock });
  };
  return {
    open,
    latest: async () => kept?.latest(cwd),
    serve(served) {
      if (kept === undefined)
        throw new TypeError('An agent without `conversations` keeps none, so it cannot be served.');
      return serveAgent({ ...options, cwd }, { kept, clock }, served);
    },
    async run(prompt, { conversation: id, ...asked } = {}) {
      const conversation = await open(id);
      try {
        return await conversation.run(prompt, asked);
      } finally {
        await conversation.close();
      }
    },
  };
}
