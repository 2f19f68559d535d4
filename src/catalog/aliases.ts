// Owns understanding a tool's name in the spellings of other agents, where only one tool can be meant. Nothing is guessed: each
// spelling is made from the ToolId by a rule, and what two tools may be called means neither.

import { createHash } from 'node:crypto';
import { limits } from '../model/limits.ts';
import { hashOfKey, type QualifiedName, type ToolId, toolKey } from '../model/names.ts';
import { namingStyles, sanitizedName } from './naming.ts';

export interface Aliases {
  find(spelled: string): ToolId | 'ambiguous' | undefined;
}

interface Named {
  readonly id: ToolId;
  readonly name: QualifiedName;
}

type Found = ToolId | 'ambiguous' | undefined;

/** Each kind of spelling is asked only where the one before it knows nobody; nothing is prepared before it is needed. */
export function createAliases(tools: readonly Named[]): Aliases {
  const exact = once(() => new Map(tools.map(({ id, name }) => [name, id])));
  const literal = once(() => createLiteral(tools));
  const hashed = once(() => groupBy(tools, ({ id }) => [hashOfKey(toolKey(id))]));
  const folded = once(() => groupBy(tools, ({ id }) => foldedSpellings(id)));
  const made = once(() => groupBy(tools, ({ id }) => [...madeSpellings(id), ...cutSpellings(id)]));
  return {
    find(spelled) {
      if (spelled.length > LONGEST) return undefined;
      const [, beginning = '', hash = ''] = HASHED.exec(spelled) ?? [];
      return (
        exact().get(spelled) ??
        only(literal()(spelled)) ??
        only(hash === '' ? [] : (hashed().get(hash) ?? []).filter((id) => begins(id, beginning))) ??
        only(keysOf(spelled).flatMap((key) => folded().get(key) ?? [])) ??
        only(made().get(spelled) ?? [])
      );
    },
  };
}

/** Longer than any server with any tool, and what stands around them. */
const LONGEST = 2 * limits.nameChars;
const HASHED = new RegExp(`^(.+)_([0-9a-f]{${limits.nameHashLength}})$`, 's');

function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function only(ids: readonly ToolId[]): Found {
  const [first, ...others] = new Set(ids);
  return others.length > 0 ? 'ambiguous' : first;
}

function groupBy(tools: readonly Named[], spellings: (tool: Named) => readonly string[]): Map<string, ToolId[]> {
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
function createLiteral(tools: readonly Named[]): (spelled: string) => readonly ToolId[] {
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

/** With and without what agents put before a name. */
function bodiesOf(spelled: string): readonly string[] {
  const [, rest = ''] = /^(?:mcp[_.:/-]|@)(.+)$/is.exec(spelled) ?? [];
  const [, further = ''] = /^[_-](.+)$/s.exec(rest) ?? [];
  return [spelled, rest, further].filter((body) => body !== '');
}

/** The names of the other styles, also of tools that have a plain one now. */
function begins(id: ToolId, beginning: string): boolean {
  return namingStyles.some((style) => sanitizedName(id, style).startsWith(beginning));
}

/** Agents differ in what they make of capitals and odd characters; folded, they agree. */
function fold(text: string): string {
  if (FOLDED.test(text)) return text;
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
}

const FOLDED = /^[a-z0-9]+(?:_[a-z0-9]+)*$/;

const keysOf = (spelled: string) => [...new Set(bodiesOf(spelled).map((body) => fold(body)))];

/** Some drop from the tool what repeats its server. */
function foldedSpellings({ server, tool }: ToolId): readonly string[] {
  return pairOf(fold(server), fold(tool));
}

function pairOf(server: string, tool: string): readonly string[] {
  if (server === '' || tool === '') return [];
  return tool.startsWith(`${server}_`) ? [`${server}_${tool}`, tool] : [`${server}_${tool}`];
}

/** What loses more than that counts only as it is written where it is done: without digits, or with a part of the server. */
function madeSpellings({ server, tool }: ToolId): readonly string[] {
  const lettersOnly = (part: string) => fold(part.toLowerCase().replace(/[^a-z]+/g, '_'));
  const short = () =>
    server
      .toLowerCase()
      .replace(/[^a-z0-9_.-]+/g, '_')
      .slice(0, CUT_SERVER);
  return [
    ...(/\d/.test(server + tool) ? pairOf(lettersOnly(server), lettersOnly(tool)).map((pair) => `mcp__${pair}`) : []),
    ...(server.length > CUT_SERVER || tool.length > CUT_SERVER
      ? [`mcp_${short()}_${tool}`.replaceAll('.', '_').slice(0, limits.toolNameLength)]
      : []),
  ];
}

const CUT_SERVER = 13;
/** Nobody cuts a shorter name. */
const CUT_FROM = 60;

/** How names are made shorter that a provider would refuse: the middle left out, or the end replaced by a hash. */
function cutSpellings({ server, tool }: ToolId): readonly string[] {
  if (server.length + tool.length < CUT_FROM - 'mcp_'.length - 1) return [];
  const hash = createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, 8);
  const full = [`mcp__${server}__${tool}`, `mcp_${server}_${tool}`, `${server}__${tool}`, tool];
  return full
    .map((name) => name.replace(/[^A-Za-z0-9_.:-]/g, '_'))
    .flatMap((name) => [
      `${name.slice(0, 30)}...${name.slice(-30)}`,
      `${name.slice(0, 28)}___${name.slice(-32)}`,
      `${name.replace(/[.:]/g, '_').slice(0, 55)}_${hash}`,
    ]);
}
