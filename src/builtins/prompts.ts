// Owns the tools with which a model finds and fills in prompts: `ListMcpPrompts` and `GetMcpPrompt`.

import type { ListedPrompt, PromptArguments, Prompts } from '../catalog/resources/prompts.ts';
import type { ResourceCatalog } from '../catalog/resources/resource-catalog.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import type { Builtin, BuiltinAnswer } from '../model/builtin.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { PromptMessages } from '../model/offer.ts';
import type { ContentBlock, ToolDefinition } from '../model/tool.ts';
import {
  aboutOffer,
  aboutShown,
  cursorParameter,
  listPage,
  namedServer,
  nothingThere,
  shown,
  text,
} from './offer-text.ts';

export interface PromptToolDeps {
  readonly prompts: Prompts;
  readonly offers: ResourceCatalog;
  /** Whether what a server has is shown to whoever asks for all of it. */
  readonly isListed: (server: ServerName) => boolean;
}

export function createPromptTools(deps: PromptToolDeps): readonly Builtin[] {
  return [
    { definition: listDefinition, target: namedServer, perform: (args) => list(deps, args) },
    {
      definition: getDefinition,
      target: namedServer,
      async perform(args, { cancellation }) {
        const [server, name] = [String(args['server']), String(args['name'])];
        const given = argumentsOf(args['arguments'], { server, tool: name });
        return answerOf(await deps.prompts.get(server, name, given, { cancellation }));
      },
    },
  ];
}

const listDefinition: ToolDefinition = {
  name: 'ListMcpPrompts',
  title: 'List prompts',
  description:
    'List the prompts that the connected servers offer: ready-made instructions for a task, each with the arguments it takes. Fill one in with GetMcpPrompt. With "server" only those of that server. A long list comes in pages: give the "cursor" of an answer back to see the next one.',
  inputSchema: {
    type: 'object',
    properties: {
      server: { type: 'string', description: 'Only the prompts of this server.' },
      cursor: cursorParameter,
    },
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

const getDefinition: ToolDefinition = {
  name: 'GetMcpPrompt',
  title: 'Fill in a prompt',
  description: 'Get the text of a prompt that ListMcpPrompts shows, with its arguments filled in.',
  inputSchema: {
    type: 'object',
    properties: {
      server: { type: 'string', description: 'The server that offers it.' },
      name: { type: 'string', description: 'The name of the prompt.' },
      arguments: { type: 'object', description: 'Its arguments by name; each is a text.' },
    },
    required: ['server', 'name'],
  },
  annotations: { readOnlyHint: true, openWorldHint: true },
};

async function list({ prompts, offers, isListed }: PromptToolDeps, args: JsonObject): Promise<BuiltinAnswer> {
  const server = namedServer(args);
  const listed = (await prompts.list({ server })).filter((prompt) => isListed(prompt.server));
  if (listed.length === 0) return text(nothingThere('prompts', server, offers.declaring('prompts').filter(isListed)));
  return listPage(listed, {
    ...{ cursor: args['cursor'], keyOf, lineOf },
    structured: (items) => ({ prompts: items.map(entryOf) }),
  });
}

const keyOf = ({ server, name }: ListedPrompt) => [server, name];

/** Its own name is what it is got by, and hides nothing. */
function entryOf(prompt: ListedPrompt): JsonObject {
  const { server, name, command } = prompt;
  const takes = prompt.arguments.map(({ name: argument, description, required }) => ({
    name: shown(argument),
    ...(description !== undefined && { description: shown(description) }),
    required,
  }));
  return { ...aboutShown(prompt), server, name, command, arguments: takes };
}

function lineOf(prompt: ListedPrompt): string {
  const takes = prompt.arguments.map(({ name, description, required }) => {
    const told = description === undefined ? '' : `: ${shown(description)}`;
    return `\n    ${shown(name)}${required ? ' (required)' : ''}${told}`;
  });
  return aboutOffer(prompt.name, prompt.server, prompt) + takes.join('');
}

/** What a model writes as a number is a text here; what is no single value fits nowhere. */
function argumentsOf(given: unknown, id: { readonly server: string; readonly tool: string }): PromptArguments {
  if (given === undefined || given === null) return {};
  const bad = (problem: string) => new RuntimeError('ARGUMENTS_BAD', { ...id, problems: [problem] });
  if (!isObject(given)) throw bad('"arguments" must be an object');
  const entries = Object.entries(given).map(([name, value]): [string, string] => {
    if (typeof value === 'object' || value === undefined) throw bad(`"${shown(name)}" must be a text`);
    return [name, String(value)];
  });
  return Object.fromEntries(entries);
}

/** Who speaks is said where it is not the user alone; what is said stays as it is. */
function answerOf({ messages, problems }: PromptMessages): BuiltinAnswer {
  const isPlain = messages.length === 1 && messages.every(({ role }) => role === 'user');
  const blocks = messages.flatMap(({ role, content }): ContentBlock[] =>
    isPlain ? [content] : [{ type: 'text', text: `[${role}]` }, content],
  );
  const remarks = problems.map((problem): ContentBlock => ({ type: 'text', text: `[${problem}]` }));
  if (blocks.length === 0) return text('[the prompt is empty]');
  return { content: [...blocks, ...remarks] };
}
