// Owns the two tools through which a model reaches tools that it is not shown: `mcp_search` finds and loads them, `mcp_call`
// calls tools that cannot be added to its list. The turn unwraps such a call; `mcp_call` itself only answers mistakes.

import type { Search } from '../catalog/exposure/exposure.ts';
import type { PlacementOf } from '../catalog/exposure/placement.ts';
import { isForModels } from '../catalog/tool-meta.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { nearest } from '../kernel/nearest.ts';
import { oneLine } from '../kernel/one-line.ts';
import { type Builtin, type BuiltinAnswer, type BuiltinContext, START_TOOL, unwrapCall } from '../model/builtin.ts';
import { limits } from '../model/limits.ts';
import { type ServerName, type ToolId, toolKey } from '../model/names.ts';
import type { Tool } from '../model/tool.ts';
import { textAnswer } from './list-text.ts';
import { callDefinition, type SearchableServer, searchDefinition } from './search-definitions.ts';
import { answerText, emptyText, type SearchAnswer, serversText } from './search-text.ts';
import { startableFor } from './start-server.ts';

export interface SearchToolsDeps {
  readonly search: Search;
  /** The configured servers, connected or not: they are part of the prompt, which must not change with connections. */
  readonly servers: readonly SearchableServer[];
  /** Whether the model's list of tools may grow. Default: yes. */
  readonly promotion?: boolean | undefined;
  readonly placementOf?: PlacementOf | undefined;
  /** Resolves other spellings of a tool's name. */
  readonly resolve?: ((spelled: string) => ToolId | 'ambiguous' | undefined) | undefined;
  /** Why tools of some servers may be missing, one sentence each. */
  readonly remarks?: (() => readonly string[]) | undefined;
  /** Lazy servers whose tools are not known yet: `mcp_start` starts them. */
  readonly unstarted?: (() => readonly SearchableServer[]) | undefined;
  /** For a query that found nothing: words that tools do use, close to its own. */
  readonly nearestWords?: ((query: string) => readonly string[]) | undefined;
}

export function createSearchTools(deps: SearchToolsDeps): readonly [search: Builtin, call: Builtin] {
  const { servers, promotion = true } = deps;
  return [
    {
      definition: searchDefinition(servers, promotion),
      perform: async (args, context) => {
        const tools = context.tools.filter(({ definition }) => isForModels(definition));
        return perform(readRequest(args), deps, { ...context, tools });
      },
    },
    {
      definition: callDefinition,
      perform: async (args) => {
        const call = unwrapCall(args);
        return errorAnswer(
          typeof call === 'string' ? call : `Call "${oneLine(call.name, 100)}" directly, by its name.`,
        );
      },
    },
  ];
}

interface SearchRequest {
  readonly query: string;
  readonly select: readonly string[];
  readonly server: ServerName | undefined;
  readonly limit: number;
}

/** Lenient: a value of the wrong type counts as absent, a number beyond its bounds as the bound. */
function readRequest(args: unknown): SearchRequest {
  const { query, select, server, limit }: JsonObject = isObject(args) ? args : {};
  const { hits, mostHits, names, queryChars } = limits.search;
  const selected = (Array.isArray(select) ? select : [select]).filter((each) => typeof each === 'string');
  return {
    query: typeof query === 'string' ? query.trim().slice(0, queryChars) : '',
    select: [...new Set(selected.map((each) => each.trim()))].filter((each) => each !== '').slice(0, names),
    server: typeof server === 'string' && server.trim() !== '' ? server.trim() : undefined,
    limit: typeof limit === 'number' && limit >= 1 ? Math.min(Math.floor(limit), mostHits) : hits,
  };
}

