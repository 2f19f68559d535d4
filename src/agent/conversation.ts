// Owns one conversation while it is open: prompts one after another, everything said so far, and its file if it has one.

import { createToolset, type Toolset } from '../adapters/toolset.ts';
import type { Runtime } from '../api.ts';
import type { Clock } from '../kernel/clock.ts';
import { limits } from '../model/limits.ts';
import type { HostRule } from '../policy/host-rules.ts';
import type { Approve } from '../trust/approval.ts';
import type { View, ViewOptions } from '../view.ts';
import type { ChatMessage, ChatModel } from './chat-model.ts';
import { type ContextWindow, createContextWindow } from './context-window.ts';
import { type ConversationFile, newConversationId } from './conversations.ts';
import { type RunBudget, runLoop, unmadeCall } from './loop.ts';
import type { AgentEvent, RunEvent, RunResult } from './run-events.ts';

export interface ConversationOptions extends Pick<ViewOptions, 'tools' | 'permissions' | 'elicit' | 'readOnly'> {
  readonly runtime: Runtime;
  readonly model: ChatModel;
  /** Put before what the runtime tells the model. */
  readonly system?: string;
  /** Asked about calls that no rule allows or denies, instead of the runtime's `approve`. */
  readonly approve?: Approve;
  /** Of one prompt. Default: 50 steps, a million tokens, ten minutes. */
  readonly budget?: Partial<RunBudget>;
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

export interface ConversationDeps {
  readonly file: ConversationFile | undefined;
  readonly clock: Clock;
  /** Rules beside those of the options: they only tighten. */
  readonly furtherRules?: readonly HostRule[] | undefined;
}

export function openConversation(options: ConversationOptions, deps: ConversationDeps): Conversation {
  const { model, budget, system = '' } = options;
  const { file, clock, furtherRules } = deps;
  const { view, toolset } = openTools(options, furtherRules);
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
    const parts = {
      model,
      toolset,
      window,
      system,
      budget: { ...limits.agentBudget, ...budget },
      clock,
      messages,
      append,
      emit: told,
    };
    const result = await runLoop(prompt, parts, signal).finally(() => save('sync'));
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

interface OpenedTools {
  /** Closed with the conversation. */
  readonly view: View;
  readonly toolset: Toolset;
}

function openTools(options: ConversationOptions, furtherRules: ConversationDeps['furtherRules']): OpenedTools {
  const { runtime, model, tools, permissions, elicit, approve, readOnly } = options;
  const view = runtime.view({
    ...(tools && { tools }),
    ...(permissions && { permissions }),
    ...(elicit && { elicit }),
    ...(approve && { approve }),
    ...(readOnly && { readOnly }),
  });
  const used = furtherRules === undefined ? view : view.narrow({ permissions: furtherRules });
  const { contextWindow, provider, vision } = model;
  const described = {
    ...(contextWindow !== undefined && { contextWindow }),
    ...(provider !== undefined && { provider }),
    ...(vision !== undefined && { vision }),
  };
  return { view, toolset: createToolset(used, { model: described }) };
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
