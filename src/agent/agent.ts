// Owns the public surface of "plexus/agent": an agent that works with the tools of a runtime until it has an answer.

import { createToolset, type Toolset } from '../adapters/toolset.ts';
import type { Runtime } from '../api.ts';
import { type Clock, systemClock } from '../kernel/clock.ts';
import type { Approve } from '../trust/approval.ts';
import type { View, ViewOptions } from '../view.ts';
import type { ChatMessage, ChatModel } from './chat-model.ts';
import { type ContextWindow, createContextWindow } from './context-window.ts';
import {
  type ConversationFile,
  type ConversationFolder,
  createConversations,
  newConversationId,
} from './conversations.ts';
import { type RunBudget, runLoop, unmadeCall } from './loop.ts';
import type { AgentEvent, RunEvent, RunResult } from './run-events.ts';

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
export type { ConversationFolder } from './conversations.ts';
export type { RunBudget } from './loop.ts';
export { chatCompletionsModel, type ModelOptions } from './models/chat-completions.ts';
export { anthropicModel } from './models/messages.ts';
export type { AgentEvent, RunEnd, RunEvent, RunResult } from './run-events.ts';

export interface AgentOptions extends Pick<ViewOptions, 'tools' | 'permissions' | 'elicit'> {
  readonly runtime: Runtime;
  readonly model: ChatModel;
  /** Put before what the runtime tells the model. */
  readonly system?: string;
  /** Asked about calls that no rule allows or denies, instead of the runtime's `approve`. */
  readonly approve?: Approve;
  /** Of one prompt. Default: 50 steps, a million tokens, ten minutes. */
  readonly budget?: Partial<RunBudget>;
  /** Keeps conversations in files, so that they survive a restart. Absent: a conversation lives as long as it is open. */
  readonly conversations?: ConversationFolder;
  /** The folder that conversations are about. Default: that of the process. */
  readonly cwd?: string;
  readonly clock?: Clock;
}

export interface AgentRunOptions {
  /** Aborting it stops the model and cancels the calls that run; the run rejects with its reason. */
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: AgentEvent) => void;
}

export interface AgentReply extends RunResult {
  readonly conversationId: string;
}

export interface Conversation {
  readonly id: string;
  /** Everything said so far. */
  readonly messages: readonly ChatMessage[];
  /** The file ended in a half-written line, which was dropped. */
  readonly isTorn: boolean;
  /** One prompt at a time: a second one waits for the first. What was said is on the disk before the promise resolves. */
  run(prompt: string, options?: AgentRunOptions): Promise<AgentReply>;
  close(): Promise<void>;
}

export interface Agent {
  /** One prompt in a conversation of its own, or as the next of `conversation`. */
  run(prompt: string, options?: AgentRunOptions & { readonly conversation?: string }): Promise<AgentReply>;
  /** A new conversation, or the kept one with this id. It has its own session approvals and found tools. */
  open(id?: string): Promise<Conversation>;
  /** The kept conversation about this folder that was used last. */
  latest(): Promise<string | undefined>;
}

const defaultBudget: RunBudget = { steps: 50, tokens: 1_000_000, timeMs: 600_000 };

/** Closing the runtime is left to the host. */
export function createAgent(options: AgentOptions): Agent {
  const { runtime, clock = systemClock, cwd = process.cwd() } = options;
  const redact = <Value>(value: Value): Value => runtime.redact(value, { atLeast: 'known' });
  const kept = options.conversations && createConversations(options.conversations, { clock, redact });
  const open = async (id?: string): Promise<Conversation> => {
    if (kept === undefined && id !== undefined)
      throw new TypeError('Conversations of an agent without `conversations` are not kept, so none can be opened.');
    const file = await (id === undefined ? kept?.create(cwd) : kept?.open(id));
    return openConversation(options, file, clock);
  };
  return {
    open,
    latest: async () => kept?.latest(cwd),
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

function openConversation(options: AgentOptions, file: ConversationFile | undefined, clock: Clock): Conversation {
  const { model, budget, system = '' } = options;
  const { view, toolset } = openTools(options);
  const window: ContextWindow = createContextWindow(model.contextWindow);
  const id = file?.id ?? newConversationId();
  const messages: ChatMessage[] = [...(file?.messages ?? [])];
  const append = (...added: readonly ChatMessage[]) => {
    messages.push(...added);
    for (const message of added) file?.journal.add(message);
  };
  let last: Promise<unknown> = Promise.resolve();

  const runNow = async (prompt: string, { signal = neverAborted, onEvent }: AgentRunOptions): Promise<AgentReply> => {
    signal.throwIfAborted();
    const emit = (event: RunEvent) => onEvent?.(options.runtime.redact({ ...event, conversationId: id }));
    let isUnsaved = false;
    /** A disk that is full does not end a conversation. */
    const save = async (sync: 'sync' | 'later') => {
      try {
        await file?.journal.write(sync);
      } catch (error) {
        if (!isUnsaved)
          emit({ type: 'conversation.unsaved', reason: error instanceof Error ? error.message : String(error) });
        isUnsaved = true;
      }
    };
    emit({ type: 'conversation.started', model: model.name, isResumed: messages.length > 0 });
    append(...missingResults(messages));
    const told = (event: RunEvent) => {
      emit(event);
      if (event.type === 'step.finished') void save('later');
    };
    const deps = {
      model,
      toolset,
      window,
      system,
      budget: { ...defaultBudget, ...budget },
      clock,
      messages,
      append,
      emit: told,
    };
    const result = await runLoop(prompt, deps, signal).finally(() => save('sync'));
    emit({ type: 'conversation.replied', ...result });
    return { conversationId: id, ...result };
  };
  return {
    id,
    messages,
    isTorn: file?.isTorn ?? false,
    run(prompt, asked = {}) {
      const run = last.then(() => runNow(prompt, asked));
      last = Promise.allSettled([run]);
      return run;
    },
    close: async () => {
      await last;
      await Promise.all([file?.close(), view.close()]);
    },
  };
}

const neverAborted = new AbortController().signal;

function openTools(options: AgentOptions): { readonly view: View; readonly toolset: Toolset } {
  const { runtime, model, tools, permissions, elicit, approve } = options;
  const view = runtime.view({
    ...(tools && { tools }),
    ...(permissions && { permissions }),
    ...(elicit && { elicit }),
    ...(approve && { approve }),
  });
  const { contextWindow, provider, vision } = model;
  const described = {
    ...(contextWindow !== undefined && { contextWindow }),
    ...(provider !== undefined && { provider }),
    ...(vision !== undefined && { vision }),
  };
  return { view, toolset: createToolset(view, { model: described }) };
}

/** A process that ended in the middle of a step left calls without a result. */
function missingResults(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const at = messages.findLastIndex(({ role }) => role === 'assistant');
  const answer = messages[at];
  if (answer?.role !== 'assistant') return [];
  const answered = new Set(messages.slice(at).flatMap((each) => (each.role === 'tool' ? [each.callId] : [])));
  return answer.calls
    .filter((call) => !answered.has(call.id))
    .map((call) => unmadeCall(call, 'the program ended before its result was known'));
}
