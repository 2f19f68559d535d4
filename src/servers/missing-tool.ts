// Owns the explanation of a tool name that is not in the catalog: a filter hides the tool, or its server is not up.
// Only explains: names are spelled again and compared, and no call is routed by the result.

import { type Aliases, createAliases } from '../catalog/aliases.ts';
import { canonicalName } from '../catalog/naming.ts';
import { quotesServer, type RuntimeError } from '../model/errors.ts';
import { modelSentencesOf } from '../model/model-sentences.ts';
import type { QualifiedName, ServerName } from '../model/names.ts';

export interface MissingToolServer {
  readonly server: ServerName;
  readonly state: string;
  readonly error?: RuntimeError | undefined;
  /** The tools that its filters hide; the same array until that changes. */
  readonly hidden: readonly string[];
}

export interface MissingReason {
  readonly because: string;
  /** Present where the reason for people names what only they can do. */
  readonly becauseForModel?: string;
  /** The server whose words the reason repeats. */
  readonly quoted?: ServerName;
}

export function whyMissing(name: QualifiedName, servers: readonly MissingToolServer[]): MissingReason | undefined {
  for (const { server, state, error, hidden } of servers) {
    if (aliasesOf(server, hidden).find(name) !== undefined)
      return { because: `the tool filters of server "${server}" hide it` };
    const prefix = spelledPrefix(server);
    if (state === 'connected' || prefix === undefined || !name.startsWith(prefix)) continue;
    const hint = state === 'connecting' ? '; wait for it with ready(), then begin a new turn' : '';
    const inState = `server "${server}" ${stateInWords(state)}`;
    const because = `${inState}${error ? ` (${error.message})` : hint}`;
    const forModel = error ? `${inState} (${modelSentencesOf(error).happened})` : inState;
    return {
      because,
      ...(forModel !== because && { becauseForModel: forModel }),
      ...(error && quotesServer(error) && { quoted: server }),
    };
  }
  return undefined;
}

/** The end of a sentence about a server in this state: "is connecting", "needs a login". */
export const stateInWords = (state: string): string => words.get(state) ?? `is ${state}`;

/** States in which a person has to act. */
const words: ReadonlyMap<string, string> = new Map([
  ['needs-auth', 'needs a login'],
  ['needs-approval', 'needs an approval'],
  ['idle', 'has not been started'],
]);

const hiddenAliases = new WeakMap<readonly string[], Aliases>();

/** Built once per list: a model may guess many names. */
function aliasesOf(server: ServerName, hidden: readonly string[]): Aliases {
  const known = hiddenAliases.get(hidden);
  if (known) return known;
  const ids = hidden.map((tool) => ({ server, tool }));
  const aliases = createAliases(ids.map((id) => ({ id, name: canonicalName(id) })));
  hiddenAliases.set(hidden, aliases);
  return aliases;
}

/** The prefix of the server's tool names; `undefined` where the server's name is too long for one. */
function spelledPrefix(server: ServerName): string | undefined {
  const name = canonicalName({ server, tool: 'x' });
  const end = name.indexOf('__', 'mcp__'.length);
  return end < 0 ? undefined : name.slice(0, end + 2);
}
