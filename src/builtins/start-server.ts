// Owns `mcp_start`: the tool by which a model starts a lazy server whose tools are not known yet. It is offered while there is
// such a server; once the server has listed its tools, they are the way to it.

import type { JsonObject } from '../kernel/json.ts';
import { latePattern } from '../kernel/late-pattern.ts';
import { nearest } from '../kernel/nearest.ts';
import { oneLine } from '../kernel/one-line.ts';
import { type Builtin, START_TOOL } from '../model/builtin.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { Tool, ToolDefinition } from '../model/tool.ts';
import type { SessionProvider } from '../servers/sessions.ts';
import { textAnswer } from './list-text.ts';
import { type SearchableServer, serverList } from './search-definitions.ts';
import { answerText } from './search-text.ts';

export interface StartToolDeps {
  /** The servers that can be started by it, as they are when the tool is made. */
  readonly servers: readonly SearchableServer[];
  readonly sessions: Pick<SessionProvider, 'whenReady' | 'whenListed'>;
  /** The tools of the view, as they are now. */
  readonly tools: () => readonly Tool[];
}

export function createStartTool({ servers, sessions, tools }: StartToolDeps): Builtin {
  const isStartable = (name: ServerName) => servers.some((each) => each.name === name);
  return {
    definition: startDefinition(servers),
    // The first call of a lazy server starts it too, and asks nobody about that.
    isFreeByDefault: true,
    target: (args) => (isStartable(nameIn(args)) ? nameIn(args) : undefined),
    async perform(args, { cancellation, load, introduce }) {
      const name = nameIn(args);
      if (!isStartable(name)) return { ...textAnswer(unknownText(name, servers)), isError: true };
      await cancellation.race(sessions.whenReady(name));
      await cancellation.race(sessions.whenListed(name));
      const listed = tools().filter(({ id }) => id.server === name);
      if (listed.length === 0) return textAnswer(`Server "${oneLine(name, 100)}" is started and has no tools for you.`);
      load(listed.map(({ id }) => id));
      return {
        content: [
          { type: 'text', text: answerText({ tools: listed, isCarried: () => false, problems: [], remarks: [] }) },
        ],
        structured: { tools: listed.map((tool) => ({ name: tool.name, server: name, loaded: true })) },
        instructions: introduce(listed),
      };
    },
  };
}

const nameIn = ({ server }: JsonObject): ServerName => (typeof server === 'string' ? server.trim() : '');

function startDefinition(servers: readonly SearchableServer[]): ToolDefinition {
  return {
    name: START_TOOL,
    title: 'Start a server',
    description: `Start a server whose tools are not known yet, and load them. Servers: ${serverList(servers)}`,
    inputSchema: {
      type: 'object',
      properties: { server: { type: 'string' } },
      required: ['server'],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
}

function unknownText(name: string, servers: readonly SearchableServer[]): string {
  const names = servers.map((each) => each.name);
  const close = nearest(name, names, limits.suggestions);
  const hint =
    close.length === 0 ? `Servers that can be started: ${serverList(servers)}.` : `Did you mean ${close.join(', ')}?`;
  return `No server "${oneLine(name, 100)}" waits to be started. ${hint}`;
}

const word = latePattern(String.raw`[\p{L}\p{N}]{3,}`, 'gu');

/** The servers that a query names, by a word of their name or description. */
export function startableFor(query: string, servers: readonly SearchableServer[]): readonly ServerName[] {
  const words = query.toLowerCase().match(word()) ?? [];
  const isNamed = ({ name, title = '' }: SearchableServer) => {
    const text = `${name} ${title}`.toLowerCase();
    return words.some((each) => text.includes(each));
  };
  return servers.filter(isNamed).map(({ name }) => name);
}
