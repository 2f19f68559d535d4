// Owns what a rule's text may mean in the spelling of another agent, compared with the configured servers. An allow must be
// beyond doubt; everything that a deny or an ask may mean is in `deny-match.ts`.

import type { ServerName } from '../model/names.ts';
import type { Verdict } from '../model/rule.ts';
import { LONGEST_SPELLING } from '../model/spellings.ts';
import { folded } from './tool-spellings.ts';

export interface AllowPattern {
  readonly server: ServerName;
  /** A pattern for the tool's own name. */
  readonly tool: string;
}

/** The configured servers by their folded names: case and odd characters do not count. */
export type ServerIndex = ReadonlyMap<string, readonly ServerName[]>;

export function indexServers(names: Iterable<ServerName>): ServerIndex {
  const index = new Map<string, ServerName[]>();
  for (const name of new Set(names)) {
    const alike = index.get(folded(name));
    if (alike) alike.push(name);
    else index.set(folded(name), [name]);
  }
  return index;
}

export const isPattern = (text: string) => /[*?]/.test(text);

/** The server and tool that the text of an allow rule means; `undefined` where it may mean none, or more than one pair. */
export function allowPatternOf(text: string, index: ServerIndex): AllowPattern | undefined {
  if (text.length > LONGEST_SPELLING || isReversed(text, index)) return undefined;
  const [, rest] = /^(?:mcp(?:__|--|[_.:/-])|@)(.+)$/is.exec(text) ?? [];
  const pairs = [text, ...(rest === undefined ? [] : [rest])].flatMap((body) => pairsIn(body, index, 'allow'));
  const [first, ...others] = new Map(pairs.map((pair) => [JSON.stringify(pair), pair])).values();
  return others.length > 0 ? undefined : first;
}

/** Some agents write `tool_mcp_server`. A tool may also have such a name, so this spelling allows nothing. */
function isReversed(text: string, index: ServerIndex): boolean {
  return [...text.matchAll(/_mcp_/g)].some(({ index: at }) => index.has(folded(text.slice(at + '_mcp_'.length))));
}

/** Every way to read the text as a configured server, a separator and a tool. */
export function pairsIn(body: string, index: ServerIndex, verdict: Verdict): readonly AllowPattern[] {
  const end = body.search(/[*?]/);
  const fixed = end < 0 ? body : body.slice(0, end);
  return [...fixed.matchAll(/[_.:/-]/g)].flatMap(({ index: at }) => {
    const written = body.slice(0, at);
    const alike = index.get(folded(written)) ?? [];
    const servers = alike.includes(written) && verdict === 'allow' ? [written] : alike;
    const isDouble = body[at + 1] === body[at];
    // `--` and `__` are one separator; only a deny or an ask considers that the second character may belong to the tool.
    const tools = [
      ...(isDouble && verdict === 'allow' ? [] : [body.slice(at + 1)]),
      ...(isDouble ? [body.slice(at + 2)] : []),
    ];
    return tools.filter((tool) => tool !== '').flatMap((tool) => servers.map((server) => ({ server, tool })));
  });
}
