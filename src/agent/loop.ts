// Owns the agent's loop: model ⇄ turn, until the model has nothing more to call or a budget is used up.

import type { ModelStep, Toolset } from '../adapters/toolset.ts';
import { Cancellation } from '../kernel/cancellation.ts';
import type { Clock } from '../kernel/clock.ts';
import { joinSignals } from '../kernel/join-signals.ts';
import { canonicalJson, parseJson } from '../kernel/json.ts';
import { estimateTokens } from '../kernel/tokens.ts';
import { isFailure } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type {
  ChatAnswer,
  ChatMessage,
  ChatModel,
  ModelDelay,
  RequestedCall,
  ResultMessage,
  TokenUsage,
} from './chat-model.ts';
import type { ContextWindow } from './context-window.ts';
import type { RunEnd, RunEvent, RunResult } from './run-events.ts';

export interface RunBudget {
  /** Answers of the model. */
  readonly steps: number;
  /** What all steps read and write together. */
  readonly tokens: number;
  readonly timeMs: number;
}

export interface LoopDeps {
  readonly model: ChatModel;
  readonly toolset: Toolset;
  readonly window: ContextWindow;
  /** The host's own system prompt. */
  readonly system: string;
  readonly budget: RunBudget;
  readonly clock: Clock;
  readonly emit: (event: RunEvent) => void;
  /** Everything said so far. */
  readonly messages: readonly ChatMessage[];
  /** Keeps further messages; they are part of `messages` at once. */
  readonly append: (...messages: readonly ChatMessage[]) => void;
}

/** Rejects with the signal's reason, or with the model's failure. Every call that the model made has its result in `messages`. */
export async function runLoop(prompt: string, deps: LoopDeps, signal: AbortSignal): Promise<RunResult> {
  const { toolset, budget, clock, emit, append } = deps;
  const timeUp = new AbortController();
  const stopTimer = clock.after(budget.timeMs, () => timeUp.abort(), 'background');
  const { signal: either, leave } = joinSignals(signal, timeUp.signal);
  const repetition = createRepetition();
  let used: TokenUsage = { inputTokens: 0, outputTokens: 0 };
  let [steps, text] = [0, ''];
  try {
    append({ role: 'user', text: prompt });
    for (;;) {
      const step = toolset.step(prompt);
      const { answer, usage } = await askModel(step, deps, either);
      ({ text } = answer);
      const { calls } = answer;
      append({ role: 'assistant', text, calls });
      used = {
        inputTokens: used.inputTokens + usage.inputTokens,
        outputTokens: used.outputTokens + usage.outputTokens,
      };
      steps++;
      const end = endAfter(calls, { steps, used, budget, isRepeated: repetition(calls) });
      append(...(await resultsOf(calls, { step, signal: either, deps, end })));
      emit({ type: 'step.finished', step: steps, calls: end === undefined ? calls.length : 0, usage });
      if (end !== undefined) return { text, end, steps, usage: used };
      either.throwIfAborted();
    }
  } catch (error) {
    if (timeUp.signal.aborted && !signal.aborted) return { text, end: 'time', steps, usage: used };
    throw error;
  } finally {
    stopTimer();
    leave();
  }
}

/** The ends that are known between two steps. */
type StepEnd = Exclude<RunEnd, 'time'>;

interface Standing {
  readonly steps: number;
  readonly used: TokenUsage;
  readonly budget: RunBudget;
  readonly isRepeated: boolean;
}

/** `undefined`: the calls are made, and the loop goes on. */
function endAfter(calls: readonly RequestedCall[], standing: Standing): StepEnd | undefined {
  const { steps, used, budget, isRepeated } = standing;
  if (calls.length === 0) return 'replied';
  if (isRepeated) return 'repetition';
  if (steps >= budget.steps) return 'steps';
  return used.inputTokens + used.outputTokens >= budget.tokens ? 'tokens' : undefined;
}

