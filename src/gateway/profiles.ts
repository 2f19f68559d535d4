// Owns what one profile lets its clients see and do: which servers and tools, how results are shaped, and who approves.

import { matchesWildcard } from '../kernel/wildcard.ts';
import { CALL_TOOL, SEARCH_TOOL } from '../model/builtin.ts';
import type { ServerName } from '../model/names.ts';
import type { Tool } from '../model/tool.ts';
import { matchesTool } from '../view.ts';

export interface Profile {
  readonly name: string;
  /** Servers by name, where `*` stands for anything. */
  readonly servers: readonly string[];
  /** Tools as `server__tool`, where `*` stands for anything. */
  readonly tools: readonly string[];
  /** `raw`: results as servers send them, for a client that shapes them itself; `shaped`: as a model of Plexus reads them. */
  readonly shaping: 'raw' | 'shaped';
  /** `search`: only tools to search for the others and to call them. */
  readonly expose: 'all' | 'search';
  /** `client`: where no rule matches, the client's own approval counts; `plexus`: whatever no rule allows is asked about. */
  readonly approval: 'client' | 'plexus';
}

/** The profile of `/mcp` and of the routes of single servers. */
export const DEFAULT_PROFILE = 'default';

export const openProfile: Profile = {
  ...{ name: DEFAULT_PROFILE, servers: ['*'], tools: ['*'] },
  ...{ shaping: 'raw', expose: 'all', approval: 'client' },
};

/** The tools that clients of a profile with `search` see in place of all others. */
export const searchToolNames: readonly string[] = [SEARCH_TOOL, CALL_TOOL];

export const seesServer = ({ servers }: Profile, server: ServerName): boolean =>
  servers.some((pattern) => matchesWildcard(pattern, server));

/** Patterns mean what they mean in a view: the part before the first separator is the server. */
export const seesTool = (profile: Profile, tool: Tool): boolean =>
  seesServer(profile, tool.id.server) &&
  viewPatterns(profile).every((patterns) => patterns.some((pattern) => matchesTool(pattern, tool)));

/** The profile as patterns of a view, for the tools that search. */
export const viewPatterns = ({ servers, tools }: Profile): readonly (readonly string[])[] => [
  ...(servers.includes('*') ? [] : [servers.map((pattern) => `mcp__${pattern}__*`)]),
  ...(tools.includes('*') ? [] : [tools.map((pattern) => `mcp__${pattern}`)]),
];
