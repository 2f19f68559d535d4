// Owns the tools by which a model lists and fills in prompts: `ListMcpPrompts` and `GetMcpPrompt`.

import type { ListedPrompt, PromptArguments, Prompts } from '../catalog/resources/prompts.ts';
import type { ListedResources } from '../catalog/resources/resource-catalog.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import type { Builtin, BuiltinAnswer } from '../model/builtin.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { PromptMessages } from '../model/resource.ts';
import type { ContentBlock, ToolDefinition } from '../model/tool.ts';
import {
  emptyListText,
  itemLine,
  listPage,
  listParameters,
  namedServer,
  shown,
  shownFacts,
  textAnswer,
} from './list-text.ts';

export interface PromptToolDeps {
  readonly prompts: Prompts;
  readonly resourceCatalog: ListedResources;
  /** Whether the server's prompts appear when a model lists those of all servers. */
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
        const promptArguments = argumentsOf(args['arguments'], { server, tool: name });
        return answerOf(await deps.prompts.get(server, name, promptArguments, { cancellation }));
      },
    },
  ];
}

const listDefinition: ToolDefinition = {
  name: 'ListMcpPrompts',
  title: 'List prompts',
  description:
    'List the prompts of servers: ready-made instructions for a task, each with its arguments. GetMcpPrompt fills one in.',
  inputSchema: listParameters,
  annotations: { readOnlyHint: true, openWorldHint: false },
};

const getDefinition: ToolDefinition = {
  name: 'GetMcpPrompt',
  title: 'Fill in a prompt',
  description: 'Get the text of a prompt that ListMcpPrompts shows, with its arguments filled in.',
  inputSchema: {
    type: 'object',
    properties: {
      server: { type: 'string' },
      name: { type: 'string' },
      arguments: { type: 'object', description: 'Texts, by name.' },
    },
    required: ['server', 'name'],
  },
  annotations: { readOnlyHint: true, openWorldHint: true },
};

async function list({ prompts, resourceCatalog, isListed }: PromptToolDeps, args: JsonObject): Promise<BuiltinAnswer> {
  const server = namedServer(args);
  const listed = (await prompts.list({ server })).filter((prompt) => isListed(prompt.server));
  if (listed.length === 0)
    return textAnswer(emptyListText('prompts', server, resourceCatalog.declaring('prompts').filter(isListed)));
  return listPage(listed, {
    cursor: args['cursor'],
    keyOf,
    lineOf,
    structured: (items) => ({ prompts: items.map(entryOf) }),
  });
}

const keyOf = ({ server, name }: ListedPrompt) => [server, name];

/** The prompt's name stays as it is: GetMcpPrompt needs it, and `checkPrompt` has refused hidden characters in it. */
function entryOf(prompt: ListedPrompt): JsonObject {
  const { server, name, command } = prompt;
  const parameters = prompt.arguments.map(({ name: argument, description, required }) => ({
    name: shown(argument),
    ...(description !== undefined && { description: shown(description) }),
    required,
  }));
  return { ...shownFacts(prompt), server, name, command, arguments: parameters };
}

function lineOf(prompt: ListedPrompt): string {
  const parameters = prompt.arguments.map(({ name, description, required }) => {
    const described = description === undefined ? '' : `: ${shown(description)}`;
    return `\n    ${shown(name)}${required ? ' (required)' : ''}${described}`;
  });
  return itemLine(prompt.name, prompt.server, prompt) + parameters.join('');
}

/** Prompt arguments are texts: a model's number or boolean becomes one, an object or a list is refused. */
function argumentsOf(values: unknown, id: { readonly server: string; readonly tool: string }): PromptArguments {
  if (values === undefined || values === null) return {};
  const bad = (problem: string) => new RuntimeError('ARGUMENTS_BAD', { ...id, problems: [problem] });
  if (!isObject(values)) throw bad('"arguments" must be an object');
  const entries = Object.entries(values).map(([name, value]): [string, string] => {
    if (typeof value === 'object' || value === undefined) throw bad(`"${shown(name)}" must be a text`);
    return [name, String(value)];
  });
  return Object.fromEntries(entries);
}

/** Roles are named unless the prompt is a single message of the user; contents stay as they are. */
function answerOf({ messages, problems }: PromptMessages): BuiltinAnswer {
  const isPlain = messages.length === 1 && messages.every(({ role }) => role === 'user');
  const blocks = messages.flatMap(({ role, content }): ContentBlock[] =>
    isPlain ? [content] : [{ type: 'text', text: `[${role}]` }, content],
  );
  const remarks = problems.map((problem): ContentBlock => ({ type: 'text', text: `[${problem}]` }));
  if (blocks.length === 0) return textAnswer('[the prompt is empty]');
  return { content: [...blocks, ...remarks] };
}
