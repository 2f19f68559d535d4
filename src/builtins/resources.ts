// Owns the tools with which a model finds and reads resources: `ListMcpResources` and `ReadMcpResource`.
// Everything they show of a server is data; who may be asked is decided where calls are judged.

import type { ResourceCatalog } from '../catalog/resources/resource-catalog.ts';
import type { Resources } from '../catalog/resources/resources.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Builtin, BuiltinAnswer } from '../model/builtin.ts';
import type { ServerName } from '../model/names.ts';
import type { Resource, ResourceContents, ResourcePart, ResourceTemplate } from '../model/offer.ts';
import type { ContentBlock, ToolDefinition } from '../model/tool.ts';
import { aboutOffer, aboutShown, cursorParameter, listPage, namedServer, nothingThere, text } from './offer-text.ts';

export interface ResourceToolDeps {
  readonly resources: Resources;
  readonly offers: ResourceCatalog;
  /** Whether what a server has is shown to whoever asks for all of it. */
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
    'List the resources that the connected servers offer: files, records, documents and the like, each with the uri to read it by (ReadMcpResource). A template shows how the uris of a kind are made. With "server" only those of that server. A long list comes in pages: give the "cursor" of an answer back to see the next one.',
  inputSchema: {
    type: 'object',
    properties: {
      server: { type: 'string', description: 'Only the resources of this server.' },
      cursor: cursorParameter,
    },
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

const readDefinition: ToolDefinition = {
  name: 'ReadMcpResource',
  title: 'Read a resource',
  description:
    'Read a resource by its uri, as ListMcpResources shows it or made by one of its templates. Name the server where several may have it.',
  inputSchema: {
    type: 'object',
    properties: {
      uri: { type: 'string', description: 'The uri of the resource.' },
      server: { type: 'string', description: 'The server that has it; needed only where the uri does not tell.' },
    },
    required: ['uri'],
  },
  annotations: { readOnlyHint: true, openWorldHint: true },
};

type Entry = { readonly server: ServerName; readonly address: string; readonly isTemplate: boolean } & Pick<
  Resource,
  'name' | 'title' | 'description' | 'mimeType' | 'size'
>;

/** What can be read and how more can be made, in one order, so that one cursor leads through both. */
async function list({ resources, offers, isListed }: ResourceToolDeps, args: JsonObject): Promise<BuiltinAnswer> {
  const server = namedServer(args);
  const { resources: listed } = await resources.list({ server });
  const templates = await resources.templates({ server });
  const entries = [...listed.map(entryOf), ...templates.map(templateEntry)].filter((entry) => isListed(entry.server));
  if (entries.length === 0)
    return text(nothingThere('resources', server, offers.declaring('resources').filter(isListed)));
  return listPage(entries, {
    ...{ cursor: args['cursor'], keyOf, lineOf },
    structured: (items) => ({ resources: items.map((entry) => ({ ...entry, ...aboutShown(entry) })) }),
  });
}

const entryOf = ({ server, uri, name, title, description, mimeType, size }: Resource): Entry => ({
  ...{ server, address: uri, isTemplate: false, name },
  ...described({ title, description, mimeType, size }),
});

const templateEntry = ({ server, uriTemplate, name, title, description, mimeType }: ResourceTemplate): Entry => ({
  ...{ server, address: uriTemplate, isTemplate: true, name },
  ...described({ title, description, mimeType }),
});

/** Without what is not there. */
function described(about: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(about).filter(([, value]) => value !== undefined));
}

const keyOf = ({ server, isTemplate, address }: Entry) => [server, isTemplate ? '1' : '0', address];

const lineOf = ({ server, address, isTemplate, ...about }: Entry) =>
  aboutOffer(`${isTemplate ? 'template ' : ''}${address}`, server, about);

/** Text as it is; bytes as a block of their own, so that they never stand in a model's text. */
function answerOf({ contents, problems }: ResourceContents): BuiltinAnswer {
  const blocks = contents.flatMap((part, index): ContentBlock[] => {
    const heading = `[part ${index + 1} of ${contents.length}: ${part.uri}]`;
    return contents.length === 1 ? [blockOf(part)] : [{ type: 'text', text: heading }, blockOf(part)];
  });
  const remarks = problems.map((problem): ContentBlock => ({ type: 'text', text: `[${problem}]` }));
  if (blocks.length === 0) return text('[the resource is empty]');
  return { content: [...blocks, ...remarks] };
}

function blockOf(part: ResourcePart): ContentBlock {
  return 'text' in part ? { type: 'text', text: part.text } : { type: 'resource', resource: { ...part } };
}