function perform(request: SearchRequest, deps: SearchToolsDeps, context: BuiltinContext): BuiltinAnswer {
  const { query, select, server } = request;
  const remarks = [...unstartedRemarks([query, server].join(' '), deps), ...(deps.remarks?.() ?? [])];
  if (query === '' && select.length === 0 && server === undefined)
    return errorAnswer(`Give a "query", or exact names in "select". ${serversText(context.tools)}`);
  const owners = [...new Set(context.tools.map(({ id }) => id.server))];
  if (server !== undefined && !owners.includes(server)) {
    const closest = nearest(server, owners, limits.suggestions);
    return textAnswer(emptyText(context.tools, { unknownServer: server, nearest: closest, remarks }));
  }
  const inScope = server === undefined ? context.tools : context.tools.filter(({ id }) => id.server === server);
  const selected = select.map((name) => findNamed(name, context.tools, deps.resolve));
  const problems = selected.flatMap((tool, at) => (tool ? [] : problemOf(select[at] ?? '', deps, context.tools)));
  const found = query === '' && select.length > 0 ? [] : find(request, deps, inScope);
  const tools = [...new Set([...selected.flatMap((tool) => tool ?? []), ...found])];
  if (tools.length === 0 && problems.length === 0) {
    const words = deps.nearestWords?.(query) ?? [];
    return textAnswer(emptyText(inScope, { query, nearest: words, remarks }));
  }
  return loaded({ tools, problems, remarks }, deps, context);
}

const unstartedRemarks = (query: string, { unstarted }: SearchToolsDeps): readonly string[] =>
  startableFor(query, unstarted?.() ?? []).map(
    (server) => `Server "${server}" has not been started: ${START_TOOL} starts it and loads its tools.`,
  );

function loaded(
  { tools, problems, remarks }: { tools: readonly Tool[]; problems: readonly string[]; remarks: readonly string[] },
  { promotion = true, placementOf }: SearchToolsDeps,
  { load, introduce }: BuiltinContext,
): BuiltinAnswer {
  const isCarried = (tool: Tool) => !promotion || placementOf?.(tool) === 'use_tool';
  const direct = tools.filter((tool) => !isCarried(tool));
  if (direct.length > 0) load(direct.map(({ id }) => id));
  const answer: SearchAnswer = { tools, isCarried, problems, remarks };
  return {
    content: [{ type: 'text', text: answerText(answer) }],
    structured: { tools: tools.map((tool) => ({ name: tool.name, server: tool.id.server, loaded: !isCarried(tool) })) },
    ...(tools.length === 0 && { isError: true }),
    instructions: introduce(tools),
  };
}

/** Ranked; a tool whose name is the query comes first. Without a query: the first tools of the server. */
function find(
  { query, limit }: SearchRequest,
  { search, resolve }: SearchToolsDeps,
  tools: readonly Tool[],
): readonly Tool[] {
  if (query === '') return tools.slice(0, limit);
  const byKey = new Map(tools.map((tool) => [toolKey(tool.id), tool]));
  const exact = findNamed(query, tools, resolve);
  const hits = search(query, { limit, isSeen: ({ id }) => byKey.has(toolKey(id)) });
  const ranked = hits.flatMap(({ tool }) => byKey.get(toolKey(tool.id)) ?? []);
  return [...new Set([...(exact ? [exact] : []), ...ranked])].slice(0, limit);
}

/** By the full name, another spelling of it, or the server's own name for the tool if that is unique. */
function findNamed(name: string, tools: readonly Tool[], resolve: SearchToolsDeps['resolve']): Tool | undefined {
  const exact = tools.find((tool) => tool.name === name);
  if (exact) return exact;
  const id = resolve?.(name);
  if (typeof id === 'object') return tools.find((tool) => tool.id.server === id.server && tool.id.tool === id.tool);
  const own = tools.filter((tool) => tool.id.tool === name);
  return own.length === 1 ? own[0] : undefined;
}

function problemOf(name: string, { search }: SearchToolsDeps, tools: readonly Tool[]): string {
  const spelled = `"${oneLine(name, 100)}"`;
  const own = tools.filter((tool) => tool.id.tool === name).slice(0, limits.suggestions);
  if (own.length > 0) return `${spelled} is the name of several tools; write it in full, such as ${namesOf(own)}.`;
  const keys = new Set(tools.map(({ id }) => toolKey(id)));
  const query = name.slice(0, limits.search.queryChars);
  const close = search(query, { limit: limits.suggestions, isSeen: ({ id }) => keys.has(toolKey(id)) });
  const hint = close.length === 0 ? '' : ` Did you mean ${namesOf(close.map(({ tool }) => tool))}?`;
  return `There is no tool ${spelled}.${hint}`;
}

const namesOf = (tools: readonly Tool[]): string => tools.map(({ name }) => name).join(', ');

function errorAnswer(text: string): BuiltinAnswer {
  return { ...textAnswer(text), isError: true };
}
