// Owns resolving a tool's name in the spellings of other agents, where only one tool can be meant. Nothing is guessed: a rule
// makes each spelling from the ToolId, and a spelling that fits two tools resolves to neither.

import { once } from '../kernel/once.ts';
import { limits } from '../model/limits.ts';
import { hashOfKey, type QualifiedName, type ToolId, toolKey } from '../model/names.ts';
import { bodiesOf, fold, LONGEST_SPELLING, lossySpellings, pairOf } from '../model/spellings.ts';
import { namingStyles, sanitizedName } from './naming.ts';

export interface Aliases {
  find(spelled: string): ToolId | 'ambiguous' | undefined;
}

interface NamedTool {
  readonly id: ToolId;
  readonly name: QualifiedName;
}

type AliasMatch = ToolId | 'ambiguous' | undefined;

/** Each kind of spelling is tried only if the one before it finds no tool; its index is built at the first try. */
export function createAliases(tools: readonly NamedTool[]): Aliases {
  const exact = once(() => new Map(tools.map(({ id, name }) => [name, id])));
  const literal = once(() => createLiteral(tools));
  const hashed = once(() => groupBy(tools, ({ id }) => [hashOfKey(toolKey(id))]));
  const folded = once(() => groupBy(tools, ({ id }) => pairOf(fold(id.server), fold(id.tool))));
  const lossy = once(() => groupBy(tools, ({ id }) => lossySpellings(id)));
  return {
    find(spelled) {
      if (spelled.length > LONGEST_SPELLING) return undefined;
      const [, beginning = '', hash = ''] = HASHED.exec(spelled) ?? [];
      return (
        exact().get(spelled) ??
        only(literal()(spelled)) ??
        only(hash === '' ? [] : (hashed().get(hash) ?? []).filter((id) => begins(id, beginning))) ??
        only(keysOf(spelled).flatMap((key) => folded().get(key) ?? [])) ??
        only(lossy().get(spelled) ?? [])
      );
    },
  };
}

const HASHED = new RegExp(`^(.+)_([0-9a-f]{${limits.nameHashLength}})$`, 's');

function only(ids: readonly ToolId[]): AliasMatch {
  const [first, ...others] = new Set(ids);
  return others.length > 0 ? 'ambiguous' : first;
}

function groupBy(
  tools: readonly NamedTool[],
  spellings: (tool: NamedTool) => readonly string[],
): Map<string, ToolId[]> {
  const groups = new Map<string, ToolId[]>();
  for (const tool of tools) {
    for (const spelled of new Set(spellings(tool))) {
      const group = groups.get(spelled);
      if (group) group.push(tool.id);
      else groups.set(spelled, [tool.id]);
    }
  }
  return groups;
}

/** `server.tool`, `server/tool`, `server__tool` and the like, `tool_mcp_server`, and the tool alone, character by character. */
function createLiteral(tools: readonly NamedTool[]): (spelled: string) => readonly ToolId[] {
  const servers = new Map<string, Map<string, ToolId>>();
  for (const { id } of tools) {
    const ofServer = servers.get(id.server) ?? new Map<string, ToolId>();
    if (ofServer.size === 0) servers.set(id.server, ofServer);
    ofServer.set(id.tool, id);
  }
  const alone = groupBy(tools, ({ id }) => [id.tool]);
  const pairs = (body: string) =>
    [...body.matchAll(SEPARATOR)].flatMap(({ index }) => {
      const ofServer = servers.get(body.slice(0, index));
      const isDouble = body[index + 1] === body[index];
      const ids = [ofServer?.get(body.slice(index + 1)), isDouble ? ofServer?.get(body.slice(index + 2)) : undefined];
      return ids.filter((id) => id !== undefined);
    });
  const reversed = (spelled: string) =>
    [...spelled.matchAll(/_mcp_/g)].flatMap(
      ({ index }) => servers.get(spelled.slice(index + 5))?.get(spelled.slice(0, index)) ?? [],
    );
  return (spelled) => [...(alone.get(spelled) ?? []), ...bodiesOf(spelled).flatMap(pairs), ...reversed(spelled)];
}

const SEPARATOR = /[_.:/-]/g;

/** Hashed names of every style count, also for a tool that has a plain name now. */
function begins(id: ToolId, beginning: string): boolean {
  return namingStyles.some((style) => sanitizedName(id, style).startsWith(beginning));
}

const keysOf = (spelled: string) => [...new Set(bodiesOf(spelled).map((body) => fold(body)))];
