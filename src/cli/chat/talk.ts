// Owns talking with a model in a terminal: a prompt, its answer, the next prompt. Ctrl-C stops what runs and not the program, a
// failure is told and the conversation goes on.

import type { Conversation } from '../../agent/agent.ts';
import type { ChosenModel } from '../../agent/choose-model.ts';
import { endWords } from '../../agent/loop.ts';
import { providers } from '../../agent/models/providers.ts';
import { asRuntimeError } from '../../model/errors.ts';
import { type CommandResult, type Context, printedAlready } from '../command.ts';
import { printable } from '../render/text.ts';
import { notReadyServers, warnOfNotReady } from '../with-runtime.ts';
import { isSlash, runSlash, type SlashParts } from './slash.ts';

export interface Talk extends SlashParts {
  readonly conversation: Conversation;
  readonly chosen: ChosenModel;
}

const AGAIN = 'To leave, press Ctrl-C again or type /quit.';

export async function talk(parts: Talk, context: Context): Promise<CommandResult> {
  const { conversation, chosen, transcript } = parts;
  const { askText, signal } = context;
  if (askText === undefined) return printedAlready();
  /** Of what runs or is asked now. */
  let current = new AbortController();
  context.onCtrlC(() => {
    current.abort(new DOMException('stopped', 'AbortError'));
    return true;
  });
  transcript.note((paint) => paint.dim(printable(greeting(chosen, conversation))));
  const earlier: string[] = [];
  let wasInterrupted = false;
  let isFirst = true;
  for (;;) {
    current = new AbortController();
    const typed = await askText({ question: '>', isHidden: false, preset: '', earlier, signal: current.signal });
    const isInterrupted = current.signal.aborted;
    if (typed === undefined && (!isInterrupted || wasInterrupted)) break;
    wasInterrupted = isInterrupted;
    if (isInterrupted) transcript.note((paint) => paint.dim(AGAIN));
    if (typed === undefined || typed.trim() === '') continue;
    earlier.unshift(typed);
    current = new AbortController();
    const stopping = AbortSignal.any([signal, current.signal]);
    const isOver = await attempt(
      async () => {
        if (isSlash(typed)) return runSlash(typed, parts, stopping);
        if (isFirst) await waitForServers(parts, context, stopping);
        isFirst = false;
        await answer(parts, typed, stopping);
        return false;
      },
      parts,
      stopping,
    );
    if (isOver || signal.aborted) break;
  }
  if (conversation.messages.length > 0)
    transcript.note((paint) => paint.dim(`To go on with this conversation: plexus chat --session ${conversation.id}`));
  signal.throwIfAborted();
  return printedAlready();
}

function greeting({ model, provider, url }: ChosenModel, { messages }: Conversation): string {
  const before = messages.filter(({ role }) => role === 'user').length;
  const kept = before === 0 ? '' : ` ${before} earlier ${before === 1 ? 'prompt is' : 'prompts are'} remembered.`;
  const where = url === providers[provider].url ? providers[provider].title : url;
  return `You talk with ${model.name} (${where}).${kept} Type /help for help; Ctrl-C stops an answer.`;
}

async function waitForServers({ runtime }: Talk, context: Context, signal: AbortSignal): Promise<void> {
  await context.waitFor('waiting for the servers', runtime.ready({ signal }));
  warnOfNotReady(notReadyServers(runtime), context);
}

async function answer({ conversation, transcript }: Talk, prompt: string, signal: AbortSignal): Promise<void> {
  const { end } = await conversation.run(prompt, { signal, onEvent: transcript.show }).finally(transcript.endLine);
  if (end !== 'replied') transcript.note((paint) => paint.yellow(printable(`It ended early: ${endWords[end]}.`)));
}

/** A failure ends nothing but its own step. */
async function attempt(work: () => Promise<boolean>, { transcript }: Talk, signal: AbortSignal): Promise<boolean> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) transcript.note((paint) => paint.yellow('Stopped.'));
    else transcript.note((paint) => `${paint.red('plexus:')} ${printable(asRuntimeError(error).message)}`);
    return false;
  }
}
