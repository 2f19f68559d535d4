// Owns the tool that a decision is about, in every form in which a rule may have written it. Made once for all rules, and only
// as far as one of them asks.

import { once } from '../kernel/once.ts';
import { hashOfKey, type QualifiedName, type ToolId, toolKey } from '../model/names.ts';
import { fold, lossySpellings, pairOf, sanitize } from '../model/spellings.ts';

export interface SpelledTool {
  readonly id: ToolId;
  readonly name: QualifiedName;
  readonly hash: () => string;
  readonly forms: () => Forms;
}

export interface Forms {
  /** Counts only as it is written. */
  readonly literal: ReadonlySet<string>;
  /** The server alone, folded. */
  readonly servers: readonly string[];
  /** The tool alone, folded, and without what repeats its server. */
  readonly tools: readonly string[];
  /** Both together, folded. */
  readonly pairs: readonly string[];
  /** Both together as a model reads them, without hash and capitals: what a pattern is held against. */
  readonly names: readonly string[];
  /** Every run of letters and digits that one of the others has. */
  readonly runs: string;
}

export function ask(id: ToolId, name: QualifiedName): SpelledTool {
  return { id, name, hash: once(() => hashOfKey(toolKey(id))), forms: once(() => formsOf(id)) };
}

/** What folds to nothing is only like itself. */
export const folded = (name: string) => fold(name) || name;

/** As it is, and as the model reads it. */
export function foldedServers(server: string): readonly string[] {
  return [...new Set([folded(server), folded(sanitize(server))])];
}

function formsOf(id: ToolId): Forms {
  const { server, tool } = id;
  const servers = foldedServers(server);
  const whole = fold(tool);
  const tools = [
    whole,
    ...servers.filter((each) => whole.startsWith(`${each}_`)).map((each) => whole.slice(each.length + 1)),
  ].filter((each) => each !== '');
  const [first, second] = [sanitize(server).toLowerCase(), sanitize(tool).toLowerCase()];
  const written = [`${first}__${second}`, `${first}_${second}`, `mcp__${first}__${second}`];
  const names = [...new Set([...written, ...written.map((each) => each.replaceAll('-', '_'))])];
  return {
    literal: new Set([tool, `${tool}_mcp_${server}`, ...lossySpellings(id)]),
    servers,
    tools,
    pairs: servers.flatMap((each) => [...pairOf(each, whole), ...(whole === '' ? [] : [`${whole}_mcp_${each}`])]),
    names,
    runs: [server.toLowerCase(), tool.toLowerCase(), ...servers, ...names].join(' '),
  };
}
