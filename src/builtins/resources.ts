// Owns the tools by which a model lists and reads resources: `ListMcpResources` and `ReadMcpResource`.
// Everything they show of a server is data; `call/authorize` decides which servers may be asked.

import type { ListedResources } from '../catalog/resources/resource-catalog.ts';
import type { Resources } from '../catalog/resources/resources.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Builtin, BuiltinAnswer } from '../model/builtin.ts';
import type { ServerName } from '../model/names.ts';
import type { Resource, ResourceContents, ResourcePart, ResourceTemplate } from '../model/resource.ts';
import type { ContentBlock, ToolDefinition } from '../model/tool.ts';
import { emptyListText, itemLine, listPage, listParameters, namedServer, shownFacts, textAnswer } from './list-text.ts';

export interface ResourceToolDeps {
  readonly resources: Resources;
  readonly resourceCatalog: ListedResources;
  /** Whether the server's resources appear when a model lists those of all servers. */
  readonly isListed: (server: ServerName) => boolean;
}

export function createResourceTools(deps: ResourceToolDeps): readonly Builtin[] {
  const { resources } = deps;
  return [
    { definition: listDefinition, target: namedServer, perform: (args) => list(deps, args) },
    {
      definition: readDefinition,
      target: (args) => resources.ownerOf(String(args['uri']), namedServer(args)),
      async perform(args, { server, cancellation }) {
        return answerOf(await resources.read(String(args['uri']), { server, cancellation }));
      },
    },
  ];
}

const listDefinition: ToolDefinition = {
  name: 'ListMcpResources',
  title: 'List resources',
  description:
    'List the resources of servers (files, records, documents) with the uris by which ReadMcpResource reads them. A template shows how uris of a kind are made.',
  inputSchema: listParameters,
  annotations: { readOnlyHint: true, openWorldHint: false },
};

const readDefinition: ToolDefinition = {
  name: 'ReadMcpResource',
  title: 'Read a resource',
  description: 'Read a resource by its uri, as ListMcpResources shows it or made by one of its templates.',
  inputSchema: {
    type: 'object',
    properties: {
      uri: { type: 'string' },
      server: { type: 'string', description: 'Needed only where several servers may have it.' },
    },
    required: ['uri'],
  },
  annotations: { readOnlyHint: true, openWorldHint: true },
};

type ResourceEntry = { readonly server: ServerName; readonly address: string; readonly isTemplate: boolean } & Pick<
  Resource,
  'name' | 'title' | 'description' | 'mimeType' | 'size'
>;

/** Resources and templates in one order, so that one cursor leads through both. */
async function list(
  { resources, resourceCatalog, isListed }: ResourceToolDeps,
  args: JsonObject,
): Promise<BuiltinAnswer> {
  const server = namedServer(args);
  const { resources: listed } = await resources.list({ server });
  const templates = await resources.templates({ server });
  const entries = [...listed.map(entryOf), ...templates.map(templateEntry)].filter((entry) => isListed(entry.server));
  if (entries.length === 0)
    return textAnswer(emptyListText('resources', server, resourceCatalog.declaring('resources').filter(isListed)));
  return listPage(entries, {
    cursor: args['cursor'],
    keyOf,
    lineOf,
    structured: (items) => ({ resources: items.map((entry) => ({ ...entry, ...shownFacts(entry) })) }),
  });
}

const entryOf = ({ server, uri, name, title, description, mimeType, size }: Resource): ResourceEntry => ({
  server,
  address: uri,
  isTemplate: false,
  name,
  ...defined({ title, description, mimeType, size }),
});

const templateEntry = ({
  server,
  uriTemplate,
  name,
  title,
  description,
  mimeType,
}: ResourceTemplate): ResourceEntry => ({
  server,
  address: uriTemplate,
  isTemplate: true,
  name,
  ...defined({ title, description, mimeType }),
});

/** Without the keys whose value is undefined. */
function defined(facts: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}

const keyOf = ({ server, isTemplate, address }: ResourceEntry) => [server, isTemplate ? '1' : '0', address];

const lineOf = ({ server, address, isTemplate, ...facts }: ResourceEntry) =>
  itemLine(`${isTemplate ? 'template ' : ''}${address}`, server, facts);

/** Text stays as it is; bytes become a block of their own, so that they never stand in a model's text. */
function answerOf({ contents, problems }: ResourceContents): BuiltinAnswer {
  const blocks = contents.flatMap((part, index): ContentBlock[] => {
    const heading = `[part ${index + 1} of ${contents.length}: ${part.uri}]`;
    return contents.length === 1 ? [blockOf(part)] : [{ type: 'text', text: heading }, blockOf(part)];
  });
  const remarks = problems.map((problem): ContentBlock => ({ type: 'text', text: `[${problem}]` }));
  if (blocks.length === 0) return textAnswer('[the resource is empty]');
  return { content: [...blocks, ...remarks] };
}

function blockOf(part: ResourcePart): ContentBlock {
  return 'text' in part ? { type: 'text', text: part.text } : { type: 'resource', resource: { ...part } };
}
