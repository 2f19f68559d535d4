// Owns what a text may mean in the spelling of another agent, held against the servers that are known. What opens something
// must be beyond doubt; all that a text may close is in `closing.ts`.

import type { ServerName } from '../model/names.ts';
import type { Verdict } from '../model/rule.ts';
import { LONGEST_SPELLING } from '../model/spellings.ts';
import { folded } from './tool-spellings.ts';

export interface Spelling {
  /** Which server is meant. */
  readonly server: ServerName;
  /** A pattern for the tool's own name. */
  readonly tool: string;
}

/** The servers by how they are written without regard to capitals and odd characters. */
export type KnownServers = ReadonlyMap<string, readonly ServerName[]>;

export function knowServers(names: Iterable<ServerName>): KnownServers {
  const known = new Map<string, ServerName[]>();
  for (const name of new Set(names)) {
    const alike = known.get(folded(name));
    if (alike) alike.push(name);
    else known.set(folded(name), [name]);
  }
  return known;
}

export const isPattern = (text: string) => /[*?]/.test(text);

/** The one server and tool that a text which allows can mean. */
export function openingOf(text: string, known: KnownServers): Spelling | undefined {
  if (text.length > LONGEST_SPELLING || isReversed(text, known)) return undefined;
  const [, rest] = /^(?:mcp(?:__|--|[_.:/-])|@)(.+)$/is.exec(text) ?? [];
  const found = [text, ...(rest === undefined ? [] : [rest])].flatMap((body) => pairsIn(body, known, 'allow'));
  const [first, ...others] = new Map(found.map((pair) => [JSON.stringify(pair), pair])).values();
  return others.length > 0 ? undefined : first;
}

/** Some agents write `tool_mcp_server`; as little as a tool's name tells that from it, it may open anything. */
function isReversed(text: string, known: KnownServers): boolean {
  return [...text.matchAll(/_mcp_/g)].some(({ index }) => known.has(folded(text.slice(index + '_mcp_'.length))));
}

/** Every way to read the text as a server that is known, and a tool behind it. */
export function pairsIn(body: string, known: KnownServers, verdict: Verdict): readonly Spelling[] {
  const end = body.search(/[*?]/);
  const fixed = end < 0 ? body : body.slice(0, end);
  return [...fixed.matchAll(/[_.:/-]/g)].flatMap(({ index }) => {
    const written = body.slice(0, index);
    const alike = known.get(folded(written)) ?? [];
    const servers = alike.includes(written) && verdict === 'allow' ? [written] : alike;
    const isDouble = body[index + 1] === body[index];
    // `--` and `__` are one separator; only what closes something considers that the second belongs to the tool.
    const tools = [
      ...(isDouble && verdict === 'allow' ? [] : [body.slice(index + 1)]),
      ...(isDouble ? [body.slice(index + 2)] : []),
    ];
    return tools.filter((tool) => tool !== '').flatMap((tool) => servers.map((server) => ({ server, tool })));
  });
}
