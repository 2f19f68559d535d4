// Owns the definitions of `mcp_search` and `mcp_call`. Every word of them is part of the model's prompt, so they change only
// with the configured servers, never with the state of a connection.

import { cleanText } from '../kernel/clean-text.ts';
import { fairShares } from '../kernel/fair-shares.ts';
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

const purpose = `Find tools: more are connected than you see. Search before you say that something cannot be done, and whenever none of your tools covers an action or a service. Search once for each kind of action; if nothing fits, try other words or fewer. Each tool found comes with its input schema.`;

const whenLoaded = `From then on call it by its name or, if it is not among your tools, through ${CALL_TOOL}.`;
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
        query: {
          type: 'string',
          description:
            'The action and its object in a few words, with the service if you know it, such as "create issue".',
        },
        select: { type: 'array', items: { type: 'string' }, description: 'Exact names of tools, instead of a query.' },
        server: { type: 'string', description: 'Search only this server.' },
        limit: {
          type: 'integer',
          description: `1 to ${limits.search.mostHits}; ${limits.search.hits} if not given.`,
        },
      },
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
}

export const callDefinition: ToolDefinition = {
  name: CALL_TOOL,
  title: 'Call a found tool',
  description: `Call a tool that ${SEARCH_TOOL} found and that is not among your tools.`,
  inputSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', description: `Exactly as ${SEARCH_TOOL} gave it.` },
      arguments: { type: 'object', description: 'As its input schema asks.', additionalProperties: true },
    },
    required: ['name'],
  },
};

/** A title cut shorter than this says nothing. */
const FEWEST_TITLE_CHARS = 12;

/** Sorted, and within its room: long titles are cut, then left out, then names too. Tools of servers left out can still be found. */
export function serverList(servers: readonly SearchableServer[]): string {
  const { servers: most, titleChars, serverListChars } = limits.search;
  const first = [...servers].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)).slice(0, most);
  const shown = first.map(({ name, title }) => ({
    name: oneLine(cleanText(name).text, titleChars),
    title: title === undefined || title === name ? '' : oneLine(cleanText(title).text, titleChars),
  }));
  const forTitles = serverListChars - shown.reduce((sum, { name }) => sum + name.length + ',  ()'.length, 0);
  const shares = fairShares(
    shown.map(({ title }) => title.length),
    Math.max(0, forTitles),
  );
  const labels = shown.map(({ name, title }, at) => {
    const room = shares[at] ?? 0;
    return title === '' || room < Math.min(title.length, FEWEST_TITLE_CHARS)
      ? name
      : `${name} (${oneLine(title, room)})`;
  });
  const fitting = labels.slice(0, howManyFit(labels, serverListChars));
  const more = servers.length - fitting.length;
  return [...fitting, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}

function howManyFit(labels: readonly string[], room: number): number {
  let left = room;
  const beyond = labels.findIndex((label) => {
    left -= label.length + ', '.length;
    return left < 0;
  });
  return beyond < 0 ? labels.length : beyond;
}
