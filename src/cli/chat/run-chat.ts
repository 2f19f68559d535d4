// Owns one `plexus chat` from its words to its end: which model, which conversation, one prompt or many, and where events go.
// `talk.ts` owns talking in a terminal, `render/transcript.ts` how events are drawn.

import { join } from 'node:path';
import { type Agent, type AgentEvent, type Conversation, createAgent } from '../../agent/agent.ts';
import { budgetOf } from '../../agent/choose-model.ts';
import { endWords } from '../../agent/loop.ts';
import { stateFolder } from '../../config/scopes.ts';
import type { Approve } from '../../trust/approval.ts';
import { askOnTerminal } from '../call-approval.ts';
import { type CommandResult, type Context, printedAlready, UsageError } from '../command.ts';
import { describeFailure } from '../failure.ts';
import { environmentOf, loadConfigFor } from '../load-config.ts';
import { chooseModelFor } from '../model-of-context.ts';
import { lineText } from '../render/json.ts';
import { printable, shellWord } from '../render/text.ts';
import { createTranscript, type Transcript } from '../render/transcript.ts';
import { originOf } from '../server-origin.ts';
import { handlersOf, notReadyServers, warnOfDiagnostics, warnOfNotReady, withRuntime } from '../with-runtime.ts';
import { talk } from './talk.ts';

export async function runChat(context: Context): Promise<CommandResult> {
  if (!context.values['json']) return converse(context);
  try {
    return await converse(context);
  } catch (error) {
    // One document a line, also for the last one.
    if (context.signal.aborted) throw error;
    const { document, exitCode } = describeFailure(error, 'chat');
    context.print(() => `${lineText(document)}\n`);
    return printedAlready(exitCode);
  }
}

async function converse(context: Context): Promise<CommandResult> {
  const prompt = await promptOf(context);
  const { agent: settings } = (await loadConfigFor(context)).settings;
  const chosen = await chooseModelFor(context, settings);
  const transcript = createTranscript(context);
  const ask = context.askText
    ? askOnTerminal(context, { originOf: (name) => originOf(name, context) })
    : refuseWith(transcript);
  const { elicit } = handlersOf(context);
  const options = {
    interactive: prompt === undefined,
    approve: transcript.beside(ask),
    ...(elicit && { elicit: transcript.beside(elicit) }),
  };
  return withRuntime(context, options, async (runtime, diagnostics) => {
    warnOfDiagnostics(diagnostics, context);
    const environment = environmentOf(context);
    const agent = createAgent({
      runtime,
      model: chosen.model,
      system: systemFor(environment.cwd),
      budget: budgetOf(settings),
      conversations: { folder: join(stateFolder(environment), 'conversations') },
      cwd: environment.cwd,
    });
    const conversation = await openConversation(agent, context);
    if (conversation.isTorn) context.warn((paint) => paint.yellow(TORN));
    try {
      if (prompt === undefined) return await talk({ runtime, conversation, chosen, transcript }, context);
      await context.waitFor('waiting for the servers', runtime.ready({ signal: context.signal }));
      warnOfNotReady(notReadyServers(runtime), context);
      return await answerOnce(conversation, prompt, transcript, context);
    } finally {
      await conversation.close();
    }
  });
}

/** Says how the call can be allowed beforehand. */
const refuseWith =
  ({ note }: Transcript): Approve =>
  async (request) => {
    if (request.kind !== 'tool') return 'no';
    const { server, tool } = request.tool;
    const command = `plexus approve ${shellWord(server)} ${shellWord(tool)}`;
    note((paint) => paint.yellow(printable(`Nobody can be asked here about this call. To allow the tool: ${command}`)));
    return 'no';
  };

const TORN = 'The end of the conversation was lost when it was last used; what was said before is there.';

const systemFor = (folder: string) =>
  `You talk with a person in a terminal and work with the tools you are given. The current folder is ${folder}. Answer in plain text.`;

/** `undefined`: the person types in the terminal. */
async function promptOf({ positionals, values, askText, readStdin }: Context): Promise<string | undefined> {
  const takesPipe = positionals.at(-1) === '-';
  const words = (takesPipe ? positionals.slice(0, -1) : positionals).join(' ');
  if (positionals.length === 0 && askText !== undefined) {
    if (values['json']) throw new UsageError('--json needs a prompt');
    return undefined;
  }
  const piped = takesPipe || positionals.length === 0 ? (await readStdin()).trim() : '';
  const prompt = [words, piped].filter((part) => part !== '').join('\n\n');
  if (prompt.trim() === '') throw new UsageError('give a prompt, or run it in a terminal');
  return prompt;
}

async function openConversation(agent: Agent, { values }: Context): Promise<Conversation> {
  const { session, continue: goesOn } = values;
  if (typeof session === 'string') return agent.open(session);
  const latest = goesOn ? await agent.latest() : undefined;
  if (goesOn && latest === undefined) throw new UsageError('there is no conversation about this folder to continue');
  return agent.open(latest);
}

/** Exits with 4 where a budget was used up before the model had answered. */
async function answerOnce(
  conversation: Conversation,
  prompt: string,
  transcript: Transcript,
  { signal, values, print }: Context,
): Promise<CommandResult> {
  const onEvent = values['json'] ? (event: AgentEvent) => print(() => `${lineText(event)}\n`) : transcript.show;
  const { end } = await conversation.run(prompt, { signal, onEvent }).finally(transcript.endLine);
  if (end !== 'replied') transcript.note((paint) => paint.yellow(printable(`It ended early: ${endWords[end]}.`)));
  return printedAlready(end === 'replied' ? 0 : 4);
}
