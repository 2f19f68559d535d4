// Owns the host's interface to the prompts of all servers: list, find by slash command, fill in, complete.

import type { Session } from '../../connection/session.ts';
import type { Emit } from '../../kernel/emitter.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { nearest } from '../../kernel/nearest.ts';
import { settleWithin } from '../../kernel/settle.ts';
import { RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { ServerName } from '../../model/names.ts';
import type { Completion, Prompt, PromptMessage, PromptMessages } from '../../model/resource.ts';
import type { ContentBlock, SentBlock } from '../../model/tool.ts';
import { findSignals } from '../../shaping/injection.ts';
import type { SignalEvent } from '../events.ts';
import { type CompleteOptions, complete } from './completion.ts';
import type { ListedResources, ListProblem } from './resource-catalog.ts';
import { type CancelOptions, type ReachDeps, requestWithRetry } from './retried-request.ts';
import { commandsOf, parsePromptArguments, promptKey, splitCommand } from './slash-command.ts';

export type PromptArguments = Readonly<Record<string, string>>;

export interface ListedPrompt extends Prompt {
  /** `/mcp__server__prompt`: the slash command by which a person calls the prompt. */
  readonly command: string;
}

export interface PromptCall {
  readonly server: ServerName;
  readonly name: string;
  readonly args: PromptArguments;
}

export interface Prompts {
  /** Sorted by server and name. Starts no server; waits a little for lists that are being fetched. */
  list(options?: { readonly server?: ServerName | undefined }): Promise<readonly ListedPrompt[]>;
  /** Parts of the lists that are currently left out or cut off. */
  problems(options?: { readonly server?: ServerName | undefined }): readonly ListProblem[];
  /** Starts a server that is not connected. */
  get(server: ServerName, name: string, args?: PromptArguments, options?: CancelOptions): Promise<PromptMessages>;
  /** The server's proposals for an argument, by what is typed so far. */
  complete(
    server: ServerName,
    name: string,
    argument: { readonly name: string; readonly value: string },
    options?: CompleteOptions,
  ): Promise<Completion>;
  /** The call that a line such as `/mcp__server__prompt one key="two words"` makes; `undefined` if it is no such command. */
  find(line: string): PromptCall | undefined;
}

export interface PromptsDeps extends ReachDeps {
  readonly resourceCatalog: ListedResources;
  readonly emit: Emit<SignalEvent>;
}

export function createPrompts(deps: PromptsDeps): Prompts {
  const { resourceCatalog, clock } = deps;
  return {
    async list({ server } = {}) {
      await settleWithin([resourceCatalog.listed('prompts', server)], { limitMs: limits.listWaitMs, clock });
      const listed = withCommands(resourceCatalog.prompts());
      return server === undefined ? listed : listed.filter((each) => each.server === server);
    },
    problems: ({ server } = {}) => resourceCatalog.problems('prompts', server),
    async get(server, name, args = {}, cancelOptions = {}) {
      requireArguments(resourceCatalog.prompt(server, name), args);
      const refusal = (code: number, reason: string) => refusalOf(resourceCatalog, { server, name, code, reason });
      const require = (session: Session) => requirePrompts(session, server);
      const request = { server, method: 'prompts/get', params: { name, arguments: args }, refusal, require };
      const messages = messagesOf(await requestWithRetry(deps, request, cancelOptions), server, name);
      const { signals } = messages;
      if (signals.length > 0) deps.emit({ type: 'signal.raised', server, prompt: name, surface: 'prompt', signals });
      return messages;
    },
    complete: (server, name, argument, options = {}) =>
      complete(deps, { server, ref: { type: 'ref/prompt', name }, argument }, options),
    find(line) {
      const typed = splitCommand(line);
      if (typed === undefined) return undefined;
      const prompts = withCommands(resourceCatalog.prompts());
      const prompt = prompts.find(({ command }) => command === typed.command);
      if (prompt === undefined) {
        const commands = prompts.map(({ command }) => command).slice(0, limits.listItems);
        const proposed = nearest(typed.command, commands, limits.suggestions);
        throw new RuntimeError('PROMPT_UNKNOWN', { name: typed.command, nearest: proposed });
      }
      return { server: prompt.server, name: prompt.name, args: parsePromptArguments(typed.rest, prompt) };
    },
  };
}

/** Commands are made from the prompts of all servers, so that a filtered list shows the same commands. */
function withCommands(prompts: readonly Prompt[]): readonly ListedPrompt[] {
  const commands = commandsOf(prompts);
  return prompts.map((prompt) => ({ ...prompt, command: commands.get(promptKey(prompt)) ?? '' }));
}

/** Names missing arguments more clearly than the server's refusal would. A prompt that is not listed is left to the server. */
function requireArguments(prompt: Prompt | undefined, args: PromptArguments): void {
  if (prompt === undefined) return;
  const missing = prompt.arguments.filter(({ name, required }) => required && !Object.hasOwn(args, name));
  if (missing.length === 0) return;
  const problems = missing.map(({ name }) => `"${name}" is missing`);
  throw new RuntimeError('ARGUMENTS_BAD', { server: prompt.server, tool: prompt.name, problems });
}

const INVALID_PARAMS = -32602;

interface RefusedPrompt {
  readonly server: ServerName;
  readonly name: string;
  readonly code: number;
  readonly reason: string;
}

/** Servers use one code both for an unknown prompt and for wrong arguments. */
function refusalOf(
  resourceCatalog: ListedResources,
  { server, name, code, reason }: RefusedPrompt,
): RuntimeError | undefined {
  if (code !== INVALID_PARAMS) return undefined;
  if (resourceCatalog.prompt(server, name))
    return new RuntimeError('ARGUMENTS_BAD', { server, tool: name, problems: [reason] });
  const names = resourceCatalog.prompts(server).map((each) => each.name);
  const proposed = nearest(name, names, limits.suggestions);
  return new RuntimeError('PROMPT_UNKNOWN', { server, name, nearest: proposed, because: reason });
}

function requirePrompts({ capabilities }: Session, server: ServerName): void {
  if (capabilities['prompts']) return;
  throw new RuntimeError('NOT_OFFERED', { server, what: 'it has no prompts' });
}

/** A broken message is left out and reported; if all messages are broken the answer is refused. */
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
  const described = typeof description === 'string' ? { description } : {};
  const signals = findSignals(textsOf(messages).join('\n'), 'prompt');
  return { server, name, ...described, messages, problems: problems.slice(0, limits.listProblems), signals };
}

function textsOf(messages: readonly PromptMessage[]): readonly string[] {
  return messages.flatMap(({ content }) => {
    const { text, resource }: SentBlock = content;
    return [text, isObject(resource) ? resource['text'] : undefined].filter((each) => typeof each === 'string');
  });
}

function messageOf(item: unknown): PromptMessage | undefined {
  const { role, content } = isObject(item) ? item : {};
  if ((role !== 'user' && role !== 'assistant') || !isObject(content) || typeof content['type'] !== 'string')
    return undefined;
  return { role, content: content as unknown as ContentBlock };
}
