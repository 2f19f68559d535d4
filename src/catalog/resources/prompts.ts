// Owns the prompts of all servers as a host uses them: listed, called by their slash command, filled in, completed.

import type { Session } from '../../connection/session.ts';
import type { Emit } from '../../kernel/emitter.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { nearest } from '../../kernel/nearest.ts';
import { settleWithin } from '../../kernel/settle.ts';
import { RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { ServerName } from '../../model/names.ts';
import type { Completion, Prompt, PromptMessage, PromptMessages } from '../../model/offer.ts';
import type { ContentBlock } from '../../model/tool.ts';
import { findSignals } from '../../shaping/injection.ts';
import type { SignalEvent } from '../events.ts';
import { type CompleteOptions, complete } from './completing.ts';
import { ask, type ReachDeps, type Waiting } from './reaching.ts';
import type { OfferProblem, ResourceCatalog } from './resource-catalog.ts';
import { commandsOf, parsePromptArguments, promptKey, splitCommand } from './slash-command.ts';

export type PromptArguments = Readonly<Record<string, string>>;

export interface ListedPrompt extends Prompt {
  /** `/mcp__server__prompt`: how a person calls it in a line. */
  readonly command: string;
}

export interface PromptCall {
  readonly server: ServerName;
  readonly name: string;
  readonly args: PromptArguments;
}

export interface Prompts {
  /** By server and name. Wakes nobody; waits a little for lists that are on their way. */
  list(options?: { readonly server?: ServerName | undefined }): Promise<readonly ListedPrompt[]>;
  /** What was left out of the lists, or cut off, by what is known now. */
  problems(options?: { readonly server?: ServerName | undefined }): readonly OfferProblem[];
  /** Wakes a server that is not up. */
  get(server: ServerName, name: string, args?: PromptArguments, options?: Waiting): Promise<PromptMessages>;
  /** What may stand for an argument, by what is typed so far. */
  complete(
    server: ServerName,
    name: string,
    argument: { readonly name: string; readonly value: string },
    options?: CompleteOptions,
  ): Promise<Completion>;
  /** What a line such as `/mcp__server__prompt one key="two words"` calls; `undefined` where it is no such command. */
  find(line: string): PromptCall | undefined;
}

export interface PromptsDeps extends ReachDeps {
  readonly offers: ResourceCatalog;
  readonly emit: Emit<SignalEvent>;
}

export function createPrompts(deps: PromptsDeps): Prompts {
  const { offers, clock } = deps;
  return {
    async list({ server } = {}) {
      await settleWithin([offers.listed('prompts', server)], { limitMs: limits.offersWaitMs, clock });
      const listed = withCommands(offers.prompts());
      return server === undefined ? listed : listed.filter((each) => each.server === server);
    },
    problems: ({ server } = {}) => offers.problems('prompts', server),
    async get(server, name, args = {}, waiting = {}) {
      requireArguments(offers.prompt(server, name), args);
      const refusal = (code: number, reason: string) => refusalOf(offers, { server, name, code, reason });
      const require = (session: Session) => requirePrompts(session, server);
      const question = { server, method: 'prompts/get', params: { name, arguments: args }, refusal, require };
      const messages = messagesOf(await ask(deps, question, waiting), server, name);
      const { signals } = messages;
      if (signals.length > 0) deps.emit({ type: 'signal.raised', server, prompt: name, surface: 'prompt', signals });
      return messages;
    },
    complete: (server, name, argument, options = {}) =>
      complete(deps, { server, ref: { type: 'ref/prompt', name }, argument }, options),
    find(line) {
      const said = splitCommand(line);
      if (said === undefined) return undefined;
      const known = withCommands(offers.prompts());
      const prompt = known.find(({ command }) => command === said.command);
      if (prompt === undefined) {
        const commands = known.map(({ command }) => command).slice(0, limits.listItems);
        const proposed = nearest(said.command, commands, limits.suggestions);
        throw new RuntimeError('PROMPT_UNKNOWN', { name: said.command, nearest: proposed });
      }
      return { server: prompt.server, name: prompt.name, args: parsePromptArguments(said.rest, prompt) };
    },
  };
}

/** Of all prompts, whoever is shown: a command does not depend on who asks. */
function withCommands(prompts: readonly Prompt[]): readonly ListedPrompt[] {
  const commands = commandsOf(prompts);
  return prompts.map((prompt) => ({ ...prompt, command: commands.get(promptKey(prompt)) ?? '' }));
}

/** What the server would refuse anyway, in better words; what is not listed is for the server to judge. */
function requireArguments(prompt: Prompt | undefined, args: PromptArguments): void {
  if (prompt === undefined) return;
  const missing = prompt.arguments.filter(({ name, required }) => required && !Object.hasOwn(args, name));
  if (missing.length === 0) return;
  const problems = missing.map(({ name }) => `"${name}" is missing`);
  throw new RuntimeError('ARGUMENTS_BAD', { server: prompt.server, tool: prompt.name, problems });
}

const INVALID_PARAMS = -32602;

interface Refused {
  readonly server: ServerName;
  readonly name: string;
  readonly code: number;
  readonly reason: string;
}

/** One code says both that there is no such prompt and that its arguments do not fit. */
function refusalOf(offers: ResourceCatalog, { server, name, code, reason }: Refused): RuntimeError | undefined {
  if (code !== INVALID_PARAMS) return undefined;
  if (offers.prompt(server, name)) return new RuntimeError('ARGUMENTS_BAD', { server, tool: name, problems: [reason] });
  const known = offers.prompts(server).map((each) => each.name);
  const proposed = nearest(name, known, limits.suggestions);
  return new RuntimeError('PROMPT_UNKNOWN', { server, name, nearest: proposed, because: reason });
}

function requirePrompts({ capabilities }: Session, server: ServerName): void {
  if (capabilities['prompts']) return;
  throw new RuntimeError('NOT_OFFERED', { server, what: 'it has no prompts' });
}

/** A broken message costs itself; an answer of nothing but broken ones is none. */
function messagesOf({ description, messages: listed }: JsonObject, server: ServerName, name: string): PromptMessages {
  const broken = (problem: string) => new RuntimeError('ANSWER_BROKEN', { server, what: 'prompts/get', problem });
  if (!Array.isArray(listed)) throw broken('it holds no list of messages');
  const problems: string[] = [];
  const messages: PromptMessage[] = [];
  for (const [index, item] of listed.slice(0, limits.listItems).entries()) {
    const message = messageOf(item);
    if (message) messages.push(message);
    else problems.push(`message ${index + 1} was left out: it has no role or no content`);
  }
  const [problem] = problems;
  if (messages.length === 0 && problem !== undefined) throw broken(problem);
  const told = typeof description === 'string' ? { description } : {};
  const signals = findSignals(textsOf(messages).join('\n'), 'prompt');
  return { server, name, ...told, messages, problems: problems.slice(0, limits.listProblems), signals };
}

function textsOf(messages: readonly PromptMessage[]): readonly string[] {
  return messages.flatMap(({ content }) => {
    const resource = isObject(content['resource']) ? content['resource'] : {};
    return [content['text'], resource['text']].filter((text) => typeof text === 'string');
  });
}

function messageOf(item: unknown): PromptMessage | undefined {
  const { role, content } = isObject(item) ? item : {};
  if ((role !== 'user' && role !== 'assistant') || !isObject(content) || typeof content['type'] !== 'string')
    return undefined;
  return { role, content: content as ContentBlock };
}
