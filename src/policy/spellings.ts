// Owns what else a rule's text may mean: the spellings of other agents, held against the servers that are known. What opens
// something must be beyond doubt; what closes something closes all that it may mean.

import { limits } from '../model/limits.ts';
import type { ServerName, ToolId } from '../model/names.ts';
import type { Verdict } from '../model/rule.ts';

export interface Spelling {
  /** Which server is meant; absent where a text may be the name of a tool of any. */
  readonly server?: ServerName;
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

/** Only where the text does not already say something in our own spelling, which is `isTaken`. */
export function spellingsOf(
  text: string,
  verdict: Verdict,
  known: KnownServers,
  isTaken: boolean,
): readonly Spelling[] {
  if (text.length > LONGEST) return [];
  const found = bodiesOf(text).flatMap((body) => pairsIn(body, known, verdict));
  const pairs = [...new Map(found.map((pair) => [JSON.stringify(pair), pair])).values()];
  if (verdict !== 'allow') return isTaken || isPattern(text) ? pairs : [...pairs, { tool: text }];
  const [first, ...others] = pairs;
  return isTaken || first === undefined || others.length > 0 ? [] : [first];
}

/** Longer than any server with any tool. */
const LONGEST = 2 * limits.nameChars;
const isPattern = (text: string) => /[*?]/.test(text);

function bodiesOf(text: string): readonly string[] {
  const [, rest] = /^(?:mcp(?:__|--|[_.:/-])|@)(.+)$/is.exec(text) ?? [];
  return rest === undefined ? [text] : [text, rest];
}

/** Every way to read the text as a server that is known, and a tool behind it. */
function pairsIn(body: string, known: KnownServers, verdict: Verdict): readonly Spelling[] {
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

/** What folds to nothing is only like itself. */
const folded = (name: string) => fold(name) || name;

/** Agents differ in what they make of capitals and odd characters; folded, they agree. Stars and question marks stay. */
export function fold(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9*?]+/g, '_')
    .replace(/^_+|_+$/g, '');
}

/** The tool as an agent may have written it: folded, and without what repeats its server. */
export function foldedTools({ server, tool }: ToolId): readonly string[] {
  const [first, whole] = [fold(server), fold(tool)];
  return whole.startsWith(`${first}_`) ? [whole, whole.slice(first.length + 1)] : [whole];
}
