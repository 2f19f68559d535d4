// Owns the definitions of `mcp_search` and `mcp_call`. Every word of them is part of the model's prompt, so they change only
// with the configured servers, never with the state of a connection.

import { cleanText } from '../kernel/clean-text.ts';
import { oneLine } from '../kernel/one-line.ts';
import { CALL_TOOL, SEARCH_TOOL } from '../model/builtin.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { ToolDefinition } from '../model/tool.ts';

export interface SearchableServer {
  readonly name: ServerName;
  /** The server's title or description in the configuration. */
  readonly title?: string | undefined;
}

const purpose = `Find tools. Besides the tools you see, more are connected and hidden to save space. Search before you say that something cannot be done, and whenever a task needs a service or an action that none of your tools covers.

Write "query" as a few words: the action and what it acts on, with the service's name if you know it, such as "create issue", "list calendar events" or "query database". Search once for each kind of action. If nothing fits, try other words or fewer. If you know exact names, give them in "select" instead. With "server" only that server's tools are searched.

Each tool in the answer comes with its input schema.`;

const whenLoaded = `From then on it is among your tools: call it by its name. If it is not among them, call it through ${CALL_TOOL}.`;
const whenCarried = `Call it through ${CALL_TOOL}.`;

export function searchDefinition(servers: readonly SearchableServer[], promotion: boolean): ToolDefinition {
  const names = serverList(servers);
  return {
    name: SEARCH_TOOL,
    title: 'Search tools',
    description: `${purpose} ${promotion ? whenLoaded : whenCarried}${names === '' ? '' : `\n\nServers: ${names}`}`,
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What the tool should do, in a few words.' },
        select: {
          type: 'array',
          items: { type: 'string' },
          description: 'Exact names of tools to load, instead of a query.',
        },
        server: { type: 'string', description: 'Search only the tools of this server.' },
        limit: {
          type: 'integer',
          description: `How many tools to return: 1 to ${limits.search.mostHits}, ${limits.search.hits} if not given.`,
        },
      },
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
}

export const callDefinition: ToolDefinition = {
  name: CALL_TOOL,
  title: 'Call a found tool',
  description: `Call a tool that ${SEARCH_TOOL} found and that is not among your tools. A tool that is among them is called directly.`,
  inputSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', description: `The tool's name, exactly as ${SEARCH_TOOL} gave it.` },
      arguments: {
        type: 'object',
        description: "The tool's arguments, as its input schema asks for them.",
        additionalProperties: true,
      },
    },
    required: ['name'],
  },
};

/** Sorted, and cut where it gets long: the tools of servers left out can still be found. */
export function serverList(servers: readonly SearchableServer[]): string {
  const { servers: most, titleChars } = limits.search;
  const first = [...servers].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)).slice(0, most);
  const labels = first.map(({ name, title }) => {
    const shown = oneLine(cleanText(name).text, titleChars);
    return title === undefined || title === name ? shown : `${shown} (${oneLine(cleanText(title).text, titleChars)})`;
  });
  const more = servers.length - first.length;
  return [...labels, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}
