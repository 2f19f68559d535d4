// Owns the text that a model reads after a search: each tool on its own lines, all of it bounded, and for an empty result
// what to try next.

import { isObject, type JsonObject } from '../kernel/json.ts';
import { oneLine } from '../kernel/one-line.ts';
import { CALL_TOOL } from '../model/builtin.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { Tool } from '../model/tool.ts';

export interface SearchAnswer {
  readonly tools: readonly Tool[];
  /** Whether the model calls the tool through `mcp_call`, because it is not added to the model's tools. */
  readonly isCarried: (tool: Tool) => boolean;
  /** One sentence for each name in `select` that is no tool. */
  readonly problems: readonly string[];
  readonly remarks: readonly string[];
}

export function answerText({ tools, isCarried, problems, remarks }: SearchAnswer): string {
  const head = tools.length === 0 ? [] : [headOf(tools, isCarried)];
  let room = limits.search.answerChars;
  const entries = tools.map((tool, at) => {
    const most = tools.length === 1 ? room : Math.min(room, limits.search.entryChars);
    const entry = entryText(tool, { at, isCarried: isCarried(tool), most });
    room -= entry.length;
    return entry;
  });
  return [...head, ...entries, ...problems, ...notReady(remarks)].join('\n\n');
}

function headOf(tools: readonly Tool[], isCarried: (tool: Tool) => boolean): string {
  const carried = tools.filter(isCarried).length;
  const found = tools.length === 1 ? 'Found 1 tool.' : `Found ${tools.length} tools, the best match first.`;
  if (carried === tools.length) return `${found} Call through ${CALL_TOOL}.`;
  const direct = `${found} Loaded now: call by name, or through ${CALL_TOOL} where the name is not among your tools.`;
  return carried === 0 ? direct : `${direct} Those marked so are called through ${CALL_TOOL} only.`;
}

interface EntryOptions {
  readonly at: number;
  readonly isCarried: boolean;
  /** The room for the whole entry, in characters. */
  readonly most: number;
}

/** The description stays on one line: a server's text cannot pass for another entry. */
function entryText({ name, id, description, inputSchema }: Tool, { at, isCarried, most }: EntryOptions): string {
  const { carriedChars, loadedChars } = limits.search;
  const about = oneLine(description, isCarried ? carriedChars : loadedChars);
  const lines = [
    `${at + 1}. ${name}${isCarried ? ` (through ${CALL_TOOL})` : ''}`,
    `   server: ${oneLine(id.server, limits.search.titleChars)}`,
    ...(about === '' ? [] : [`   description: ${about}`]),
  ];
  const used = lines.join('\n').length;
  const schema = schemaText(inputSchema, most - used);
  return [...lines, `   input schema: ${schema}`].join('\n');
}

/** The schema in full, or its outline without descriptions, or a hint how to read it. */
function schemaText(schema: JsonObject, most: number): string {
  const full = JSON.stringify(schema);
  if (full.length <= most) return full;
  const names = isObject(schema['properties']) ? Object.keys(schema['properties']) : [];
  const { required } = schema;
  const outline = JSON.stringify({
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, typeOf(schema, name)])),
    ...(Array.isArray(required) && { required }),
  });
  if (outline.length <= most) return `${outline} (shortened: descriptions and nested parts are left out)`;
  return '(too long to be shown here: select this tool alone to read it, or call it and read what is wrong)';
}

function typeOf({ properties }: JsonObject, name: string): JsonObject {
  const property = isObject(properties) ? properties[name] : undefined;
  const type = isObject(property) ? property['type'] : undefined;
  return type === undefined ? {} : { type };
}

export interface EmptyAnswer {
  readonly query?: string;
  readonly unknownServer?: ServerName;
  /** Words of tools, or names of servers, close to the request. */
  readonly nearest: readonly string[];
  readonly remarks: readonly string[];
}

/** Says why nothing was found, and what to try next. */
export function emptyText(
  tools: readonly Tool[],
  { query = '', unknownServer, nearest, remarks }: EmptyAnswer,
): string {
  const close = nearest.map((each) => `"${oneLine(each, 100)}"`).join(', ');
  const sentences = [
    ...(unknownServer === undefined ? [] : [`No tools of a server "${oneLine(unknownServer, 100)}" are known.`]),
    ...(tools.length === 0 ? ['No tools are connected.'] : []),
    ...(unknownServer === undefined && tools.length > 0 ? [`No tool matches "${oneLine(query, 200)}".`] : []),
    ...(close === ''
      ? []
      : [unknownServer === undefined ? `Words that tools do use: ${close}.` : `Did you mean ${close}?`]),
    ...(tools.length === 0 ? [] : [serversText(tools)]),
    ...(unknownServer === undefined && tools.length > 0
      ? ['Try other words for the action or its object, or fewer words.']
      : []),
  ];
  return [sentences.join(' '), ...notReady(remarks)].join('\n\n');
}

/** The servers that have tools, and how many each has. */
export function serversText(tools: readonly Tool[]): string {
  const counts = new Map<ServerName, number>();
  for (const { id } of tools) counts.set(id.server, (counts.get(id.server) ?? 0) + 1);
  if (counts.size === 0) return 'No tools are connected.';
  const { servers: most, titleChars } = limits.search;
  const sorted = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  const words = sorted.slice(0, most).map(([server, count]) => `${oneLine(server, titleChars)} (${count})`);
  const more = sorted.length - words.length;
  return `Servers, with their number of tools: ${[...words, ...(more > 0 ? [`and ${more} more`] : [])].join(', ')}.`;
}

function notReady(remarks: readonly string[]): readonly string[] {
  if (remarks.length === 0) return [];
  const { remarks: most, loadedChars } = limits.search;
  const lines = remarks.slice(0, most).map((remark) => `- ${oneLine(remark, loadedChars)}`);
  const more = remarks.length - lines.length;
  return [['Not everything could be searched:', ...lines, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n')];
}