/** An answer that broke off in its text is asked for again; once a call has begun in it, it is not: the model may mean to have made it. */
async function askModel(step: ModelStep, deps: LoopDeps, signal: AbortSignal) {
  const { model, window, system, messages, emit } = deps;
  const systemText = [system, step.systemPrompt].filter((part) => part !== '').join('\n\n');
  const fitted = window.fit(messages, estimateTokens(system) + tokensOfStep(step));
  if (fitted.removed > 0) emit({ type: 'context.reduced', results: fitted.removed });
  const request = { system: systemText, messages: fitted.messages, tools: step.tools };
  const emitUntilAborted = (event: RunEvent) => {
    if (!signal.aborted) emit(event);
  };
  const onText = (text: string) => emitUntilAborted({ type: 'text.received', text });
  const onDelay = (delay: ModelDelay) => emitUntilAborted({ type: 'model.delayed', ...delay });
  for (let repeated = 0; ; repeated++) {
    signal.throwIfAborted();
    try {
      const answer = await orAborted(model.answer(request, { signal, onText, onDelay }), signal);
      return { answer, usage: answer.usage ?? estimatedUsage(answer, fitted.tokens) };
    } catch (error) {
      if (signal.aborted || !isFailure(error, 'MODEL_UNAVAILABLE') || error.data.cut === undefined) throw error;
      const isRepeated = error.data.cut === 'in-text' && repeated < limits.agentRun.repeatedSteps;
      emit({ type: 'step.interrupted', reason: error.data.reason, isRepeated });
      if (!isRepeated) throw error;
    }
  }
}

/** A host's model, and a client that samples, may go on after an abort: the run does not wait for them. */
async function orAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const cancellation = new Cancellation();
  const leave = cancellation.follow(signal);
  try {
    return await cancellation.race(work);
  } finally {
    leave();
  }
}

const stepTokens = new WeakMap<ModelStep, number>();

/** Counted once for each list of tools, which is the same for many steps. */
function tokensOfStep(step: ModelStep): number {
  const known = stepTokens.get(step);
  if (known !== undefined) return known;
  const texts = step.tools.map(
    ({ name, description, inputSchema }) => name + description + JSON.stringify(inputSchema),
  );
  const tokens = estimateTokens(step.systemPrompt) + texts.reduce((sum, text) => sum + estimateTokens(text), 0);
  stepTokens.set(step, tokens);
  return tokens;
}

const estimatedUsage = ({ text, calls }: ChatAnswer, inputTokens: number): TokenUsage => ({
  inputTokens,
  outputTokens: estimateTokens(text) + calls.reduce((sum, call) => sum + estimateTokens(call.arguments), 0),
});

interface CallContext {
  readonly step: ModelStep;
  readonly signal: AbortSignal;
  readonly deps: LoopDeps;
  /** Given: the run ends here, and the calls are not made. */
  readonly end: StepEnd | undefined;
}

/** All calls of an answer at the same time; a call that fails, is cancelled or is not made has a result that says so. */
async function resultsOf(calls: readonly RequestedCall[], context: CallContext): Promise<readonly ResultMessage[]> {
  const { step, signal, deps, end } = context;
  const { toolset, emit, clock } = deps;
  if (end !== undefined) return calls.map((call) => unmadeCall(call, `the run ended: ${endWords[end]}`));
  return Promise.all(
    calls.map(async ({ id, name, arguments: args }): Promise<ResultMessage> => {
      const startedAt = clock.now();
      emit({ type: 'call.requested', callId: id, name, arguments: args });
      const outcome = await step.run({ name, arguments: args, callId: id, signal });
      const { text, isError } = outcome;
      emit({ type: 'call.answered', callId: id, name, text, isError, tookMs: clock.now() - startedAt });
      const images = toolset.imagesOf(outcome);
      return { role: 'tool', callId: id, name, text, isError, ...(images.length > 0 && { images }) };
    }),
  );
}

/** Why a run ended, for the model and for people. */
export const endWords: Readonly<Record<RunEnd, string>> = {
  replied: 'the model has answered',
  steps: 'the steps for one prompt are used up',
  tokens: 'the tokens for one prompt are used up',
  time: 'the time for one prompt is up',
  repetition: 'the model made the same call again and again',
};

/** A model refuses a conversation in which a call has no result. */
export const unmadeCall = ({ id, name }: RequestedCall, because: string): ResultMessage => ({
  role: 'tool',
  callId: id,
  name,
  text: `This call was not made, because ${because}.`,
  isError: true,
});

/** Tells whether one call, with the same arguments, is part of so many steps in a row that the model has lost its way. */
function createRepetition(): (calls: readonly RequestedCall[]) => boolean {
  let before = new Map<string, number>();
  return (calls) => {
    const keys = new Set(calls.map(({ name, arguments: args }) => `${name} ${spelledAlike(args)}`));
    before = new Map([...keys].map((key) => [key, (before.get(key) ?? 0) + 1]));
    return [...before.values()].some((times) => times >= limits.agentRun.sameCalls);
  };
}

/** The order of keys and white space make no other call. */
function spelledAlike(args: string): string {
  const parsed = parseJson(args);
  return parsed.ok ? canonicalJson(parsed.value) : args;
}
